#pragma once
// The vocabulary of a model that is pretrained: trained on its documents, with the special tokens
// and the template of the model's own checkpoints whatever the kind of its pieces, so that
// transformers reads the folder.
// Thread-safety: functions of their arguments.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fovea/tasks/pretrain_settings.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {

// Kind (wordpiece, bpe, unigram, words, characters) and size as chosen; auto: the habit's.
TokenizerTraining pretrain_vocabulary(const ModelHabit& habit, const PretrainSettings& settings);

// Trains it on texts, in bounded memory. `texts` calls back with each, whole or in pieces.
using EachText = std::function<void(const std::function<void(std::string_view)>&)>;
std::shared_ptr<const Tokenizer> train_pretrain_vocabulary(const TokenizerTraining& training,
                                                           const EachText& texts);

}  // namespace fovea
