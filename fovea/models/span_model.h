#pragma once
// Reading comprehension by extraction: (question, context) -> how much the answer begins and ends
// at each token. One value for anything that does so; the task `answer` sits on it and names no
// model. Text encoders with a head for spans (BERT and its kin) fulfil it, and Reader (reader.h).
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {

struct TextEncoder;

// Questions, each with (a window of) its context, end to end.
struct ReadingBatch {
    TokenBatch tokens;  // of each window: both texts, as the model reads them

    // For models that look at words (SpanModel::reads_words); else empty.
    Segments parts;     // question, context, question, context, …
    Ids forms;          // of each token: which of the words below it is
    Ids letters;        // of those words, end to end
    Segments words;     // where each begins in `letters`
    Tensor features{};  // [tokens, n]: what is known of each token beside its word
};

// [rows, 2]: the answer begins here, ends here; of all rows of a window, or those of its context.
struct SpanScores {
    Tensor scores;
    Segments segments;  // a window each
};

struct SpanModel {
    int width = 0, vocabulary = 0, layers = 0;
    int max_length = 0;        // tokens of a window
    bool reads_words = false;  // wants words, letters and features; scores rows of contexts alone
    std::function<SpanScores(const ReadingBatch&)> scores;
    std::shared_ptr<const TextEncoder> encoder;  // that it stands on; null: it is none
    // As TextEncoder::layer_of.
    std::function<int(std::string_view parameter)> layer_of;
};

// By config.json's model_type; an unknown one is an error.
SpanModel make_span_model(const Json& config, const std::string& where, const Params& p);
std::span<const NameRule> span_model_rules(const Json& config, const std::string& where);

}  // namespace fovea
