#pragma once
// Base64 (RFC 4648), as tokenizer.json holds character maps.
#include <string>
#include <string_view>

namespace fovea::text {

std::string encode_base64(std::string_view bytes);
std::string decode_base64(std::string_view text, const std::string& where);  // strict, with padding

}  // namespace fovea::text
