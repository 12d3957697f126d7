#pragma once
// SentencePiece's own normaliser: character map, white space folded and escaped, dummy prefix, and
// user-defined symbols left alone (Kudo and Richardson 2018, §3.1, and the library's behaviour).
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/models/byte_trie.h"
#include "fovea/text/spm/sentencepiece_charsmap.h"
#include "fovea/text/spm/sentencepiece_model.h"

namespace fovea::text {

// "▁" (U+2581), which stands for a space in pieces.
inline constexpr std::string_view space_mark = "\xE2\x96\x81";

class SpmNormalizer {
public:
    // `user_symbols` must outlive it.
    SpmNormalizer(const SentencePieceNormalizer& spec, bool whitespace_as_suffix,
                  const ByteTrie& user_symbols, const std::string& where);

    // Text must be valid UTF-8. `origin[i]` is the byte of the text that byte i of the result comes
    // from, with one entry more for the end; not written where it is null.
    void normalize(std::string_view text, std::string& out,
                   std::vector<std::uint32_t>* origin) const;

private:
    struct Prefix {
        std::string_view text;  // what the first `consumed` bytes become
        std::size_t consumed;
    };
    Prefix prefix(std::string_view text) const;

    SentencePieceNormalizer spec_;
    bool suffix_;
    const ByteTrie* user_symbols_;
    SentencePieceCharsmap map_;
    // ASCII characters that stand for themselves whatever ASCII character follows.
    std::array<bool, 128> plain_{};
    bool simple_space_ = false;  // no key and no symbol starts with a space
};

// Longest user-defined symbol that the text starts with, in bytes; 0 where there is none.
std::size_t user_symbol(const ByteTrie& symbols, std::string_view text);

}  // namespace fovea::text
