#pragma once
// Hand-written scanners for the split patterns that byte-level models use. Each covers the whole
// text: piece follows piece without a gap.
#include <cstdint>
#include <string_view>

namespace fovea::text {

enum class SplitScanner {
    none,
    // '(s|t|re|ve|m|ll|d) | ?letters | ?numbers | ?others | spaces, the last one left to a word
    gpt2,
    // Llama 3 and cl100k: contractions in any case, one leading non-letter, numbers of at most
    // three digits, line ends together
    llama3,
    // the same with single digits (Qwen 2)
    qwen2,
};

// The scanner for a regular expression, none where there is no such scanner.
SplitScanner scanner_for(std::string_view regex);

// End of the piece that starts at `begin` (< text.size()). Text is valid UTF-8.
std::size_t scan_gpt2(std::string_view text, std::size_t begin);
std::size_t scan_llama3(std::string_view text, std::size_t begin, int max_digits);

inline std::size_t scan(SplitScanner s, std::string_view text, std::size_t begin) {
    if (s == SplitScanner::gpt2) return scan_gpt2(text, begin);
    return scan_llama3(text, begin, s == SplitScanner::llama3 ? 3 : 1);
}

}  // namespace fovea::text
