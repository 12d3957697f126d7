#pragma once
// The harness of every op test: one declaration of inputs and a naive forward in double, and it
// checks the forward, the gradient (against central differences *of the double reference*: in float
// they disagree with correct gradients by up to 7 %), that backward run twice gives the same bits,
// and that 1, 2, 3 and 8 threads do; all of it at every instruction-set level of the machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/isa.h"
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

// Runs `body` at every instruction-set level the machine has, then returns to the best.
template <class Body>
void at_every_level(Body&& body) {
    using kernels::Isa;
    const Isa before = kernels::active_isa();
    for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::amx}) {
        if (isa > kernels::best_isa()) continue;
        kernels::set_isa(isa);
        SCOPED_TRACE(kernels::name_of(isa));
        body();
    }
    kernels::set_isa(before);
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

struct Expected {
    Doubles y;
    std::vector<Doubles> gradients;  // NaN where not checked
};

inline Expected expected_of(const OpCase& c, const std::vector<float>& projection) {
    std::vector<Doubles> x;
    for (const Tensor& t : c.inputs) x.push_back(doubles_of(t));
    const auto loss = [&] {
        const Doubles y = c.reference(x);
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * projection[i];
        return sum;
    };
    Expected e{c.reference(x), {}};
    for (Doubles& values : x) {
        Doubles& g = e.gradients.emplace_back(values.size(), std::nan(""));
        const std::size_t step = std::max<std::size_t>(
            1, values.size() / static_cast<std::size_t>(std::max(1, c.max_checked)));
        for (std::size_t i = 0; i < values.size(); i += step) {
            const double h = 1e-5 * std::max(1.0, std::fabs(values[i])), keep = values[i];
            values[i] = keep + h;
            const double up = loss();
            values[i] = keep - h;
            const double down = loss();
            values[i] = keep;
            g[i] = (up - down) / (2 * h);
        }
    }
    return e;
}

inline void compare(const OpCase& c, const Run& run, const Expected& e) {
    ASSERT_EQ(static_cast<std::size_t>(run.y.size()), e.y.size());
    double largest = 1;
    for (const double v : e.y) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < e.y.size(); ++i)
        ASSERT_NEAR(run.y.data()[i], e.y[i], c.forward_tolerance * largest) << "output " << i;
    for (std::size_t k = 0; k < e.gradients.size(); ++k) {
        double error = 0, norm = 0;
        for (std::size_t i = 0; i < e.gradients[k].size(); ++i) {
            const double g = e.gradients[k][i];
            if (std::isnan(g)) continue;
            error += (run.gradients[k].data()[i] - g) * (run.gradients[k].data()[i] - g);
            norm += g * g;
        }
        EXPECT_LE(std::sqrt(error), c.gradient_tolerance * std::max(std::sqrt(norm), 1e-3))
            << "gradient of input " << k << " of norm " << std::sqrt(norm);
    }
}

}  // namespace detail

inline void check_op(const OpCase& c, std::uint64_t seed = 1) {
    std::vector<Doubles> x;
    for (const Tensor& t : c.inputs) x.push_back(doubles_of(t));
    Rng rng(seed, 77);
    std::vector<float> projection(c.reference(x).size());
    for (float& r : projection) r = static_cast<float>(rng.normal());
    const detail::Expected expected = detail::expected_of(c, projection);

    at_every_level([&] {
        const detail::Run run = detail::run_op(c, projection);
        detail::compare(c, run, expected);
        for (const int threads : {1, 2, 3, 8}) {
            set_thread_count(threads);
            const detail::Run again = detail::run_op(c, projection);
            EXPECT_TRUE(same_bits(run.y, again.y)) << "forward with " << threads << " threads";
            for (std::size_t k = 0; k < x.size(); ++k)
                EXPECT_TRUE(same_bits(run.gradients[k], again.gradients[k]))
                    << "gradient of input " << k << " with " << threads << " threads";
        }
        set_thread_count(0);
    });
}

// For ops that work row by row: row i of op(x) and of its gradient is, bit for bit, what the op
// gives for row i alone.
template <class Op>
void check_rows_alone(const Tensor& x, Op&& op) {
    const auto run = [&](const Tensor& in) {
        Tape tape;
        const Tensor watched = tape.watch(in);
        detail::Run r;
        r.y = op(watched);
        // dy is made of y itself, so that a row gets the same one in any batch
        r.gradients = {tape.gradients(r.y, Tensor::of(r.y.shape(), r.y.span()))[watched]};
        return r;
    };
    at_every_level([&] {
        const detail::Run all = run(Tensor::of(x.shape(), x.span()));
        for (std::int64_t i = 0; i < x.rows(); ++i) {
            const auto d = static_cast<std::size_t>(x.cols());
            const detail::Run one = run(
                Tensor::of({1, x.cols()}, x.span().subspan(static_cast<std::size_t>(i) * d, d)));
            const auto row_of = [&](const Tensor& t) {
                return Tensor::of({1, t.cols()},
                                  t.span().subspan(static_cast<std::size_t>(i * t.cols()),
                                                   static_cast<std::size_t>(t.cols())));
            };
            EXPECT_TRUE(same_bits(row_of(all.y), one.y)) << "row " << i;
            EXPECT_TRUE(same_bits(row_of(all.gradients[0]), one.gradients[0]))
                << "gradient of row " << i;
        }
    });
}

}  // namespace fovea
