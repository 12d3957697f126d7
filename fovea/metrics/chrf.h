#pragma once
// chrF (Popović 2015) and chrF++ (Popović 2017), as sacreBLEU computes them: F-score of character
// n-grams, chrF++ also of word n-grams. Functions are pure and thread-safe.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct ChrfOptions {
    int char_order = 6;
    int word_order = 0;  // 2 = chrF++
    int beta = 2;        // recall counts beta times as much as precision
    bool lowercase = false;
    bool whitespace = false;     // keep white space in character n-grams
    bool eps_smoothing = false;  // as in chrF++.py, instead of the orders both sides have
};

struct ChrfCounts {  // one triple an order: characters first, then words
    std::vector<std::int64_t> hypothesis, reference, matches;
    void operator+=(const ChrfCounts& other);
};

struct ChrfScore {
    double score = 0;  // 0 … 100
    std::string name, signature;
    std::string text(int digits = 1) const;  // "chrF2|signature = 45.6"
};

// Against the reference with the best score for this segment.
ChrfCounts chrf_counts(std::string_view hypothesis, const std::vector<std::string>& references,
                       const ChrfOptions& options = {});
double chrf_from_counts(const ChrfCounts& counts, const ChrfOptions& options = {});
std::string chrf_name(const ChrfOptions& options);  // "chrF2", "chrF2++"
// "nrefs:N|case:mixed|eff:yes|nc:6|nw:0|space:no|fovea:0.1.0"; N may be "var"
std::string chrf_signature(const std::string& n_references, const ChrfOptions& options);

// One for each segment, over threads.
std::vector<ChrfCounts> segment_chrf_counts(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const ChrfOptions& options = {});
ChrfScore corpus_chrf(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const ChrfOptions& options = {});
ChrfScore sentence_chrf(std::string_view hypothesis, const std::vector<std::string>& references,
                        const ChrfOptions& options = {});

}  // namespace fovea
