#include "fovea/ops/negative_sampling.h"

#include <cmath>

#include "fovea/kernels/negative_sampling.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// Five words over seven rows: words 0 … 4 are rows 0 … 4, some with rows 5 and 6 beside.
struct Words {
    explicit Words(std::int64_t dim) {
        Rng rng(11);
        input = random_tensor({7, dim}, rng);
        output = random_tensor({5, dim}, rng);
    }
    NegativeSampling make(const NegativeSamplingOptions& o) const {
        return NegativeSampling(input, output, begin, rows, counts, o);
    }
    Tensor input, output;
    const std::vector<std::int64_t> begin{0, 1, 4, 6, 7, 9}, counts{50, 20, 10, 5, 1};
    const Ids rows{0, 1, 5, 6, 2, 5, 3, 4, 6};
};

const Ids text{0, 1, 2, 1, 4, 3, 0, 2};
const std::vector<TextWindow> windows{{0, 0, 3, 10}, {1, 0, 3, 11}, {2, 0, 5, 12},
                                      {4, 2, 8, 13}, {5, 4, 7, 14}, {7, 5, 8, 15}};

// The words a window's draws give: the same stream, read off the loss of a model in which every
// score is 0 cannot tell them, so they are drawn again as the kernel does.
std::vector<std::int32_t> draws(const Words& w, const NegativeSamplingOptions& o,
                                std::uint64_t name, const Ids& told) {
    std::vector<double> weights;
    for (const std::int64_t c : w.counts)
        weights.push_back(std::pow(static_cast<double>(c), o.power));
    const kernels::WordSampler sampler(weights);
    std::uint64_t state = o.seed * 0x9e3779b97f4a7c15u ^ (name + 1) * 0xd1342543de82ef95u;
    const auto next = [&] {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    };
    std::vector<std::int32_t> all;
    for (const std::int32_t t : told)
        for (int k = 0; k < o.negatives; ++k) {
            std::int32_t d = sampler.draw(next());
            while (d == t) d = sampler.draw(next());
            all.push_back(d);
        }
    return all;
}

struct Bag {
    std::vector<std::int32_t> rows;
    Ids told, drawn;
};

std::vector<Bag> bags(const Words& w, const NegativeSamplingOptions& o) {
    std::vector<Bag> all;
    for (const TextWindow& window : windows) {
        Bag b;
        Ids around;
        for (std::int32_t p = window.begin; p < window.end; ++p)
            if (p != window.center) around.push_back(text[static_cast<std::size_t>(p)]);
        const Ids center{text[static_cast<std::size_t>(window.center)]};
        for (const std::int32_t word : o.skip_gram ? center : around)
            for (std::int64_t r = w.begin[static_cast<std::size_t>(word)];
                 r < w.begin[static_cast<std::size_t>(word) + 1]; ++r)
                b.rows.push_back(w.rows[static_cast<std::size_t>(r)]);
        b.told = o.skip_gram ? around : center;
        b.drawn = draws(w, o, window.name, b.told);
        all.push_back(b);
    }
    return all;
}

// The loss of kernels/negative_sampling.h in double.
double loss_of(const std::vector<Bag>& all, const Doubles& in, const Doubles& out,
               std::size_t dim) {
    double loss = 0;
    for (const Bag& b : all) {
        Doubles h(dim);
        for (const std::int32_t r : b.rows)
            for (std::size_t j = 0; j < dim; ++j)
                h[j] +=
                    in[static_cast<std::size_t>(r) * dim + j] / static_cast<double>(b.rows.size());
        const auto score = [&](std::int32_t word) {
            double s = 0;
            for (std::size_t j = 0; j < dim; ++j)
                s += h[j] * out[static_cast<std::size_t>(word) * dim + j];
            return s;
        };
        for (const std::int32_t t : b.told) loss += std::log1p(std::exp(-score(t)));
        for (const std::int32_t t : b.drawn) loss += std::log1p(std::exp(score(t)));
    }
    return loss;
}

double slope(Doubles& x, std::size_t i, const std::function<double()>& f) {
    const double at = x[i], eps = 1e-5;
    x[i] = at + eps;
    const double up = f();
    x[i] = at - eps;
    const double down = f();
    x[i] = at;
    return (up - down) / (2 * eps);
}

void check_step(std::int64_t dim, bool skip_gram) {
    const Words w(dim);
    const NegativeSamplingOptions o{.skip_gram = skip_gram, .negatives = 3, .seed = 9};
    const std::vector<Bag> all = bags(w, o);
    Doubles in = doubles_of(w.input), out = doubles_of(w.output);
    NegativeSampling sampling = w.make(o);
    const auto size = static_cast<std::size_t>(dim);
    const double want = loss_of(all, in, out, size);
    const float rate = 0.25f;
    const auto loss = sampling.step(text, windows, rate);
    EXPECT_NEAR(loss.sum, want, 1e-4 * want);
    std::size_t told = 0;
    for (const Bag& b : all) told += b.told.size();
    EXPECT_EQ(loss.pairs, static_cast<std::int64_t>(told));

    // Output rows move against the gradient; input rows by it times the size of their bag, which
    // is the gradient of h itself: so bag by bag.
    Doubles in_want = in, out_want = out;
    for (std::size_t i = 0; i < out.size(); ++i)
        out_want[i] -=
            static_cast<double>(rate) * slope(out, i, [&] { return loss_of(all, in, out, size); });
    for (const Bag& b : all)
        for (std::size_t i = 0; i < in.size(); ++i)
            in_want[i] -= static_cast<double>(rate) * static_cast<double>(b.rows.size()) *
                          slope(in, i, [&] { return loss_of({b}, in, out, size); });
    for (std::size_t i = 0; i < out.size(); ++i)
        EXPECT_NEAR(w.output.data()[i], out_want[i], 2e-4) << i;
    for (std::size_t i = 0; i < in.size(); ++i)
        EXPECT_NEAR(w.input.data()[i], in_want[i], 2e-4) << i;
}

TEST(NegativeSampling, AStepFollowsTheGradientOfTheLossInDouble) {
    at_every_level([] {
        for (const std::int64_t dim : {1, 5, 16, 33, 100})
            for (const bool skip_gram : {true, false}) check_step(dim, skip_gram);
    });
}

TEST(NegativeSampling, SameBitsForAnyThreadsAndLevels) {
    for (const bool skip_gram : {true, false}) {
        Tensor input, output;
        const auto run = [&](int threads) {
            set_thread_count(threads);
            const Words w(37);
            NegativeSampling sampling = w.make({.skip_gram = skip_gram, .seed = 4});
            Rng rng(3);
            for (int step = 0; step < 3; ++step) {
                Ids words;
                std::vector<TextWindow> many;
                for (std::int32_t i = 0; i < 200; ++i)
                    words.push_back(static_cast<std::int32_t>(rng.below(5)));
                for (std::int32_t i = 0; i < 200; ++i)
                    many.push_back({i, std::max(0, i - 3), std::min(200, i + 4),
                                    static_cast<std::uint64_t>(step * 200 + i)});
                sampling.step(words, many, 0.05f);
            }
            if (input.empty()) {
                input = w.input;
                output = w.output;
            }
            EXPECT_TRUE(same_bits(w.input, input) && same_bits(w.output, output)) << threads;
        };
        at_every_level([&] {
            for (const int threads : {1, 2, 5}) run(threads);
        });
    }
    set_thread_count(0);
}

TEST(NegativeSampling, ARateOfZeroChangesNothingAndLoneWordsTellNothing) {
    const Words w(8);
    const Tensor in = Tensor::of(w.input.shape(), w.input.span()),
                 out = Tensor::of(w.output.shape(), w.output.span());
    NegativeSampling sampling = w.make({});
    EXPECT_GT(sampling.step(text, windows, 0).sum, 0);
    EXPECT_TRUE(same_bits(w.input, in) && same_bits(w.output, out));
    const std::vector<TextWindow> alone{{3, 3, 4, 1}};
    EXPECT_EQ(sampling.step(text, alone, 1).pairs, 0);
    EXPECT_TRUE(same_bits(w.input, in));
}

TEST(NegativeSampling, DrawsFollowTheWeights) {
    const std::vector<double> weights{5, 1, 3, 0.5, 0.5};
    const kernels::WordSampler sampler(weights);
    Rng rng(7);
    std::vector<double> seen(5);
    for (int i = 0; i < 200000; ++i)
        seen[static_cast<std::size_t>(sampler.draw(rng.bits()))] += 1e-4 / 2;
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(seen[i], weights[i], 0.1);
}

TEST(NegativeSampling, WhatDoesNotFitIsAnError) {
    const Words w(8);
    const NegativeSamplingOptions o;
    const auto make = [&](const Tensor& in, const Tensor& out, std::vector<std::int64_t> begin,
                          Ids rows) {
        NegativeSampling(in, out, std::move(begin), std::move(rows), w.counts, o);
    };
    EXPECT_THROW(make(Tensor::zeros({7, 9}), w.output, w.begin, w.rows), Error);
    EXPECT_THROW(make(w.input, Tensor::zeros({4, 8}), w.begin, w.rows), Error);
    EXPECT_THROW(make(w.input, w.output, {0, 1}, w.rows), Error);
    EXPECT_THROW(make(w.input, w.output, {0, 1, 1, 6, 7, 9}, w.rows), Error);
    EXPECT_THROW(make(w.input, w.output, w.begin, Ids{0, 1, 5, 7, 2, 5, 3, 4, 6}), Error);
    NegativeSampling sampling = w.make(o);
    const std::vector<TextWindow> outside{{0, 0, 9, 1}}, falling{{3, 2, 5, 1}, {2, 1, 4, 2}};
    EXPECT_THROW(sampling.step(text, outside, 1), Error);
    EXPECT_THROW(sampling.step(text, falling, 1), Error);
    EXPECT_THROW(sampling.step({0, 5}, {}, 1), Error);
}

}  // namespace
}  // namespace fovea
