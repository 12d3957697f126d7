#pragma once
// Word vectors learned by negative sampling, as an optimizer of its own: steps write both tables in
// place, with plain gradient descent. What a step computes, and why any number of threads gives the
// same bits, is told in kernels/negative_sampling.h.
// Not thread-safe: it belongs to whoever trains.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct NegativeSamplingOptions {
    bool skip_gram = true;  // else CBOW
    int negatives = 5;      // words drawn for each that is told
    double power = 0.5;     // drawn ∝ countᵖ: fastText's; word2vec has 0.75
    std::uint64_t seed = 1;
};

// A word and those around it: [begin, end) without the centre. The name is that of its draws.
struct TextWindow {
    std::int32_t center, begin, end;
    std::uint64_t name;
};

class NegativeSampling {
public:
    // input [rows, d], output [words, d]. Word w is the mean of the input rows
    // rows[begin[w]] … rows[begin[w + 1]]; words were seen counts[w] times.
    NegativeSampling(Tensor input, Tensor output, std::vector<std::int64_t> begin, Ids rows,
                     std::span<const std::int64_t> counts, const NegativeSamplingOptions& options);
    ~NegativeSampling();
    NegativeSampling(const NegativeSampling&) = delete;
    NegativeSampling& operator=(const NegativeSampling&) = delete;

    struct Loss {
        double sum = 0;
        std::int64_t pairs = 0;  // true words that were told
    };
    // One step over windows of `words`, their centres rising. A rate of 0 changes nothing.
    Loss step(const Ids& words, std::span<const TextWindow> windows, float rate);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace fovea
