#pragma once
// Character properties as Hugging Face's tokenizers has them (see tools/make_unicode_tables.py for
// where that differs from any one Unicode version), and normal forms through utf8proc.
#include <cstdint>

#include "fovea/text/unicode/unicode_tables.h"

namespace fovea::text {

enum CharFlag : std::uint16_t {
    is_space = 1 << 0,         // White_Space; the same set as \s
    is_punctuation = 1 << 1,   // BERT's: ASCII punctuation and category P (Unicode 8)
    is_control = 1 << 2,       // what BERT's clean_text drops: categories C, NUL, U+FFFD
    is_nonspacing = 1 << 3,    // Mn: what BERT's strip_accents drops
    is_letter = 1 << 4,        // \p{L}
    is_number = 1 << 5,        // \p{N}
    is_word = 1 << 6,          // \w
    is_mark = 1 << 7,          // M: what StripAccents drops
    is_numeric = 1 << 8,       // what Digits splits off
    is_upper = 1 << 9,         // changes when lower-cased
    is_chinese = 1 << 10,      // BERT's CJK ideographs
    nfd_may_change = 1 << 11,  // texts without such characters are in the normal form
    nfkd_may_change = 1 << 12,
    nfc_may_change = 1 << 13,
    nfkc_may_change = 1 << 14,
};

inline std::uint16_t char_flags(char32_t c) {
    return unicode_tables::flag_data[unicode_tables::flag_index[c >> 7] * 128u + (c & 127)];
}
inline bool has(char32_t c, unsigned flags) { return (char_flags(c) & flags) != 0; }

// Lower case of one character: one character, or two (U+0130 only). Returns how many.
int to_lower(char32_t c, char32_t out[2]);

// Full canonical (or compatibility) decomposition, not yet reordered. Returns how many, <= 18.
constexpr int max_decomposition = 18;
int decompose(char32_t c, bool compatible, char32_t out[max_decomposition]);
int combining_class(char32_t c);
char32_t compose(char32_t a, char32_t b);  // 0 where they do not compose

// Script of a character for UnicodeScripts, 0 = belongs to every script.
int script_of(char32_t c);

// Whether an extended grapheme cluster may end between two characters (UAX #29). `state` is 0 at
// the start of a text and carried along.
bool grapheme_break(char32_t before, char32_t after, std::int32_t& state);

}  // namespace fovea::text
