#pragma once
// What attention, attention_hard, pointer_scores and Probe share: arguments checked once, and the
// kernel's call put together for each run of heads that have the same visibility.
#include <memory>
#include <string>
#include <vector>

#include "fovea/autograd/gradients.h"
#include "fovea/kernels/attention/attention.h"
#include "fovea/ops/attention/attention.h"

namespace fovea {

class AttentionPlan {
public:
    // v may be empty where only scores are wanted. `where` begins the error messages.
    AttentionPlan(const char* where, const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                  const Visibility& sees, const AttentionOptions& options);

    void forward(Tensor& y, Tensor& lse) const;
    void backward(const Tensor& y, const Tensor& lse, const Tensor& dy, Gradients& d) const;

    // Scores of one head over visible pairs, row by row: values [visible pairs], rows begin at
    // offsets. Backward: one head's gradients at a time, all heads one after the other.
    void scores(int head, float* values) const;
    void scores_backward(int head, const float* dvalues, Gradients& d) const;
    // What the softmax weights of a head are multiplied by afterwards (Gaussian): into values.
    bool has_factor() const { return std::holds_alternative<Gaussian>(options.score); }
    float factor(int head, std::int64_t row, std::int64_t index) const;

    const Visibility& of_head(int head) const;
    // Tensors a score is made of (up to three; empty ones behind), to be recorded as inputs.
    Tensor parameter(std::size_t i) const {
        return i < parameters_.size() ? parameters_[i] : Tensor();
    }

    Tensor q, k, v;
    int heads;
    AttentionOptions options;

private:
    struct HeadRun {
        int begin, end;
        Visibility sees;
    };
    struct Distances {  // of visible pairs
        std::int64_t lowest = 0, highest = -1;
    };
    void check_shapes(const char* where) const;
    void check_score(const char* where);
    void name_rows();
    Distances distances(const char* where, const RowPositions& positions) const;
    kernels::AttentionCall call(const HeadRun& run) const;
    // run(kernel score, where its parameters' gradient goes) with the score as kernels know it.
    template <class Run>
    void with_score(Run&& run) const;
    // Hands the parameters' gradients, laid out as kernels do, to the tensors they belong to.
    void scatter_gradients(const Tensor& dparameters, Gradients& d) const;

    std::vector<HeadRun> runs_;
    float scale_ = 1;
    Precision precision_ = Precision::f32;
    std::vector<Tensor> parameters_;
    Tensor bias_;             // BiasedDot's, by distance: [heads, distances]
    std::int64_t first_ = 0;  // distance of its column 0
    kernels::AttentionDropout dropout_;
    std::vector<std::uint64_t> samples_;  // row names, for dropout
    std::vector<std::uint32_t> positions_;
};

}  // namespace fovea
