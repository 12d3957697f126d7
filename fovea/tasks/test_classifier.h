#pragma once
// A small classifier with drawn weights, for tests.
#include "fovea/tasks/classify.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {

inline const std::vector<std::string> texts = {"a fine day", "rain", "snow and ice all night long",
                                               "sun"};

inline ClassifyModel small_classifier(Pool pool = Pool::attention) {
    ModelFolder f;
    f.labels = {"bad", "good", "so-so"};
    f.tokenizer = f.target_tokenizer = std::make_shared<const Tokenizer>(
        train_vocabulary(texts, {.kind = VocabularyKind::characters}));
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = static_cast<int>(f.tokenizer->vocab_size());
    choice.max_length = 12;
    choice.end_token = 1;
    f.config = text_encoder_named("transformer").new_config(choice);
    return ClassifyModel::create(std::move(f), pool, 5);
}

}  // namespace fovea
