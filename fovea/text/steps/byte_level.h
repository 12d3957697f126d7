#pragma once
// GPT-2's printable spelling of bytes: 33-126, 161-172 and 174-255 stand for themselves as code
// points, the other 68 bytes are U+0100 … U+0143 in order (Radford et al. 2019, encoder.py).
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

char32_t byte_to_char(unsigned char byte);
int char_to_byte(char32_t c);  // -1 where c stands for no byte

// Bytes to their spelling.
std::string spell_bytes(std::string_view bytes);
// The bytes that a token spells; false (and `out` untouched) where some character is no byte.
bool unspell_bytes(std::string_view token, std::string& out);

// The spellings of the 256 bytes, in order: what a byte-level BPE starts from.
std::vector<std::string> byte_alphabet();

}  // namespace fovea::text
