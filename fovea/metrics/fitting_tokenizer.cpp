#include "fovea/metrics/bleu_tokenizers.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

struct CharRange {
    char32_t first, last;
};

template <std::size_t n>
bool in_any(const CharRange (&ranges)[n], char32_t c) {
    for (const CharRange& r : ranges)
        if (c >= r.first && c <= r.last) return true;
    return false;
}

// Blocks of the Unicode standard: the ideographs and their extensions.
constexpr CharRange ideographs[] = {
    {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x323AF}};

// Scripts whose words stand without spaces: Thai, Lao; Tibetan; Burmese; Khmer; hiragana and
// katakana with their extensions, half-width forms and small letters.
constexpr CharRange without_spaces[] = {{0x0E01, 0x0EFF}, {0x0F00, 0x0FFF},  {0x1000, 0x109F},
                                        {0x1780, 0x17FF}, {0x19E0, 0x19FF},  {0x3041, 0x30FF},
                                        {0x31F0, 0x31FF}, {0xA9E0, 0xA9FF},  {0xAA60, 0xAA7F},
                                        {0xFF66, 0xFF9F}, {0x1AFF0, 0x1B16F}};

}  // namespace

BleuTokenizer fitting_tokenizer(std::span<const std::string> references) {
    std::int64_t chinese = 0, spaceless = 0, letters = 0;
    for (const std::string& line : references)
        for (const char32_t c : decode_utf8(line)) {
            if (is_python_space(c) || is_number(c) || is_punctuation(c) || is_symbol(c)) continue;
            ++letters;
            if (c < 0x0E01) continue;
            chinese += in_any(ideographs, c);
            spaceless += in_any(without_spaces, c);
        }
    // An ideograph says as much as three or four Latin letters: a quarter is about half of a text.
    const std::int64_t both = chinese + spaceless;
    if (both == 0 || both * 4 < letters) return BleuTokenizer::v13a;
    // Japanese mixes ideographs with kana, at least one in three or so; Chinese has none.
    return spaceless * 10 >= both ? BleuTokenizer::chars : BleuTokenizer::zh;
}

}  // namespace fovea
