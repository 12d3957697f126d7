#pragma once
// SentencePiece's precompiled character map: which strings a normaliser replaces by which.
// The blob is [u32 size of the trie in bytes][trie: u32 units of a darts-clone double array]
// [replacements, each ended by NUL]; a leaf's value is the offset of its replacement.
// Everything is little-endian. All offsets are checked when the map is made, and every step of a
// look-up is checked again, so a hostile map costs an Error or a wrong text, never a wild read.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

class SentencePieceCharsmap {
public:
    struct Match {
        std::size_t length = 0;        // bytes of the text that matched; 0 = no match
        std::string_view replacement;  // into the map
    };

    SentencePieceCharsmap() = default;  // empty: nothing ever matches
    // `where` names the file in errors. An empty blob is the empty map.
    SentencePieceCharsmap(std::string_view blob, const std::string& where);

    bool empty() const { return units_.empty(); }
    // The longest entry that `text` begins with (what SentencePiece applies).
    Match longest(std::string_view text) const;
    // The shortest one (what Hugging Face's Precompiled applies to a whole grapheme).
    Match shortest(std::string_view text) const;

    // Whether some entry begins with `prefix`: where not, a scanner may pass by without a look-up.
    bool starts_key(std::string_view prefix) const;

private:
    template <bool first_only>
    Match find(std::string_view text) const;
    std::vector<std::uint32_t> units_;
    std::string replacements_;
};

// A blob for these entries (keys non-empty, without NUL, each once; any order).
std::string build_charsmap(std::vector<std::pair<std::string, std::string>> entries);

}  // namespace fovea
