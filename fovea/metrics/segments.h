#pragma once
// Segments counted over threads: each alone, results in their order, so that sums over them are the
// same bits for any number of threads.
#include <cstdint>
#include <vector>

#include "fovea/base/threads.h"

namespace fovea {

template <class Result, class Count>
std::vector<Result> for_segments(std::size_t n, Count&& count) {
    std::vector<Result> results(n);
    parallel_for(static_cast<std::int64_t>(n), 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            results[static_cast<std::size_t>(i)] = count(static_cast<std::size_t>(i));
    });
    return results;
}

}  // namespace fovea
