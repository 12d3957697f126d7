#pragma once
// A language model that goes on with a text: GPT-2, and whatever else reads from left to right.
// A prompt's result does not depend on its neighbours in a batch.
// Thread-safety: plain functions over a model that does not change; several threads may call them.
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/infer/search_options.h"
#include "fovea/metrics/perplexity.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct GenerateModel {
    ModelFolder folder;  // config, tokenizer, defaults of generation
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextEncoder> network;  // with `words`, and `step` or `targets`
    Precision precision = Precision::f32;        // of its matrix products
    SearchOptions search;                        // the folder's defaults
    std::vector<std::string> stop;               // and its stop strings
    Ids end_tokens;                              // that end a text; may be none
    Ids begin;                                   // what an empty prompt begins with; may be none
    std::int64_t max_total = 0;                  // the folder's: as GenerateOptions::max_total

    static GenerateModel open(ModelFolder folder, const WeightChoice& weights = {});

    Ids encode(const std::string& text) const;  // without special tokens
};

struct GenerateOptions {
    SearchOptions search;             // max_length: tokens produced at most
    std::int64_t max_total = 0;       // of prompt and produced tokens together; 0: no bound
    bool keep_rows = false;           // infer/any_order_stepper.h
    std::vector<std::string> stop{};  // strings that end a text; they are cut off
    std::vector<std::string>
        bad_words{};                   // never written, at the start of a text or behind a space
    std::int64_t batch_tokens = 4096;  // of prompts read together
    std::int64_t batch_prompts = 16;   // generated together at most, samples counted each
    std::size_t first_prompt = 0;      // its number, which names the random draws
    std::function<void(std::int64_t done, std::int64_t total)> progress{};
};

enum class TextEnd { token, stop_string, limit, interrupted };
const char* name_of(TextEnd end);

struct GeneratedText {
    struct Sample {
        std::string text;  // what follows the prompt
        Hypothesis hypothesis;
        TextEnd end = TextEnd::limit;
        std::string stopped_by{};  // the stop string
        bool slid = false;         // it went on behind the context: the oldest half was dropped
    };
    std::vector<Sample> samples;  // best first, or as drawn; empty: interrupted before it began
    std::int64_t prompt_tokens = 0;
};

// A piece of a text as soon as it is certain; all pieces of a sample are its text.
struct TextPiece {
    std::size_t prompt = 0;
    int sample = 0;
    std::string text;
    bool last = false;
};

struct GenerateHooks {
    std::function<void(const TextPiece&)> on_text{};
    const std::atomic<bool>* stop = nullptr;  // once true: what is there is returned
};

// A prompt longer than the model's context is an error that says so. A text goes on where the
// context is full: its oldest half is then dropped and the rest is read again.
std::vector<GeneratedText> generate(const GenerateModel& model,
                                    std::span<const std::string> prompts,
                                    const GenerateOptions& options,
                                    const GenerateHooks& hooks = {});

// The shortest way: one prompt, the model's own defaults.
std::string generate(const GenerateModel& model, const std::string& prompt);

struct WindowOptions {
    int context = 0;  // tokens of a window; 0: the model's context
    int stride = 0;   // tokens it moves on; 0: half of the context
    std::int64_t batch_tokens = 4096;
};

// -ln p of the tokens by sliding windows, each counted in the first window that foretells it.
ForetoldText foretell(const GenerateModel& model, const Ids& tokens, const WindowOptions& options,
                      const PredictControl& control = {});

std::unique_ptr<Predictor> make_generate_predictor();
void save_language_model(const ModelFolder& model, const ParameterStore& trained,
                         const std::string& out, bool overwrite);

}  // namespace fovea
