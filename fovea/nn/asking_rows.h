#pragma once
// Rows of a decoder that look at sources, and what they see of them: one rule for whole targets and
// for steps of hypotheses, so that both have the same bits.
// Thread-safety: plain values and pure functions.
#include <cstdint>
#include <limits>
#include <vector>

#include "fovea/nn/expanded_window.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

// Which rows of a decoder ask: sequence i of `rows` looks at source sources[i], and its first row
// is step first[i] of its target.
struct AskingRows {
    Segments rows;
    std::vector<std::int64_t> sources, first;

    // All rows of all targets, each looking at its own source.
    static AskingRows all(const Segments& targets);
    // One row each.
    static AskingRows one_each(std::vector<std::int64_t> sources, std::vector<std::int64_t> steps);
};

// How much of its source has been read when step t is taken, of n places: all of them, or
// (wait-k reading, Ma et al. 2019) min(n, t + k).
struct SourceReading {
    std::int64_t wait = 0;  // k; 0: everything is read first

    std::int64_t read(std::int64_t step, std::int64_t n) const {
        return wait == 0 || step >= n - wait ? n : step + wait;
    }
};

// Where a step stands in its source of n places: at its own number, or at the end.
inline std::int64_t centre_of(std::int64_t step, std::int64_t n) {
    return step < n - 1 ? step : n - 1;
}

// All places that are read.
Visibility all_of(const AskingRows& at, const Segments& source, const SourceReading& reading = {});
// The 2 w + 1 places around the centre, and the first `also` ones.
Visibility window_of(const AskingRows& at, const Segments& source, std::int64_t w,
                     std::int64_t also = 0, const SourceReading& reading = {});
// The window, and means of what lies beyond it. Keys are ExpandedWindow::appended.
Visibility expanded_of(const AskingRows& at, const Segments& source, const ExpandedWindow& window);

}  // namespace fovea
