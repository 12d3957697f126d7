#include "fovea/metrics/bleu.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "fovea/base/error.h"
#include "fovea/metrics/ngrams.h"
#include "fovea/metrics/segments.h"
#include "fovea/metrics/signature.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

double floored_log(double x) { return x == 0 ? -9999999999.0 : std::log(x); }

using Words = std::vector<std::string>;

// Matches against the most generous reference of each n-gram, and the closest length.
BleuCounts count(const Words& hypothesis, const std::vector<Words>& references, int max_order) {
    expect(max_order >= 1, "BLEU: max_order is ", max_order, " but must be at least 1");
    expect_input(!references.empty(), "BLEU: a segment has no reference");
    const auto orders = static_cast<std::size_t>(max_order);
    ItemNumbers<std::string> words;
    NgramNumbers ngrams;
    std::vector<NgramCounts> best(orders);
    BleuCounts counts;
    counts.hypothesis_length = static_cast<std::int64_t>(hypothesis.size());
    std::int64_t closest = -1;
    for (const Words& reference : references) {
        const auto length = static_cast<std::int64_t>(reference.size());
        const std::int64_t distance = std::abs(counts.hypothesis_length - length);
        if (closest < 0 || distance < closest ||
            (distance == closest && length < counts.reference_length)) {
            closest = distance;
            counts.reference_length = length;
        }
        const auto numbers = ngrams.number(words.number(reference), max_order);
        for (std::size_t n = 0; n < orders; ++n)
            for (const auto& [ngram, times] : count_ngrams(numbers[n]))
                best[n][ngram] = std::max(best[n][ngram], times);
    }
    const auto numbers = ngrams.number(words.number(hypothesis), max_order);
    for (std::size_t n = 0; n < orders; ++n) {
        counts.totals.push_back(static_cast<std::int64_t>(numbers[n].size()));
        counts.matches.push_back(matches(count_ngrams(numbers[n]), best[n]));
    }
    return counts;
}

double penalty_of(const BleuCounts& c) {
    if (c.hypothesis_length >= c.reference_length) return 1;
    if (c.hypothesis_length == 0) return 0;
    return std::exp(1 - static_cast<double>(c.reference_length) /
                            static_cast<double>(c.hypothesis_length));
}

double ratio_of(const BleuCounts& c) {
    return c.reference_length == 0
               ? 0
               : static_cast<double>(c.hypothesis_length) / static_cast<double>(c.reference_length);
}

double smooth_value(const BleuOptions& o) {
    if (o.smooth_value >= 0) return o.smooth_value;
    return o.smoothing == Smoothing::floor ? 0.1 : 1;
}

Words words_for_bleu(std::string_view line, const BleuOptions& o) {
    if (!o.lowercase) return split_words(tokenize_for_bleu(o.tokenizer, strip_right(line)));
    const std::string lowered = lower(line);
    return split_words(tokenize_for_bleu(o.tokenizer, strip_right(lowered)));
}

// The words of one line as Perl's split sees bytes.
Words perl_words(const std::string& line, bool lowercase) {
    Words words;
    std::string word;
    for (const char c : line) {
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            if (!word.empty()) words.push_back(std::exchange(word, {}));
        } else {
            word.push_back(lowercase && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
        }
    }
    if (!word.empty()) words.push_back(word);
    return words;
}

}  // namespace

void BleuCounts::operator+=(const BleuCounts& other) {
    hypothesis_length += other.hypothesis_length;
    reference_length += other.reference_length;
    if (matches.empty()) {
        matches = other.matches;
        totals = other.totals;
        return;
    }
    expect(matches.size() == other.matches.size(), "BLEU: counts of ", matches.size(),
           " orders but ", other.matches.size(), " are added");
    for (std::size_t n = 0; n < matches.size(); ++n) {
        matches[n] += other.matches[n];
        totals[n] += other.totals[n];
    }
}

BleuCounts bleu_counts(std::string_view hypothesis, const References& references,
                       const BleuOptions& options) {
    std::vector<Words> reference_words;
    for (const std::string& r : references) reference_words.push_back(words_for_bleu(r, options));
    return count(words_for_bleu(hypothesis, options), reference_words, options.max_order);
}

std::string bleu_signature(const std::string& n_references, const BleuOptions& o) {
    std::string smoothing;
    switch (o.smoothing) {
        case Smoothing::none:
            smoothing = "none";
            break;
        case Smoothing::floor:
            smoothing = fmt::format("floor[{:.2f}]", smooth_value(o));
            break;
        case Smoothing::add_k:
            smoothing = fmt::format("add-k[{:.2f}]", smooth_value(o));
            break;
        case Smoothing::exp:
            smoothing = "exp";
            break;
    }
    return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|{}", n_references,
                       o.lowercase ? "lc" : "mixed", o.effective_order ? "yes" : "no",
                       name_of(o.tokenizer), smoothing, signature_version);
}

BleuScore bleu_from_counts(const BleuCounts& c, const BleuOptions& o) {
    BleuScore s;
    s.hypothesis_length = c.hypothesis_length;
    s.reference_length = c.reference_length;
    s.matches = c.matches;
    s.totals = c.totals;
    s.brevity_penalty = penalty_of(c);
    s.ratio = ratio_of(c);
    s.precisions.assign(c.matches.size(), 0.0);
    s.signature = bleu_signature("1", o);
    bool any = false;
    for (const std::int64_t m : c.matches) any = any || m > 0;
    if (!any) return s;  // no smoothing makes something of nothing

    const double value = smooth_value(o);
    double halvings = 1;
    std::size_t orders = c.matches.size();
    for (std::size_t n = 0; n < c.matches.size(); ++n) {
        const double k = o.smoothing == Smoothing::add_k && n > 0 ? value : 0;
        const double match = static_cast<double>(c.matches[n]) + k;
        const double total = static_cast<double>(c.totals[n]) + k;
        if (total == 0) break;
        if (o.effective_order) orders = n + 1;
        if (match != 0) {
            s.precisions[n] = 100.0 * match / total;
        } else if (o.smoothing == Smoothing::exp) {
            halvings *= 2;
            s.precisions[n] = 100.0 / (halvings * total);
        } else if (o.smoothing == Smoothing::floor) {
            s.precisions[n] = 100.0 * value / total;
        }
    }
    double sum = 0;
    for (std::size_t n = 0; n < orders; ++n) sum += floored_log(s.precisions[n]);
    s.score = s.brevity_penalty * std::exp(sum / static_cast<double>(orders));
    return s;
}

std::vector<BleuCounts> segment_bleu_counts(std::span<const std::string> hypotheses,
                                            std::span<const References> references,
                                            const BleuOptions& options) {
    reference_count(hypotheses.size(), references, "BLEU");
    return for_segments<BleuCounts>(hypotheses.size(), [&](std::size_t i) {
        return bleu_counts(hypotheses[i], references[i], options);
    });
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const References> references, const BleuOptions& options) {
    BleuCounts sum;
    for (const BleuCounts& c : segment_bleu_counts(hypotheses, references, options)) sum += c;
    BleuScore s = bleu_from_counts(sum, options);
    s.signature = bleu_signature(reference_count(hypotheses.size(), references, "BLEU"), options);
    return s;
}

BleuScore sentence_bleu(std::string_view hypothesis, const References& references,
                        const BleuOptions& options) {
    BleuScore s = bleu_from_counts(bleu_counts(hypothesis, references, options), options);
    s.signature = bleu_signature(std::to_string(references.size()), options);
    return s;
}

std::string BleuScore::text(int digits) const {
    return fmt::format("BLEU|{} = {:.{}f} {}", signature, score, digits, details());
}

std::string BleuScore::details() const {
    std::string all;
    for (const double p : precisions) all += fmt::format("{}{:.1f}", all.empty() ? "" : "/", p);
    return fmt::format("{} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", all,
                       brevity_penalty, ratio, hypothesis_length, reference_length);
}

bool looks_tokenized(std::span<const std::string> lines) {
    int stops = 0;
    for (const std::string& line : lines) stops += line.ends_with(" .");
    return stops >= 100;
}

MultiBleuScore multi_bleu(std::span<const std::string> hypotheses,
                          std::span<const References> references, bool lowercase) {
    reference_count(hypotheses.size(), references, "multi-bleu");
    BleuCounts sum;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        std::vector<Words> reference_words;
        for (const std::string& r : references[i])
            reference_words.push_back(perl_words(r, lowercase));
        sum += count(perl_words(hypotheses[i], lowercase), reference_words, 4);
    }
    MultiBleuScore s;
    s.hypothesis_length = sum.hypothesis_length;
    s.reference_length = sum.reference_length;
    s.ratio = ratio_of(sum);
    s.brevity_penalty = penalty_of(sum);
    double logs = 0;
    for (std::size_t n = 0; n < 4; ++n) {
        const double p = sum.totals[n] == 0 ? 0
                                            : static_cast<double>(sum.matches[n]) /
                                                  static_cast<double>(sum.totals[n]);
        s.precisions[n] = 100 * p;
        logs += floored_log(p);
    }
    s.score = sum.reference_length == 0 ? 0 : 100 * (s.brevity_penalty * std::exp(logs / 4));
    return s;
}

std::string MultiBleuScore::text() const {
    if (reference_length == 0) return "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)";
    return fmt::format(
        "BLEU = {:.2f}, {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP={:.3f}, ratio={:.3f}, hyp_len={}, "
        "ref_len={})",
        score, precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
        hypothesis_length, reference_length);
}

}  // namespace fovea
