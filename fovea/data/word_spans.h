#pragma once
// The words of plain text, as files of tagged words have them: punctuation stands by itself, and
// 's, 'm, n't are words of their own. Web addresses, @names, #tags and numbers stay whole; Chinese
// characters are words. Thread-safety: pure functions, safe from any thread.
#include <string_view>
#include <vector>

#include "fovea/text/encoding.h"

namespace fovea {

// In bytes of the text, which is valid UTF-8.
std::vector<TextSpan> word_spans(std::string_view text);

}  // namespace fovea
