#pragma once
// The harness of every op test: one declaration of inputs and a naive forward in double, and it
// checks the forward, the gradient (against central differences *of the double reference*: in float
// they disagree with correct gradients by up to 7 %), that backward run twice gives the same bits,
// and that 1, 2, 3 and 8 threads do. Tests run it at every instruction-set level of the machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Doubles = std::vector<double>;

struct OpCase {
    std::vector<Tensor> inputs;  // all differentiated
    std::function<Tensor(const std::vector<Tensor>&)> op;
    std::function<Doubles(const std::vector<Doubles>&)> reference;  // same values, in double
    double forward_tolerance = 1e-5;   // relative to the largest reference value (at least 1)
    double gradient_tolerance = 1e-4;  // ‖g − g_ref‖ / ‖g_ref‖ for each input
    int max_checked = 400;             // elements of each input that are differentiated
};

inline Tensor random_tensor(const Shape& shape, Rng& rng, double scale = 1.0) {
    Tensor t(shape);
    float* p = t.write();
    for (std::int64_t i = 0; i < t.size(); ++i) p[i] = static_cast<float>(scale * rng.normal());
    return t;
}

inline Doubles doubles_of(const Tensor& t) { return {t.data(), t.data() + t.size()}; }

inline bool same_bits(const Tensor& a, const Tensor& b) {
    return a.size() == b.size() &&
           (a.size() == 0 ||
            std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * 4) == 0);
}

namespace detail {

struct Run {
    Tensor y;
    std::vector<Tensor> gradients;
};

inline Run run_op(const OpCase& c, const std::vector<float>& projection) {
    Tape tape;
    std::vector<Tensor> inputs;
    for (const Tensor& x : c.inputs) {
        Tensor copy = Tensor::of(x.shape(), x.span());
        if (x.row_names()) copy.set_row_names(*x.row_names());
        inputs.push_back(tape.watch(copy));
    }
    Run run;
    run.y = c.op(inputs);
    Gradients g = tape.gradients(
        run.y, Tensor::of(run.y.shape(),
                          std::span(projection).first(static_cast<std::size_t>(run.y.size()))));
    for (const Tensor& x : inputs) run.gradients.push_back(g[x]);
    return run;
}

}  // namespace detail

inline void check_op(const OpCase& c, std::uint64_t seed = 1) {
    std::vector<Doubles> x;
    for (const Tensor& t : c.inputs) x.push_back(doubles_of(t));
    const Doubles y_ref = c.reference(x);

    Rng rng(seed, 77);
    std::vector<float> projection(y_ref.size());
    for (float& r : projection) r = static_cast<float>(rng.normal());

    const detail::Run run = detail::run_op(c, projection);
    ASSERT_EQ(static_cast<std::size_t>(run.y.size()), y_ref.size());
    double largest = 1;
    for (const double v : y_ref) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < y_ref.size(); ++i)
        ASSERT_NEAR(run.y.data()[i], y_ref[i], c.forward_tolerance * largest) << "output " << i;

    const auto loss = [&](const std::vector<Doubles>& at) {
        const Doubles y = c.reference(at);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * projection[i];
        return sum;
    };
    for (std::size_t k = 0; k < x.size(); ++k) {
        double error = 0, norm = 0;
        const std::size_t step = std::max<std::size_t>(
            1, x[k].size() / static_cast<std::size_t>(std::max(1, c.max_checked)));
        for (std::size_t i = 0; i < x[k].size(); i += step) {
            const double h = 1e-5 * std::max(1.0, std::fabs(x[k][i])), keep = x[k][i];
            x[k][i] = keep + h;
            const double up = loss(x);
            x[k][i] = keep - h;
            const double down = loss(x);
            x[k][i] = keep;
            const double g = (up - down) / (2 * h);
            error += (run.gradients[k].data()[i] - g) * (run.gradients[k].data()[i] - g);
            norm += g * g;
        }
        EXPECT_LE(std::sqrt(error), c.gradient_tolerance * std::max(std::sqrt(norm), 1e-3))
            << "gradient of input " << k << " of norm " << std::sqrt(norm);
    }

    for (const int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        const detail::Run again = detail::run_op(c, projection);
        EXPECT_TRUE(same_bits(run.y, again.y)) << "forward with " << threads << " threads";
        for (std::size_t k = 0; k < x.size(); ++k)
            EXPECT_TRUE(same_bits(run.gradients[k], again.gradients[k]))
                << "gradient of input " << k << " with " << threads << " threads";
    }
    set_thread_count(0);
}

}  // namespace fovea
