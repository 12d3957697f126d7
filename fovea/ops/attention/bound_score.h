#pragma once
// A score made ready for one call of attention: bind() of a score's struct checks its tensors
// against the call and hands one of these back. The struct lives at least as long.
#include <span>
#include <utility>
#include <vector>

#include "fovea/autograd/gradients.h"
#include "fovea/kernels/attention/attention.h"
#include "fovea/ops/attention/attention_score.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

// The call as a score sees it, its shapes checked already. `where` begins the error messages.
struct ScoreCall {
    const char* where;
    const Tensor& q;  // [nq, heads·dk]
    const Tensor& k;  // [nk, heads·dk]
    int heads;
    std::span<const Visibility> sees;  // the different ones of the heads

    void expect_row(const char* name, const Tensor& x) const;   // heads·dk numbers
    void expect_rows(const char* name, const Tensor& x) const;  // [any, heads·dk]
    // One number for each packed row of q and of k.
    void expect_per_row(const char* what, const Ids& of_q, const Ids& of_k) const;

    struct Distances {
        std::int64_t lowest = 0, highest = -1;
    };
    // Of visible pairs; with positions given, of all pairs of a group.
    Distances distances(const RowPositions& positions) const;
};

class BoundScore {
public:
    // The tensors that get a gradient, in the order kernels lay theirs out.
    explicit BoundScore(std::vector<Tensor> parameters) : parameters_(std::move(parameters)) {}
    virtual ~BoundScore() = default;
    BoundScore(const BoundScore&) = delete;
    BoundScore& operator=(const BoundScore&) = delete;

    const std::vector<Tensor>& parameters() const { return parameters_; }
    bool wanted_by(const Gradients& d) const;

    virtual kernels::AttentionScore kernel() const = 0;

    // Gives the parameters' gradient as kernels lay it out, [heads, size], to the tensors it
    // belongs to: the rows of one after those of the other, dk numbers of each head, unless a score
    // says otherwise.
    virtual void scatter_gradients(const Tensor& dparameters, Gradients& d) const;
    // Where the gradient of a parameter [nq, heads] goes, of scores that have one.
    virtual kernels::GradientView row_gradient(Gradients&) const { return {}; }

    // Are the weights multiplied after the softmax? Then by what, for a key's logical index.
    virtual bool has_factor() const { return false; }
    virtual float factor(int, std::int64_t /*row*/, std::int64_t /*index*/) const { return 1; }

private:
    std::vector<Tensor> parameters_;
};

// Scores that need nothing beyond their kernel's struct.
template <class Kernel>
class PlainBoundScore final : public BoundScore {
public:
    PlainBoundScore(std::vector<Tensor> parameters, const Kernel& kernel)
        : BoundScore(std::move(parameters)), kernel_(kernel) {}
    kernels::AttentionScore kernel() const override { return kernel_; }

private:
    Kernel kernel_;
};

inline kernels::Positions view_of(const RowPositions& p) {
    return {p.q.empty() ? nullptr : p.q.data(), p.k.empty() ? nullptr : p.k.data()};
}

}  // namespace fovea
