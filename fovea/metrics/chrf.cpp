#include "fovea/metrics/chrf.h"

#include <fmt/format.h>

#include "fovea/base/error.h"
#include "fovea/metrics/ngrams.h"
#include "fovea/metrics/segments.h"
#include "fovea/metrics/signature.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

// Words with one punctuation mark taken off: the last character, or else the first. ("(hi)" so
// becomes "(hi" and ")": the original's way, kept for equal scores.)
std::vector<std::u32string> words_without_punctuation(std::u32string_view text) {
    std::vector<std::u32string> words;
    const auto add = [&](std::u32string_view w) {
        if (w.size() > 1 && is_ascii_punctuation(w.back())) {
            words.emplace_back(w.substr(0, w.size() - 1));
            words.emplace_back(w.substr(w.size() - 1));
        } else if (w.size() > 1 && is_ascii_punctuation(w.front())) {
            words.emplace_back(w.substr(0, 1));
            words.emplace_back(w.substr(1));
        } else if (!w.empty()) {
            words.emplace_back(w);
        }
    };
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (is_python_space(text[i])) {
            add(text.substr(begin, i - begin));
            begin = i + 1;
        }
    add(text.substr(begin));
    return words;
}

// N-gram counts of one text, characters first, then words; numbers are shared by all the texts of
// a segment.
class SegmentNgrams {
public:
    explicit SegmentNgrams(const ChrfOptions& o) : options_(o) {}

    std::vector<NgramCounts> count(std::string_view line) {
        std::u32string text = decode_utf8(line);
        if (options_.lowercase) text = lower(std::u32string_view(text));
        std::u32string characters;
        for (const char32_t c : text)
            if (options_.whitespace || !is_python_space(c)) characters.push_back(c);
        std::vector<NgramCounts> counts;
        for (const auto& order :
             char_ngrams_.number(chars_.number(characters), options_.char_order))
            counts.push_back(count_ngrams(order));
        if (options_.word_order > 0)
            for (const auto& order : word_ngrams_.number(
                     words_.number(words_without_punctuation(text)), options_.word_order))
                counts.push_back(count_ngrams(order));
        return counts;
    }

private:
    const ChrfOptions& options_;
    ItemNumbers<char32_t> chars_;
    ItemNumbers<std::u32string> words_;
    NgramNumbers char_ngrams_, word_ngrams_;
};

std::int64_t total(const NgramCounts& counts) {
    std::int64_t sum = 0;
    for (const auto& entry : counts) sum += entry.second;
    return sum;
}

ChrfScore named(double score, const std::string& n_references, const ChrfOptions& o) {
    return {score, chrf_name(o), chrf_signature(n_references, o)};
}

}  // namespace

void ChrfCounts::operator+=(const ChrfCounts& other) {
    if (hypothesis.empty()) {
        *this = other;
        return;
    }
    expect(hypothesis.size() == other.hypothesis.size(), "chrF: counts of ", hypothesis.size(),
           " orders but ", other.hypothesis.size(), " are added");
    for (std::size_t i = 0; i < hypothesis.size(); ++i) {
        hypothesis[i] += other.hypothesis[i];
        reference[i] += other.reference[i];
        matches[i] += other.matches[i];
    }
}

std::string chrf_name(const ChrfOptions& o) {
    return fmt::format("chrF{}{}", o.beta,
                       std::string(static_cast<std::size_t>(o.word_order), '+'));
}

std::string chrf_signature(const std::string& n_references, const ChrfOptions& o) {
    return fmt::format("nrefs:{}|case:{}|eff:{}|nc:{}|nw:{}|space:{}|{}", n_references,
                       o.lowercase ? "lc" : "mixed", o.eps_smoothing ? "no" : "yes", o.char_order,
                       o.word_order, o.whitespace ? "yes" : "no", signature_version);
}

double chrf_from_counts(const ChrfCounts& c, const ChrfOptions& o) {
    constexpr double epsilon = 1e-16;
    const double factor = static_cast<double>(o.beta) * o.beta;
    double sum = 0, precision = 0, recall = 0;
    int orders = 0;  // that both sides have
    for (std::size_t i = 0; i < c.hypothesis.size(); ++i) {
        const auto match = static_cast<double>(c.matches[i]);
        const double p =
            c.hypothesis[i] > 0 ? match / static_cast<double>(c.hypothesis[i]) : epsilon;
        const double r = c.reference[i] > 0 ? match / static_cast<double>(c.reference[i]) : epsilon;
        const double denominator = factor * p + r;
        sum += denominator > 0 ? (1 + factor) * p * r / denominator : epsilon;
        if (c.hypothesis[i] > 0 && c.reference[i] > 0) {
            precision += p;
            recall += r;
            ++orders;
        }
    }
    if (o.eps_smoothing) return 100 * sum / (o.char_order + o.word_order);
    if (orders == 0) return 0;
    precision /= orders;
    recall /= orders;
    if (precision + recall == 0) return 0;
    double f = (1 + factor) * precision * recall;
    f /= factor * precision + recall;
    return 100 * f;
}

ChrfCounts chrf_counts(std::string_view hypothesis, const std::vector<std::string>& references,
                       const ChrfOptions& options) {
    expect_input(!references.empty(), "chrF: a segment has no reference");
    expect(options.char_order >= 1 && options.word_order >= 0, "chrF: orders ", options.char_order,
           " and ", options.word_order, " but must be at least 1 and 0");
    SegmentNgrams ngrams(options);
    const auto ours = ngrams.count(hypothesis);
    ChrfCounts best;
    double best_score = -1;
    for (const std::string& reference : references) {
        const auto theirs = ngrams.count(reference);
        ChrfCounts counts;
        for (std::size_t i = 0; i < ours.size(); ++i) {
            // an order the reference does not have is not held against the hypothesis
            counts.hypothesis.push_back(theirs[i].empty() ? 0 : total(ours[i]));
            counts.reference.push_back(total(theirs[i]));
            counts.matches.push_back(matches(ours[i], theirs[i]));
        }
        const double score = chrf_from_counts(counts, options);
        if (score > best_score) {
            best_score = score;
            best = std::move(counts);
        }
    }
    return best;
}

std::vector<ChrfCounts> segment_chrf_counts(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const ChrfOptions& options) {
    reference_count(hypotheses.size(), references, "chrF");
    return for_segments<ChrfCounts>(hypotheses.size(), [&](std::size_t i) {
        return chrf_counts(hypotheses[i], references[i], options);
    });
}

ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const ChrfOptions& options) {
    ChrfCounts sum;
    for (const ChrfCounts& c : segment_chrf_counts(hypotheses, references, options)) sum += c;
    return named(chrf_from_counts(sum, options),
                 reference_count(hypotheses.size(), references, "chrF"), options);
}

ChrfScore sentence_chrf(std::string_view hypothesis, const std::vector<std::string>& references,
                        const ChrfOptions& options) {
    const ChrfCounts counts = chrf_counts(hypothesis, references, options);
    return named(chrf_from_counts(counts, options), std::to_string(references.size()), options);
}

std::string ChrfScore::text(int digits) const {
    return fmt::format("{}|{} = {:.{}f}", name, signature, score, digits);
}

}  // namespace fovea
