#pragma once
// Gaps in texts, filled by a masked model (BERT, RoBERTa): "the [MASK] sat on the mat" → cat, dog …
// with probabilities; and whether a second text follows the first, where the model has learnt it.
// Thread-safety: functions over a model that does not change; several threads may call them.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/tasks/pretrained_model.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct Filling {
    TokenId token = 0;
    std::string text;  // as it reads alone
    float probability = 0;
};

struct FilledText {
    std::vector<std::vector<Filling>> gaps;  // of each gap from the left: the best, best first
    std::string text;                        // with the best filling of each gap in its place
    std::int64_t lost_gaps = 0;              // behind the last token that the model takes
    bool cut = false;                        // the text was longer than the model takes
};

// A text, or two where one model reads both: the second follows the first, or translates it.
struct TextWithGaps {
    std::string text;
    std::optional<std::string> second{};
    bool second_language = false;  // a text alone, in a model of two languages
};

// "[MASK]" and "<mask>" are gaps in either kind of model. Each gap is filled as if the others
// stayed open. An answer does not depend on its neighbours.
std::vector<FilledText> fill(const PretrainedModel& model, std::span<const TextWithGaps> texts,
                             int top = 5, std::int64_t batch_tokens = 4096,
                             const PredictControl& control = {});
std::vector<FilledText> fill(const PretrainedModel& model, std::span<const std::string> texts,
                             int top = 5, std::int64_t batch_tokens = 4096,
                             const PredictControl& control = {});

using TwoTexts = std::pair<std::string, std::string>;
// The probability that the second text follows the first. Models without such a head: an error.
std::vector<float> follows(const PretrainedModel& model, std::span<const TwoTexts> pairs,
                           std::int64_t batch_tokens = 4096, const PredictControl& control = {});

// One text (or two) as the model reads it: special tokens, types, cut to what the model takes.
struct FramedText {
    Ids tokens, types, positions;
    bool cut = false;

    TokenBatch batch() const;
};
FramedText framed(const PretrainedModel& model, const TextWithGaps& text);

std::unique_ptr<Predictor> make_fill_predictor();

}  // namespace fovea
