#pragma once
// The generated tables behind unicode.h.
#include <cstdint>

namespace fovea::unicode_tables {

struct CodePair {
    std::uint32_t first, second;
};

extern const std::uint8_t flag_index[];
extern const std::uint16_t flag_data[];
extern const CodePair lower[];
extern const int lower_count;
extern const CodePair whole[];
extern const int whole_count;
extern const CodePair classless[];
extern const int classless_count;
extern const CodePair scripts[];
extern const int scripts_count;

}  // namespace fovea::unicode_tables
