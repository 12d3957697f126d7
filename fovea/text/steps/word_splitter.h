#pragma once
// The normaliser and the pre-tokeniser of a spec without its model: what training counts words
// with.
#include <functional>
#include <memory>
#include <string_view>

#include "fovea/text/spec.h"

namespace fovea {

class WordSplitter {
public:
    explicit WordSplitter(const TokenizerSpec& spec);  // reads normalizer and pre_tokenizer only
    WordSplitter(WordSplitter&&) noexcept;
    WordSplitter& operator=(WordSplitter&&) noexcept;
    ~WordSplitter();

    // Calls `word` for every pre-token of the text, in order. Added tokens are not looked for.
    // A view lives only during its call. Safe from several threads at once.
    void split(std::string_view text, const std::function<void(std::string_view)>& word) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fovea
