#pragma once
// JSON from outside, read strictly: duplicate keys, too deep nesting and trailing text are errors
// that name the file. Small files only (configs, headers); large ones go through simdjson.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fovea {

using Json = nlohmann::ordered_json;

// `where` names the file in errors.
Json parse_json(std::string_view text, const std::string& where, int max_depth = 64);
Json read_json(const std::string& path, std::int64_t limit = std::int64_t{64} << 20);

// One line or indented; invalid UTF-8 is replaced, never thrown.
std::string to_text(const Json& j, int indent = -1);

}  // namespace fovea
