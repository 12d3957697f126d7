#pragma once
// Porter's suffix stripper (Porter 1980, "An algorithm for suffix stripping") with the later
// corrections that NLTK's default mode applies, because rouge_score stems with it.
// Thread-safety: pure functions, safe from any thread.
#include <string>
#include <string_view>

namespace fovea {

std::string porter_stem(std::string_view lowercase_word);

}  // namespace fovea
