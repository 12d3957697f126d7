#pragma once
// ROUGE (Lin 2004) as the google rouge_score package computes it: lower-cased words of [a-z0-9],
// optional Porter stemmer for words longer than three letters. Pure and thread-safe.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct RougeOptions {
    bool stemmer = false;
};

struct RougeValue {  // each 0 … 1
    double precision = 0, recall = 0, f1 = 0;
};

struct RougeScore {
    RougeValue rouge1, rouge2, rougeL;
    RougeValue rougeLsum;  // sentences are lines; union of the longest common subsequences
};

std::vector<std::string> rouge_words(std::string_view text, const RougeOptions& options = {});

// ROUGE-n for any n >= 1, and the two forms of ROUGE-L.
RougeValue rouge_n(std::string_view reference, std::string_view prediction, int n,
                   const RougeOptions& options = {});
RougeValue rouge_l(std::string_view reference, std::string_view prediction,
                   const RougeOptions& options = {});
RougeValue rouge_lsum(std::string_view reference, std::string_view prediction,
                      const RougeOptions& options = {});

RougeScore rouge(std::string_view reference, std::string_view prediction,
                 const RougeOptions& options = {});
// Of several references, for each kind the one with the best F1.
RougeScore rouge(std::span<const std::string> references, std::string_view prediction,
                 const RougeOptions& options = {});

// One for each example, over threads.
std::vector<RougeScore> segment_rouge(std::span<const std::string> predictions,
                                      std::span<const std::vector<std::string>> references,
                                      const RougeOptions& options = {});

// "nrefs:N|stem:no|tok:rouge|fovea:0.1.0"; N may be "var"
std::string rouge_signature(const std::string& n_references, const RougeOptions& options);

struct CorpusRouge {
    RougeScore mean;  // of the examples' scores: the middle of rouge_score's bootstrap
    std::string signature;
    std::string text(int digits = 2) const;  // F1 in percent: "ROUGE-1/2/L/Lsum|… = 41.2/18.5/…"
};
CorpusRouge corpus_rouge(std::span<const std::string> predictions,
                         std::span<const std::vector<std::string>> references,
                         const RougeOptions& options = {});

}  // namespace fovea
