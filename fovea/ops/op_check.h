#pragma once
// The harness of every op test: one declaration of inputs and a naive forward in double, and it
// checks, at every instruction-set level of the machine (FOVEA_ISA: at that one alone)
//   the forward, and the gradient against central differences *of the double reference* (in float
//   they disagree with correct gradients by up to 7 %);
//   the bits: the same on every level (unless the op says why not), and with work cut into pieces
//   for several threads, small as it is;
//   an op used twice: gradients add up;
//   inputs that are empty tensors, or have no rows: a result or a fovea::Error, nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/isa.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Doubles = std::vector<double>;

struct OpCase {
    std::vector<Tensor> inputs;  // all differentiated
    std::function<Tensor(const std::vector<Tensor>&)> op;
    std::function<Doubles(const std::vector<Doubles>&)> reference;  // same values, in double
    double forward_tolerance = 1e-5;      // relative to the largest reference value (at least 1)
    double gradient_tolerance = 1e-4;     // ‖g − g_ref‖ / ‖g_ref‖ for each input
    int max_checked = 400;                // elements of each input that are differentiated
    const char* levels_differ = nullptr;  // why bits may differ between levels; null: they do not
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

// The levels tests walk through: all the machine has, or the one FOVEA_ISA asks for (ctest has a
// run for each: walking through all of them in each would be the same work over and over).
inline const std::vector<kernels::Isa>& tested_levels() {
    using kernels::Isa;
    static const std::vector<Isa> levels = [] {
        if (std::getenv("FOVEA_ISA")) return std::vector<Isa>{kernels::active_isa()};
        std::vector<Isa> all;
        for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::amx})
            if (isa <= kernels::best_isa()) all.push_back(isa);
        return all;
    }();
    return levels;
}

// Runs `body` at each of them, then returns to where it was.
template <class Body>
void at_every_level(Body&& body) {
    const std::vector<kernels::Isa>& levels = tested_levels();
    const kernels::Isa before = kernels::active_isa();
    for (const kernels::Isa isa : levels) {
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

inline std::vector<Tensor> watched_copies(Tape& tape, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> copies;
    for (const Tensor& x : inputs) {
        Tensor copy = x.empty() ? Tensor() : Tensor::of(x.shape(), x.span());
        if (!x.empty() && x.row_names()) copy.set_row_names(*x.row_names());
        copies.push_back(x.empty() ? copy : tape.watch(copy));
    }
    return copies;
}

inline Run run_op(const OpCase& c, const std::vector<float>& projection) {
    Tape tape;
    const std::vector<Tensor> inputs = watched_copies(tape, c.inputs);
    Run run;
    run.y = c.op(inputs);
    Gradients g = tape.gradients(
        run.y, Tensor::of(run.y.shape(),
                          std::span(projection).first(static_cast<std::size_t>(run.y.size()))));
    for (const Tensor& x : inputs) run.gradients.push_back(g[x]);
    return run;
}

inline void expect_same_bits(const Run& a, const Run& b) {
    EXPECT_TRUE(same_bits(a.y, b.y)) << "forward";
    for (std::size_t k = 0; k < a.gradients.size(); ++k)
        EXPECT_TRUE(same_bits(a.gradients[k], b.gradients[k])) << "gradient of input " << k;
}

// y = op(x) and z = op(x): the second one finds gradients of the inputs and adds to them.
inline void check_used_twice(const OpCase& c, const std::vector<float>& projection,
                             const Run& one) {
    Tape tape;
    const std::vector<Tensor> inputs = watched_copies(tape, c.inputs);
    const Tensor sum = c.op(inputs) + c.op(inputs);
    const Gradients g = tape.gradients(
        sum,
        Tensor::of(sum.shape(), std::span(projection).first(static_cast<std::size_t>(sum.size()))));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        const Tensor twice = g[inputs[k]];
        double error = 0, norm = 0;
        for (std::int64_t i = 0; i < twice.size(); ++i) {
            const double wanted = 2.0 * one.gradients[k].data()[i];
            error += (twice.data()[i] - wanted) * (twice.data()[i] - wanted);
            norm += wanted * wanted;
        }
        EXPECT_LE(std::sqrt(error), 1e-5 * std::max(std::sqrt(norm), 1e-2))
            << "gradient of input " << k << " of an op that is used twice";
    }
}

// The op with other inputs gives a result, whose gradients have the shapes of their inputs, or an
// Error that says something.
inline void check_answers(const OpCase& c, const std::vector<Tensor>& inputs) {
    try {
        Tape tape;
        const std::vector<Tensor> in = watched_copies(tape, inputs);
        const Tensor y = c.op(in);
        const Gradients g = tape.gradients(y, Tensor::full(y.shape(), 1.0f));
        for (const Tensor& x : in) EXPECT_TRUE(x.empty() || g[x].size() == x.size());
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()), "");
    }
}

inline void check_empty_inputs(const OpCase& c, const Tensor& y) {
    for (std::size_t k = 0; k < c.inputs.size(); ++k) {
        SCOPED_TRACE("input " + std::to_string(k) + " is an empty tensor");
        std::vector<Tensor> inputs = c.inputs;
        inputs[k] = Tensor();
        check_answers(c, inputs);
    }
    // No rows: of the inputs that have as many as the result.
    SCOPED_TRACE("no rows");
    std::vector<Tensor> inputs = c.inputs;
    for (Tensor& x : inputs)
        if (x.shape().rank() == 2 && x.rows() == y.rows()) x = Tensor::zeros({0, x.cols()});
    check_answers(c, inputs);
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

    std::optional<detail::Run> lower;
    at_every_level([&] {
        const detail::Run run = detail::run_op(c, projection);
        detail::compare(c, run, expected);
        if (lower && !c.levels_differ) {
            SCOPED_TRACE("against the level below");
            detail::expect_same_bits(*lower, run);
        }
        for (const auto& [threads, pieces] : {std::pair{3, 1}, std::pair{1, 5}, std::pair{3, 5}}) {
            SCOPED_TRACE(std::to_string(threads) + " threads, at least " + std::to_string(pieces) +
                         " pieces");
            set_thread_count(threads);
            const SplitPieces split(pieces);
            detail::expect_same_bits(run, detail::run_op(c, projection));
            set_thread_count(0);
        }
        lower = run;
    });
    detail::check_used_twice(c, projection, *lower);
    detail::check_empty_inputs(c, lower->y);
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
