#pragma once
// What a 2-D convolution over rows gathers and scatters: the window of an output position as one
// row [kernel height, kernel width, channels]. Neighbours of a line lie side by side, so a window
// is copied by whole runs of (kernel width · channels) values.
#include <cstdint>

#include "fovea/base/grid.h"
#include "fovea/base/view.h"
#include "fovea/kernels/conv.h"

namespace fovea::kernels {

struct GridWindows {
    Grid in;
    Window vertical, horizontal;

    std::int64_t out_height() const { return vertical.outputs(in.height); }
    std::int64_t out_width() const { return horizontal.outputs(in.width); }
    std::int64_t out_lines() const { return in.images * out_height(); }
    std::int64_t taps() const { return vertical.size * horizontal.size; }
};

// Output lines [first, past), counted through all pictures: windows [lines · out_width, taps ·
// channels] of x [in.rows(), channels].
struct LineRange {
    std::int64_t first = 0, past = 0;
};
void grid_windows(ConstView x, const GridWindows& shape, LineRange lines, View windows);

// dx += the windows' gradients, each input row in the order of the outputs that saw it.
void add_grid_windows(ConstView windows, const GridWindows& shape, LineRange lines, View dx);

// w [out, in · taps] as [out, taps · in], and back (`add`: to what is there).
void taps_before_channels(ConstView w, std::int64_t taps, View to);
void channels_before_taps(ConstView w, std::int64_t taps, View to, bool add);

}  // namespace fovea::kernels
