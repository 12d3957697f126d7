#pragma once
// A small GPT-2 with random weights and a byte-level tokenizer, as a folder.
#include <memory>
#include <string>

#include "fovea/models/gpt2.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/text/test_specs.h"

namespace fovea::test {

struct Gpt2FolderOptions {
    int context = 64;
    float spread = 0.4f;  // of the weights: peaked enough that texts are not all alike
    Json generation = Json::object();
};

inline void write_gpt2_folder(const std::string& path, const Gpt2FolderOptions& options = {}) {
    ModelFolder folder;
    folder.task = "generate";
    folder.generation = options.generation;
    folder.tokenizer = std::make_shared<const Tokenizer>(text::tiny_gpt2());
    EncoderChoice choice;
    choice.vocabulary = static_cast<int>(folder.tokenizer->vocab_size());
    choice.max_length = options.context;
    choice.layers = 2;
    choice.width = 32;
    choice.heads = 4;
    choice.end_token = choice.pad_token = *folder.tokenizer->token_to_id("<|end|>");
    folder.config = Gpt2::new_config(choice);
    folder.config["initializer_range"] = options.spread;
    ParameterStore store;
    Rng rng(12);
    text_encoder_named("gpt2").make(folder.config, "config", {Head::words, 0}, Params(store, rng));
    folder.save(path, store, Gpt2::rules(), true);
}

}  // namespace fovea::test
