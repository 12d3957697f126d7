#pragma once
// SentencePiece's precompiled character map: a trie from byte strings to replacements. The blob is
// a little-endian length, a double array of that many bytes (units as in darts-clone), and the
// replacements, each ended by NUL.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

class Charsmap {
public:
    Charsmap() = default;                                       // maps nothing
    Charsmap(std::string_view blob, const std::string& where);  // empty blob: maps nothing

    bool empty() const { return units_.empty(); }

    struct Match {
        std::size_t length = 0;  // bytes of the text that are replaced; 0 = no match
        std::string_view replacement;
    };
    Match shortest(std::string_view text) const;
    Match longest(std::string_view text) const;

    // False where no key starts with this byte: a quick way past most of a text.
    bool starts(unsigned char byte) const { return starts_[byte]; }

private:
    std::vector<std::uint32_t> units_;
    std::string replacements_;  // valid UTF-8 as a whole
    std::array<bool, 256> starts_{};

    template <bool stop_at_first>
    Match find(std::string_view text) const;
};

}  // namespace fovea::text
