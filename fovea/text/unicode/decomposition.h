#pragma once
// The four Unicode normal forms (UAX #15) with the bookkeeping of where characters come from.
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::text {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

// A character of the new text and how it changes the old: > 0 new, 0 in place of the next one,
// -n in place of the next one and n more.
struct Change {
    char32_t code;
    std::int64_t change;
};

// The whole of `text` in a normal form; `out` is overwritten.
void normalize(std::string_view text, NormalForm form, std::vector<Change>& out);

// True where no character of the text can be changed by the form: nothing needs doing.
bool is_normal(std::string_view text, NormalForm form);

}  // namespace fovea::text
