#pragma once
// What attention, attention_hard, pointer_scores and Probe share: arguments checked once, and the
// kernel's call put together for each run of heads that have the same visibility.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/autograd/gradients.h"
#include "fovea/kernels/attention/attention.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {

// What a row of q is called, for what is drawn at random: its sample, and its place in there. Rows
// without names are an error.
struct RowsOfSamples {
    RowsOfSamples(const char* where, const Tensor& q);
    std::vector<std::uint64_t> samples;
    std::vector<std::uint32_t> positions;
};

// The operands of a call. v may be empty where only scores are wanted.
struct AttentionOperands {
    Tensor q, k, v;
    int heads = 1;
};

class AttentionPlan {
public:
    AttentionPlan(const AttentionPlan&) = delete;  // the score refers to the options
    AttentionPlan& operator=(const AttentionPlan&) = delete;

    // `where` begins the error messages.
    AttentionPlan(const char* where, const AttentionOperands& operands, const Visibility& sees,
                  const AttentionOptions& options);

    void forward(Tensor& y, Tensor& lse) const;
    void backward(const Tensor& y, const Tensor& lse, const Tensor& dy, Gradients& d) const;

    // Scores of one head over visible pairs, row by row: values [visible pairs], rows begin at
    // offsets. Backward asks for the gradients of each head's, one after the other.
    void scores(int head, float* values) const;
    void scores_backward(const std::function<Tensor(int head)>& dvalues, Gradients& d) const;

    const BoundScore& score() const { return *score_; }
    const Visibility& of_head(int head) const;
    // What an op has to record: q, k, v (if there is one), and the tensors the score is made of.
    std::vector<Tensor> inputs() const;

    Tensor q, k, v;
    int heads;
    AttentionOptions options;

private:
    struct HeadRun {
        int begin, end;
        Visibility sees;
    };
    void check_shapes(const char* where) const;
    void find_head_runs(const char* where, const Visibility& sees);
    kernels::AttentionCall call(const HeadRun& run) const;
    // run(call of the head by itself), where only its scores are wanted.
    template <class Run>
    void with_head(int head, Run&& run) const;
    // run(where gradients go); then hands the parameters' to the tensors they belong to.
    template <class Run>
    void with_gradients(Gradients& d, const Tensor& values, Run&& run) const;

    std::vector<HeadRun> runs_;
    float scale_ = 1;
    Precision precision_ = Precision::f32;
    ScoreBinding score_;
    kernels::AttentionDropout dropout_;
    std::optional<RowsOfSamples> named_;  // for dropout
};

}  // namespace fovea
