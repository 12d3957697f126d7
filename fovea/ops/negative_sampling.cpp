#include "fovea/ops/negative_sampling.h"

#include <cmath>

#include "fovea/kernels/negative_sampling.h"
#include "fovea/ops/arguments.h"

namespace fovea {

struct NegativeSampling::Parts {
    Tensor input, output;
    std::vector<std::int64_t> begin;
    Ids rows;
    NegativeSamplingOptions options;
    kernels::WordSampler sampler;
    kernels::NegativeSamplingKernel kernel{};
    std::vector<kernels::WordWindow> windows{};
};

namespace {

std::vector<double> drawing_weights(std::span<const std::int64_t> counts, double power) {
    std::vector<double> weights;
    for (const std::int64_t count : counts)
        weights.push_back(std::pow(static_cast<double>(count), power));
    return weights;
}

}  // namespace

NegativeSampling::NegativeSampling(Tensor input, Tensor output, std::vector<std::int64_t> begin,
                                   Ids rows, std::span<const std::int64_t> counts,
                                   const NegativeSamplingOptions& options) {
    expect_f32("negative_sampling", "the input table", input);
    expect_f32("negative_sampling", "the output table", output);
    const auto words = static_cast<std::int64_t>(counts.size());
    expect(input.cols() == output.cols() && output.rows() == words, "negative_sampling: ", words,
           " words, but the tables are ", input.shape(), " and ", output.shape());
    expect(words >= 2, "negative_sampling: ", words, " words, but at least two are wanted");
    expect(options.negatives >= 1, "negative_sampling: ", options.negatives, " drawn words");
    expect(static_cast<std::int64_t>(begin.size()) == words + 1 && begin.front() == 0 &&
               begin.back() == static_cast<std::int64_t>(rows.size()),
           "negative_sampling: the rows of ", words, " words have ", begin.size(), " bounds");
    for (std::size_t w = 0; w + 1 < begin.size(); ++w)
        expect(begin[w] < begin[w + 1], "negative_sampling: word ", w, " has no row");
    for (const std::int32_t row : rows)
        expect(row >= 0 && row < input.rows(), "negative_sampling: row ", row,
               " is outside of the table ", input.shape());
    for (const std::int64_t count : counts)
        expect(count >= 1, "negative_sampling: a word was seen ", count, " times");
    parts_ = std::unique_ptr<Parts>(
        new Parts{std::move(input), std::move(output), std::move(begin), std::move(rows), options,
                  kernels::WordSampler(drawing_weights(counts, options.power))});
}

NegativeSampling::~NegativeSampling() = default;

NegativeSampling::Loss NegativeSampling::step(const Ids& words, std::span<const TextWindow> windows,
                                              float rate) {
    Parts& p = *parts_;
    const auto positions = static_cast<std::int32_t>(words.size());
    for (const std::int32_t w : words)
        expect(w >= 0 && w < p.output.rows(), "negative_sampling: there is no word ", w);
    p.windows.clear();
    for (const TextWindow& w : windows) {
        expect(w.begin >= 0 && w.begin <= w.center && w.center < w.end && w.end <= positions &&
                   (p.windows.empty() || p.windows.back().center < w.center),
               "negative_sampling: the window [", w.begin, ", ", w.end, ") around ", w.center);
        if (w.end - w.begin > 1) p.windows.push_back({w.center, w.begin, w.end, w.name});
    }
    if (p.windows.empty()) return {};
    const kernels::NegativeSamplingLoss loss = p.kernel.step(
        {p.input.write(), p.output.write(), p.input.cols()}, {p.begin, p.rows}, p.sampler,
        {.words = words,
         .windows = p.windows,
         .skip_gram = p.options.skip_gram,
         .negatives = p.options.negatives,
         .rate = rate,
         .seed = p.options.seed});
    return {loss.sum, loss.pairs};
}

}  // namespace fovea
