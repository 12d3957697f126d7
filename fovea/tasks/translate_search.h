#pragma once
// What the ways to translate share (translate.cpp, translate_streamed.cpp): sources as the model
// reads them, and one search over batches of them.
// Thread-safety: plain functions over models that do not change.
#include <span>
#include <string>
#include <vector>

#include "fovea/tasks/translate.h"

namespace fovea {

struct TranslateSource {
    Ids ids;
    bool cut = false;
    CopiedText copied{};  // for networks that copy
};
std::vector<TranslateSource> translate_sources(const Seq2SeqModel& model,
                                               std::span<const std::string> texts);

std::string text_of_tokens(const Seq2SeqModel& model, const Ids& tokens,
                           const TranslateSource& source);

// In batches of like length. `hooks` count sentences within a batch.
std::vector<TranslatedText> translate_batches(std::span<const Seq2SeqModel* const> models,
                                              std::span<const std::string> texts,
                                              const TranslateOptions& options,
                                              const SearchHooks& hooks);

// One by one, with options.on_text.
std::vector<TranslatedText> translate_streamed(std::span<const Seq2SeqModel* const> models,
                                               std::span<const std::string> texts,
                                               const TranslateOptions& options);

}  // namespace fovea
