#pragma once
// From texts to texts with a sequence-to-sequence model (translation, summaries): batching by
// length, search, alignments, scores. A text's result does not depend on its neighbours.
// Thread-safety: plain functions over models that do not change; several threads may call them.
#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/infer/search_options.h"
#include "fovea/tasks/alignment.h"
#include "fovea/tasks/seq2seq_model.h"

namespace fovea {

struct TranslateOptions {
    SearchOptions search;
    std::int64_t batch_tokens = 2048;  // source tokens decoded together, times the beam
    std::int64_t batch_texts = 0;      // at most so many; 0: no bound
    bool alignments = false;
    bool tokens = true;        // give the texts of tokens too
    int alignment_layer = -1;  // decoder layer whose cross-attention is read; -1: the last but one
    std::vector<std::string> prefixes{};  // one per text, or none: forced beginnings
    std::vector<std::vector<std::string>> constraints{};  // one list per text, or none
    // Texts can be handed over in portions: the number of the first one, which names the random
    // numbers that samples are drawn with.
    std::size_t first_text = 0;
    std::function<void(std::int64_t done, std::int64_t total)> progress{};
    // Search from the end of the text, behind the model's direction token (fovea train
    // --reverse-share); the results are texts like any other.
    bool from_right = false;
    // Search from both ends, and rank what either finds by the mean of both log-probabilities.
    bool rerank = false;
    // Of the best text of each, pieces as soon as they are certain (infer/search_options.h), `last`
    // with its end. Texts are then searched for one by one, in order; no bit of a result changes.
    std::function<void(std::size_t text, const std::string& piece, bool last)> on_text{};
    // Set to true by any thread: what was found so far is returned; the rest stays empty.
    const std::atomic<bool>* stop = nullptr;
};

struct TranslatedText {
    struct Candidate {
        std::string text;
        Hypothesis hypothesis;
        std::vector<std::string> tokens;  // with </s> where it was produced
        Alignment alignment;              // when asked for
    };
    std::vector<Candidate> n_best;  // best first
    std::vector<std::string> source_tokens;
    std::size_t source_length = 0;  // tokens read, </s> included
    bool cut = false;               // the source was longer than the model takes
};

// Several models form an ensemble; their tokenizers must agree. A text of nothing but spaces is
// not searched for: its translation is empty, unless a prefix or constraints are given.
std::vector<TranslatedText> translate(std::span<const Seq2SeqModel* const> models,
                                      std::span<const std::string> texts,
                                      const TranslateOptions& options);

std::vector<TranslatedText> translate(const Seq2SeqModel& model, std::span<const std::string> texts,
                                      const TranslateOptions& options);

// The shortest way: one model, its own defaults.
std::string translate(const Seq2SeqModel& model, const std::string& text);

// How probable a model finds given targets: log-probability of each target token, </s> included.
struct PairScore {
    std::vector<float> token_scores;
    double sum = 0;
};
std::vector<PairScore> score_pairs(const Seq2SeqModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets,
                                   std::int64_t batch_tokens = 4096);

}  // namespace fovea
