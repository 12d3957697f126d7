#include "fovea/nn/grid_positions.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fovea/ops/conv2d.h"

namespace fovea {
namespace {

// [places, n]: the sines of each place along one side.
std::vector<float> side_sines(std::int64_t places, int n) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(places * n));
    for (std::int64_t i = 0; i < places; ++i) {
        // 1e-6 as transformers has it, where a side might be empty
        const double at = static_cast<double>(i + 1) / (static_cast<double>(places) + 1e-6) * 2 *
                          std::numbers::pi;
        for (int k = 0; k < n; k += 2) {
            const double angle = at / std::pow(10000.0, static_cast<double>(k) / n);
            values.push_back(static_cast<float>(std::sin(angle)));
            values.push_back(static_cast<float>(std::cos(angle)));
        }
    }
    return values;
}

}  // namespace

Tensor grid_sinusoid(const Grid& grid, int width) {
    expect(width > 0 && width % 4 == 0, "grid_sinusoid: width is ", width,
           " but must be a multiple of 4");
    const int n = width / 2;
    const std::vector<float> lines = side_sines(grid.height, n), places = side_sines(grid.width, n);
    Tensor y({grid.rows(), width});
    float* to = y.write();
    for (std::int64_t image = 0; image < grid.images; ++image)
        for (std::int64_t i = 0; i < grid.height; ++i)
            for (std::int64_t j = 0; j < grid.width; ++j) {
                to = std::copy_n(lines.data() + i * n, n, to);
                to = std::copy_n(places.data() + j * n, n, to);
            }
    y.set_row_names(grid_segments(grid));
    return y;
}

}  // namespace fovea
