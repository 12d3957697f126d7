#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/params.h"
#include "fovea/ops/conv2d.h"

namespace fovea {

// He et al. 2015, by the outputs a value reaches: normal, variance 2 / (out · h · w).
inline Init he_fan_out() {
    return [](Tensor& t, Rng& rng) {
        const Shape& s = t.shape();
        const auto fan = static_cast<float>(s[1] == 1 ? s[2] * s[3] : s[0] * s[2] * s[3]);
        normal(std::sqrt(2.0f / fan))(t, rng);
    };
}

// y = act(W * x + b) over the rows of pictures (ops/conv2d.h), a square kernel.
struct Conv2d {
    struct Sizes {
        int in = 0, out = 0, kernel = 1, stride = 1, padding = 0;
    };
    Conv2d(const Sizes& s, const Params& p, const Init& init = he_fan_out())
        : weight(p.get("weight", {s.out, s.in, s.kernel, s.kernel}, init)),
          bias(p.get("bias", {s.out}, zeros())),
          sizes(s) {}

    Tensor operator()(const Tensor& x, const Grid& grid, Act act = Act::none) const {
        return conv2d(x, grid, weight, bias,
                      {.stride = sizes.stride, .padding = sizes.padding, .act = act});
    }
    Grid grid(const Grid& in) const {
        return conv2d_grid(in, sizes.kernel, sizes.kernel,
                           {.stride = sizes.stride, .padding = sizes.padding});
    }

    Tensor weight, bias;
    Sizes sizes;
};

}  // namespace fovea
