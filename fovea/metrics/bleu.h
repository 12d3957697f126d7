#pragma once
// BLEU (Papineni et al. 2002) as sacreBLEU computes and prints it (Post 2018), and the older
// tokenised form of multi-bleu.perl. Functions are pure and thread-safe.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/bleu_tokenizers.h"

namespace fovea {

// Chen and Cherry 2014, "A systematic comparison of smoothing techniques for sentence-level BLEU"
enum class Smoothing {
    none,   // an order without a match makes the score (nearly) zero
    floor,  // method 1: a small count instead of zero
    add_k,  // method 2: k added to matches and totals of orders 2 and up
    exp,    // method 3, NIST: the i-th order without a match counts as 1/2^i matches
};

struct BleuOptions {
    BleuTokenizer tokenizer = BleuTokenizer::v13a;
    bool lowercase = false;
    Smoothing smoothing = Smoothing::exp;
    double smooth_value = -1;  // negative: 0.1 for floor, 1 for add_k
    int max_order = 4;
    bool effective_order = false;  // only orders the hypothesis has; for single sentences
};

// What is added up over a corpus; BLEU is not a mean of sentence scores.
struct BleuCounts {
    std::int64_t hypothesis_length = 0;
    std::int64_t reference_length = 0;  // per segment the closest; of two equally close the shorter
    std::vector<std::int64_t> matches;  // [max_order]
    std::vector<std::int64_t> totals;

    void operator+=(const BleuCounts& other);
};

struct BleuScore {
    double score = 0;  // 0 … 100
    double brevity_penalty = 1;
    double ratio = 0;  // hypothesis length / reference length
    std::int64_t hypothesis_length = 0;
    std::int64_t reference_length = 0;
    std::vector<double> precisions;     // [max_order], in percent, after smoothing
    std::vector<std::int64_t> matches;  // [max_order], before smoothing
    std::vector<std::int64_t> totals;
    std::string signature;  // as bleu_signature

    // "BLEU|signature = 20.8 54.4/26.6/14.9/8.7 (BP = 1.000 ratio = 1.026 hyp_len = … ref_len = …)"
    std::string text(int digits = 1) const;
    std::string details() const;  // what stands behind the score: "54.4/26.6/… (BP = … …)"
};

using References = std::vector<std::string>;  // of one segment; at least one

BleuCounts bleu_counts(std::string_view hypothesis, const References& references,
                       const BleuOptions& options = {});
BleuScore bleu_from_counts(const BleuCounts& counts, const BleuOptions& options = {});
// "nrefs:N|case:mixed|eff:no|tok:13a|smooth:exp|fovea:0.1.0"; N may be "var"
std::string bleu_signature(const std::string& n_references, const BleuOptions& options);

// One for each segment, over threads.
std::vector<BleuCounts> segment_bleu_counts(std::span<const std::string> hypotheses,
                                            std::span<const References> references,
                                            const BleuOptions& options = {});
BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const References> references, const BleuOptions& options = {});
// Use {.effective_order = true}: short sentences have no 4-grams.
BleuScore sentence_bleu(std::string_view hypothesis, const References& references,
                        const BleuOptions& options = {.effective_order = true});

// 100 and more lines that end in " ." look tokenised, which makes scores incomparable.
bool looks_tokenized(std::span<const std::string> lines);

// What multi-bleu.perl [-lc] prints for text that is tokenised already: words split at ASCII white
// space, ASCII lower-casing, no smoothing. Only comparable under the same tokenizer.
struct MultiBleuScore {
    double score = 0;
    double brevity_penalty = 1;
    double ratio = 0;
    std::int64_t hypothesis_length = 0;
    std::int64_t reference_length = 0;
    double precisions[4] = {};  // in percent

    std::string text() const;  // "BLEU = 20.80, 54.4/26.6/14.9/8.7 (BP=1.000, ratio=…, …)"
};
MultiBleuScore multi_bleu(std::span<const std::string> hypotheses,
                          std::span<const References> references, bool lowercase = false);

}  // namespace fovea
