#pragma once
// Losses over classes.
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

enum class Reduction {
    mean,  // Σ weight · loss / Σ weight, over the rows that count
    sum,   // Σ weight · loss
    none,  // weight · loss of each row, [n]
};

struct CrossEntropyOptions {
    float smoothing = 0;           // ε of label smoothing
    std::int32_t ignore = -100;    // rows with this label do not count
    std::vector<float> weights{};  // one per row; empty: all 1
    Reduction reduction = Reduction::mean;
};

// −log softmax(logits)[label], softmax inside. labels [n]. No row counts: the loss is 0.
Tensor cross_entropy(const Tensor& logits, const Ids& labels, const CrossEntropyOptions& = {});

namespace detail {
// What the losses over classes share: checked labels, and what each row's loss is multiplied by.
std::vector<float> row_factors(const char* op, std::int64_t rows, std::int64_t classes,
                               const Ids& labels, const CrossEntropyOptions& options);
// The rows' losses reduced to the result: [1], or [n] without reduction. In double, in order.
Tensor reduced(const Tensor& row_losses, const std::vector<float>& factors, Reduction reduction);
}  // namespace detail

}  // namespace fovea
