#pragma once
// "Did you mean": the known word nearest to a mistyped one.
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Letters to insert, drop, replace or swap with a neighbour to get from one word to the other.
int edit_distance(std::string_view a, std::string_view b);

// The nearest word, or empty where none is near enough to be meant.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& known);

}  // namespace fovea
