#include "fovea/ops/recurrent.h"

#include "fovea/base/precision.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;
using RecurrentOp = Tensor (*)(const Tensor&, const Segments&, const RecurrentWeights&,
                               const RecurrentOptions&);

struct Kind {
    const char* name;
    RecurrentOp op;
    std::int64_t gates, parts;
};
const Kind kinds[] = {{"gru", gru, 3, 1}, {"lstm", lstm, 4, 2}};

double sigma(double x) { return 1 / (1 + std::exp(-x)); }

// One step of one sequence, as the papers have it. `s` is h, or h | c.
void naive_step(const Kind& kind, std::int64_t h, const double* x, const In& v, Doubles& s) {
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const Doubles old = s;
    const auto z = [&](std::int64_t g) {
        double sum = v[2][at(g)];
        for (std::int64_t k = 0; k < h; ++k) sum += v[1][at(g * h + k)] * old[at(k)];
        return sum;
    };
    for (std::int64_t j = 0; j < h; ++j) {
        if (kind.parts == 1) {
            const double r = sigma(x[j] + z(j)), u = sigma(x[h + j] + z(h + j));
            const double n = std::tanh(x[2 * h + j] + r * z(2 * h + j));
            s[at(j)] = (1 - u) * n + u * old[at(j)];
        } else {
            const double i = sigma(x[j] + z(j)), f = sigma(x[h + j] + z(h + j)),
                         g = std::tanh(x[2 * h + j] + z(2 * h + j)),
                         o = sigma(x[3 * h + j] + z(3 * h + j));
            s[at(h + j)] = f * old[at(h + j)] + i * g;
            s[at(j)] = o * std::tanh(s[at(h + j)]);
        }
    }
}

Doubles naive(const Kind& kind, const In& v, const Segments& segments, std::int64_t h,
              bool backwards) {
    const std::int64_t state = kind.parts * h;
    Doubles y(static_cast<std::size_t>(segments.total() * state));
    for (std::int64_t q = 0; q < segments.count(); ++q) {
        const auto start = v[3].begin() + q * state;
        Doubles s(start, start + state);
        for (std::int64_t t = 0; t < segments.length(q); ++t) {
            const std::int64_t row = backwards ? segments.end(q) - 1 - t : segments.begin(q) + t;
            naive_step(kind, h, v[0].data() + row * kind.gates * h, v, s);
            std::copy(s.begin(), s.end(), y.begin() + row * state);
        }
    }
    return y;
}

Inputs inputs_of(const Kind& kind, const Segments& segments, std::int64_t h, Rng& rng) {
    const double scale = 1 / std::sqrt(static_cast<double>(h));
    return {random_tensor({segments.total(), kind.gates * h}, rng),
            random_tensor({kind.gates * h, h}, rng, scale), random_tensor({kind.gates * h}, rng),
            random_tensor({segments.count(), kind.parts * h}, rng)};
}

TEST(Recurrent, ForwardAndGradientsBothWays) {
    Rng rng(1);
    const std::pair<Segments, std::int64_t> cases[] = {{Segments::of_lengths({1}), 1},
                                                       {Segments::of_lengths({3, 0, 5, 1, 5}), 3},
                                                       {Segments::of_lengths({2, 4}), 17},
                                                       {Segments::of_lengths({3}), 33}};
    for (const Kind& kind : kinds)
        for (const auto& [segments, h] : cases)
            for (const bool backwards : {false, true}) {
                SCOPED_TRACE(text_of(kind.name, " ", h, backwards ? " backwards" : ""));
                check_op({.inputs = inputs_of(kind, segments, h, rng),
                          .op =
                              [&, segments = segments](const Inputs& x) {
                                  return kind.op(x[0], segments, {x[1], x[2]},
                                                 {.start = x[3], .backwards = backwards});
                              },
                          .reference =
                              [&, segments = segments, h = h](const In& v) {
                                  return naive(kind, v, segments, h, backwards);
                              },
                          .max_checked = 40});
            }
}

TEST(Recurrent, NoStartIsOneOfZerosAndNoBiasOneOfZeros) {
    Rng rng(2);
    const Segments segments = Segments::of_lengths({4, 2});
    for (const Kind& kind : kinds) {
        const Inputs in = inputs_of(kind, segments, 9, rng);
        const Tensor start = Tensor::zeros(in[3].shape()), bias = Tensor::zeros(in[2].shape());
        EXPECT_TRUE(same_bits(kind.op(in[0], segments, {in[1], {}}, {}),
                              kind.op(in[0], segments, {in[1], bias}, {.start = start})));
    }
}

Tensor rows_of(const Tensor& x, const Segments& segments, std::int64_t q) {
    return slice_rows(x, segments.begin(q), segments.end(q));
}

// Alone, packed, and cut into steps: the same bits; the gradient of its input too.
TEST(Recurrent, ASequenceDoesNotDependOnItsNeighbours) {
    Rng rng(3);
    const Segments segments = Segments::of_lengths({3, 7, 0, 7, 1});
    for (const Precision precision : {Precision::f32, Precision::bf16})
        for (const Kind& kind : kinds)
            for (const bool backwards : {false, true}) {
                const PrecisionScope scope(precision);
                const Inputs in = inputs_of(kind, segments, 19, rng);
                const auto run = [&](const Tensor& x, const Segments& s, const Tensor& start) {
                    Tape tape;
                    const Tensor watched = tape.watch(Tensor::of(x.shape(), x.span()));
                    const Tensor y = kind.op(watched, s, {in[1], in[2]},
                                             {.start = start, .backwards = backwards});
                    return std::pair(y,
                                     tape.gradients(y, Tensor::of(y.shape(), y.span()))[watched]);
                };
                at_every_level([&] {
                    const auto [all, gradient] = run(in[0], segments, in[3]);
                    for (std::int64_t q = 0; q < segments.count(); ++q) {
                        const auto [one, its] = run(rows_of(in[0], segments, q),
                                                    Segments::of_lengths({segments.length(q)}),
                                                    slice_rows(in[3], q, q + 1));
                        EXPECT_TRUE(same_bits(one, rows_of(all, segments, q))) << kind.name << q;
                        EXPECT_TRUE(same_bits(its, rows_of(gradient, segments, q))) << q;
                    }
                });
            }
}

TEST(Recurrent, StepByStepIsTheWholeSequence) {
    Rng rng(4);
    const std::int64_t n = 3, steps = 6;
    const Segments segments = Segments::uniform(n, steps);
    for (const Format format : {Format::f32, Format::bf16, Format::int8})
        for (const Kind& kind : kinds) {
            const Inputs in = inputs_of(kind, segments, 21, rng);
            const RecurrentWeights w{in[1].to(format), in[2]};
            const Tensor whole = kind.op(in[0], segments, w, {.start = in[3]});
            Tensor state = in[3];
            for (std::int64_t t = 0; t < steps; ++t) {
                std::vector<Tensor> x, expected;
                for (std::int64_t q = 0; q < n; ++q) {
                    x.push_back(slice_rows(in[0], q * steps + t, q * steps + t + 1));
                    expected.push_back(slice_rows(whole, q * steps + t, q * steps + t + 1));
                }
                state = kind.op(concat_rows(x), Segments::uniform(n, 1), w, {.start = state});
                EXPECT_TRUE(same_bits(state, concat_rows(expected))) << kind.name << " step " << t;
            }
        }
}

}  // namespace
}  // namespace fovea
