#include "fovea/text/train/train_characters.h"

#include <algorithm>
#include <limits>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {

namespace {
constexpr std::uint32_t code_points = 0x110000;
}

std::vector<CharacterCount> count_characters(const WordCounts& words) {
    std::vector<std::int64_t> counts(code_points, 0);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view w = words.word(i);
        for (std::size_t at = 0; at < w.size();) counts[next_code_point(w, at)] += words.count(i);
    }
    std::vector<CharacterCount> result;
    for (std::uint32_t c = 0; c < code_points; ++c)
        if (counts[c] > 0) result.push_back({c, counts[c]});
    return result;
}

std::vector<std::uint32_t> choose_alphabet(const WordCounts& words,
                                           const std::vector<std::string>& initial,
                                           std::optional<std::int64_t> limit) {
    std::map<std::uint32_t, std::int64_t> counts;
    for (const CharacterCount& c : count_characters(words)) counts[c.code_point] = c.count;
    for (const std::string& s : initial) {
        std::size_t at = 0;
        expect(!s.empty(), "training: an empty string in the initial alphabet");
        const std::uint32_t c = next_code_point(s, at);  // a longer string stands for its first one
        counts[c] = std::numeric_limits<std::int64_t>::max();
    }
    std::vector<std::uint32_t> alphabet;
    for (const auto& [c, count] : counts) alphabet.push_back(c);
    if (limit && static_cast<std::int64_t>(alphabet.size()) > *limit) {
        std::stable_sort(alphabet.begin(), alphabet.end(),
                         [&](auto a, auto b) { return counts[a] > counts[b]; });
        alphabet.resize(static_cast<std::size_t>(std::max<std::int64_t>(*limit, 0)));
        std::sort(alphabet.begin(), alphabet.end());
    }
    return alphabet;
}

}  // namespace fovea
