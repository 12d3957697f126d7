#pragma once
// Word level: a word is a token or unknown.
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/text/models/word_model.h"
#include "fovea/text/spec.h"

namespace fovea::text {

class WordLevel {
public:
    explicit WordLevel(const WordLevelSpec& spec)
        : spec_(&spec), unk_(spec.vocab.find(spec.unk_token)) {}

    void encode(std::string_view word, WordTokens& out) const {
        out.clear();
        TokenId id = spec_->vocab.find(word);
        if (id < 0) {
            expect_input(unk_ >= 0, "WordLevel: the unk_token \"", spec_->unk_token,
                         "\" is not in the vocabulary, but the text has an unknown word");
            id = unk_;
        }
        out.ids.push_back(id);
    }
    std::size_t length(TokenId, bool, bool, std::size_t word_size) const { return word_size; }

private:
    const WordLevelSpec* spec_;
    TokenId unk_;
};

}  // namespace fovea::text
