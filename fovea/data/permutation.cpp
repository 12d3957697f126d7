#include "fovea/data/permutation.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

// A stream of its own for each (seed, epoch, document).
Rng stream_of(std::uint64_t seed, std::uint64_t epoch, std::uint64_t document) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const PhiloxBlock b =
        philox({low(epoch), low(epoch >> 32), low(document), low(document >> 32)}, seed);
    return Rng((std::uint64_t{b[1]} << 32) | b[0], 0x706c6dU);
}

}  // namespace

PermutationExample draw_permutation(const Ids& tokens, std::uint64_t seed, std::uint64_t epoch,
                                    std::uint64_t document, const PermutationOptions& options) {
    expect(options.longest_span >= 1 && options.one_in >= 1, "permutation: spans of up to ",
           options.longest_span, " tokens, one in ", options.one_in, ", but both are at least 1");
    Rng rng = stream_of(seed, epoch, document);
    const auto n = static_cast<std::int64_t>(tokens.size());
    std::vector<std::int32_t> may;
    std::vector<bool> may_be(tokens.size()), is_target(tokens.size());
    for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        may_be[at] = std::find(options.never.begin(), options.never.end(), tokens[at]) ==
                     options.never.end();
        if (may_be[at]) may.push_back(static_cast<std::int32_t>(i));
    }
    PermutationExample out;
    Ids targets;
    for (std::int64_t from = 0; from < n;) {
        const std::int64_t span = 1 + rng.below(options.longest_span);
        const std::int64_t context = span * options.one_in;
        const std::int64_t first = from + rng.below(context - span + 1);
        for (std::int64_t i = first; i < std::min(first + span, n); ++i)
            if (may_be[static_cast<std::size_t>(i)])
                targets.push_back(static_cast<std::int32_t>(i));
        from += context;
    }
    if (targets.empty() && !may.empty())  // a text shorter than its context
        targets.push_back(
            may[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(may.size())))]);
    for (const std::int32_t t : targets) is_target[static_cast<std::size_t>(t)] = true;
    for (std::int64_t i = 0; i < n; ++i)
        if (!is_target[static_cast<std::size_t>(i)])
            out.order.push_back(static_cast<std::int32_t>(i));
    rng.shuffle(targets);
    out.order.insert(out.order.end(), targets.begin(), targets.end());
    out.predicted = static_cast<std::int64_t>(targets.size());
    return out;
}

}  // namespace fovea
