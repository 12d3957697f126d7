#include "fovea/infer/candidates.h"

#include <algorithm>
#include <limits>
#include <set>

namespace fovea {
namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

// Every token that would complete an n-gram which appears in `produced` already.
void forbid_repeated(std::span<float> logits, const Ids& produced, int n) {
    const auto size = static_cast<std::ptrdiff_t>(produced.size());
    if (size + 1 < n) return;
    const auto tail = produced.end() - (n - 1);
    for (std::ptrdiff_t i = 0; i + n <= size; ++i)
        if (std::equal(tail, produced.end(), produced.begin() + i))
            logits[static_cast<std::size_t>(produced[static_cast<std::size_t>(i + n - 1)])] = never;
}

// The token that would complete a bad word whose other tokens have just been produced.
void forbid_last_token(std::span<float> logits, const Ids& seen, const Ids& word) {
    if (word.empty() || seen.size() + 1 < word.size()) return;
    const std::int32_t last = word.back();
    if (last >= 0 && static_cast<std::size_t>(last) < logits.size() &&
        std::equal(word.begin(), word.end() - 1,
                   seen.end() - static_cast<std::ptrdiff_t>(word.size() - 1)))
        logits[static_cast<std::size_t>(last)] = never;
}

}  // namespace

void LogitControls::apply(std::span<float> logits, const Ids& seen, std::size_t produced) const {
    if (options.repetition_penalty != 1.0) {
        const auto p = static_cast<float>(options.repetition_penalty);
        for (const std::int32_t t : std::set<std::int32_t>(seen.begin(), seen.end())) {
            float& x = logits[static_cast<std::size_t>(t)];
            x = x > 0 ? x / p : x * p;
        }
    }
    if (options.no_repeat_ngram > 0) forbid_repeated(logits, seen, options.no_repeat_ngram);
    for (const Ids& word : options.bad_words) forbid_last_token(logits, seen, word);
    for (const std::int32_t t : options.banned)
        if (t >= 0 && static_cast<std::size_t>(t) < logits.size())
            logits[static_cast<std::size_t>(t)] = never;
    if (static_cast<int>(produced) < options.min_length)
        for (const std::int32_t t : end_tokens) logits[static_cast<std::size_t>(t)] = never;
}

}  // namespace fovea
