#include "fovea/metrics/rouge.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/metrics/ngrams.h"
#include "fovea/metrics/porter.h"
#include "fovea/metrics/segments.h"
#include "fovea/metrics/signature.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

using Numbers = std::vector<std::uint32_t>;

RougeValue value(std::int64_t hits, std::int64_t predicted, std::int64_t wanted) {
    RougeValue v;
    v.precision =
        static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(predicted, 1));
    v.recall = static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(wanted, 1));
    if (v.precision + v.recall > 0) v.f1 = 2 * v.precision * v.recall / (v.precision + v.recall);
    return v;
}

// table[i][j]: length of the longest common subsequence of a[0, i) and b[0, j).
class SubsequenceTable {
public:
    SubsequenceTable(const Numbers& a, const Numbers& b)
        : a_(a), b_(b), width_(b.size() + 1), cells_((a.size() + 1) * width_) {
        for (std::size_t i = 1; i <= a.size(); ++i)
            for (std::size_t j = 1; j <= b.size(); ++j)
                at(i, j) = a[i - 1] == b[j - 1] ? at(i - 1, j - 1) + 1
                                                : std::max(at(i - 1, j), at(i, j - 1));
    }

    // Marks the places of a that one longest common subsequence uses. Which of several is read out
    // decides the union, so ties go the reference's way: drop a's item unless b's is better.
    void mark(std::vector<bool>& used) {
        std::size_t i = a_.size(), j = b_.size();
        while (i > 0 && j > 0) {
            if (a_[i - 1] == b_[j - 1]) {
                used[--i] = true;
                --j;
            } else if (at(i, j - 1) > at(i - 1, j)) {
                --j;
            } else {
                --i;
            }
        }
    }

private:
    std::uint32_t& at(std::size_t i, std::size_t j) { return cells_[i * width_ + j]; }

    const Numbers& a_;
    const Numbers& b_;
    std::size_t width_;
    std::vector<std::uint32_t> cells_;
};

// Only the length: two rows instead of a table.
std::int64_t subsequence_length(const Numbers& a, const Numbers& b) {
    std::vector<std::uint32_t> above(b.size() + 1), row(b.size() + 1);
    for (const std::uint32_t item : a) {
        for (std::size_t j = 1; j <= b.size(); ++j)
            row[j] = item == b[j - 1] ? above[j - 1] + 1 : std::max(above[j], row[j - 1]);
        std::swap(above, row);
    }
    return above.back();
}

RougeValue score_n(const Numbers& reference, const Numbers& prediction, int n) {
    NgramNumbers ngrams;
    const auto order = static_cast<std::size_t>(n - 1);
    const auto wanted = ngrams.number(reference, n)[order];
    const auto predicted = ngrams.number(prediction, n)[order];
    return value(matches(count_ngrams(wanted), count_ngrams(predicted)),
                 static_cast<std::int64_t>(predicted.size()),
                 static_cast<std::int64_t>(wanted.size()));
}

RougeValue score_l(const Numbers& reference, const Numbers& prediction) {
    return value(subsequence_length(reference, prediction),
                 static_cast<std::int64_t>(prediction.size()),
                 static_cast<std::int64_t>(reference.size()));
}

std::vector<Numbers> sentences(std::string_view text, ItemNumbers<std::string>& words,
                               const RougeOptions& options) {
    std::vector<Numbers> out;
    for (;;) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        if (!line.empty()) out.push_back(words.number(rouge_words(line, options)));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

// Summary-level LCS, section 3.2 of the paper, with ROUGE 1.5.5's rule that a word is not counted
// more often than either side has it.
RougeValue score_lsum(const std::vector<Numbers>& reference,
                      const std::vector<Numbers>& prediction) {
    std::unordered_map<std::uint32_t, std::int64_t> left_wanted, left_predicted;
    std::int64_t wanted = 0, predicted = 0, hits = 0;
    for (const Numbers& s : reference)
        for (const std::uint32_t w : s) ++left_wanted[w], ++wanted;
    for (const Numbers& s : prediction)
        for (const std::uint32_t w : s) ++left_predicted[w], ++predicted;
    for (const Numbers& r : reference) {
        std::vector<bool> used(r.size());
        for (const Numbers& p : prediction) SubsequenceTable(r, p).mark(used);
        for (std::size_t i = 0; i < r.size(); ++i) {
            if (!used[i] || left_predicted[r[i]] == 0 || left_wanted[r[i]] == 0) continue;
            ++hits;
            --left_predicted[r[i]];
            --left_wanted[r[i]];
        }
    }
    return value(hits, predicted, wanted);
}

void keep_better(RougeValue& best, const RougeValue& other) {
    if (other.f1 > best.f1) best = other;
}

void add(RougeValue& sum, const RougeValue& v) {
    sum.precision += v.precision;
    sum.recall += v.recall;
    sum.f1 += v.f1;
}

void divide(RougeValue& sum, double n) {
    sum.precision /= n;
    sum.recall /= n;
    sum.f1 /= n;
}

}  // namespace

std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options) {
    std::vector<std::string> words;
    std::string word;
    const auto finish = [&] {
        if (options.stemmer && word.size() > 3) word = porter_stem(word);
        if (!word.empty()) words.push_back(word);
        word.clear();
    };
    for (const char c : lower(text)) {
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            word.push_back(c);
        else if (!word.empty())
            finish();
    }
    finish();
    return words;
}

RougeValue rouge_n(std::string_view reference, std::string_view prediction, int n,
                   const RougeOptions& options) {
    expect(n >= 1, "ROUGE: n is ", n, " but must be at least 1");
    ItemNumbers<std::string> words;
    const Numbers wanted = words.number(rouge_words(reference, options));
    return score_n(wanted, words.number(rouge_words(prediction, options)), n);
}

RougeValue rouge_l(std::string_view reference, std::string_view prediction,
                   const RougeOptions& options) {
    ItemNumbers<std::string> words;
    const Numbers wanted = words.number(rouge_words(reference, options));
    return score_l(wanted, words.number(rouge_words(prediction, options)));
}

RougeValue rouge_lsum(std::string_view reference, std::string_view prediction,
                      const RougeOptions& options) {
    ItemNumbers<std::string> words;
    const auto wanted = sentences(reference, words, options);
    return score_lsum(wanted, sentences(prediction, words, options));
}

RougeScore rouge(std::string_view reference, std::string_view prediction,
                 const RougeOptions& options) {
    ItemNumbers<std::string> words;
    const Numbers wanted = words.number(rouge_words(reference, options));
    const Numbers predicted = words.number(rouge_words(prediction, options));
    return {score_n(wanted, predicted, 1), score_n(wanted, predicted, 2),
            score_l(wanted, predicted), rouge_lsum(reference, prediction, options)};
}

RougeScore rouge(std::span<const std::string> references, std::string_view prediction,
                 const RougeOptions& options) {
    expect_input(!references.empty(), "ROUGE: an example has no reference");
    RougeScore best = rouge(references[0], prediction, options);
    for (const std::string& reference : references.subspan(1)) {
        const RougeScore s = rouge(reference, prediction, options);
        keep_better(best.rouge1, s.rouge1);
        keep_better(best.rouge2, s.rouge2);
        keep_better(best.rougeL, s.rougeL);
        keep_better(best.rougeLsum, s.rougeLsum);
    }
    return best;
}

std::vector<RougeScore> segment_rouge(std::span<const std::string> predictions,
                                      std::span<const std::vector<std::string>> references,
                                      const RougeOptions& options) {
    reference_count(predictions.size(), references, "ROUGE");
    return for_segments<RougeScore>(predictions.size(), [&](std::size_t i) {
        return rouge(references[i], predictions[i], options);
    });
}

std::string rouge_signature(const std::string& n_references, const RougeOptions& options) {
    return fmt::format("nrefs:{}|stem:{}|tok:rouge|{}", n_references,
                       options.stemmer ? "porter" : "no", signature_version);
}

CorpusRouge corpus_rouge(std::span<const std::string> predictions,
                         std::span<const std::vector<std::string>> references,
                         const RougeOptions& options) {
    CorpusRouge c;
    for (const RougeScore& s : segment_rouge(predictions, references, options)) {
        add(c.mean.rouge1, s.rouge1);
        add(c.mean.rouge2, s.rouge2);
        add(c.mean.rougeL, s.rougeL);
        add(c.mean.rougeLsum, s.rougeLsum);
    }
    const auto n = static_cast<double>(predictions.size());
    for (RougeValue* v : {&c.mean.rouge1, &c.mean.rouge2, &c.mean.rougeL, &c.mean.rougeLsum})
        divide(*v, n);
    c.signature =
        rouge_signature(reference_count(predictions.size(), references, "ROUGE"), options);
    return c;
}

std::string CorpusRouge::text(int digits) const {
    return fmt::format("ROUGE-1/2/L/Lsum|{} = {:.{}f}/{:.{}f}/{:.{}f}/{:.{}f}", signature,
                       100 * mean.rouge1.f1, digits, 100 * mean.rouge2.f1, digits,
                       100 * mean.rougeL.f1, digits, 100 * mean.rougeLsum.f1, digits);
}

}  // namespace fovea
