#pragma once
// Which tokens a new model reads: a tokenizer somebody has, or a vocabulary trained on the task's
// own texts. Shared by every task that starts from text.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "fovea/base/settings.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct VocabularyChoice {
    std::string kind = "bpe";
    std::int64_t size = 8000;
    bool lowercase = false;
    std::string file;  // instead of training one
    std::int64_t min_frequency = 0;
    std::string frame;  // recipe whose special tokens and template it gets; not a setting

    void describe(Settings& settings);
    // `say` hears of long work.
    std::shared_ptr<const Tokenizer> make(std::span<const std::string> texts,
                                          const std::function<void(const std::string&)>& say) const;
};

}  // namespace fovea
