#include "fovea/cli/terminal/suggest.h"

#include <algorithm>

namespace fovea {

int edit_distance(std::string_view a, std::string_view b) {
    // Optimal string alignment: three rows of the usual table.
    std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const int change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string nearest_word(std::string_view typed, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 64;  // nobody mistypes a longer word; keeps the table small
    if (typed.size() > longest) return {};
    std::string best;
    int best_distance = std::max(1, static_cast<int>(typed.size()) / 3) + 1;
    for (const std::string& word : known) {
        int distance = edit_distance(typed, word);
        // A beginning is a good guess too: "tok" for "tokenizer".
        if (typed.size() >= 3 && word.starts_with(typed)) distance = std::min(distance, 1);
        if (distance < best_distance) {
            best = word;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace fovea
