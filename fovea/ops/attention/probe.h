#pragma once
// A scope that attention reports to (as ops report to a Tape): it keeps queries, keys, visibility
// and score of each call on its thread, and rebuilds any head's softmax map when asked. The fast
// kernel stays untouched; with no probe alive an op asks one thread_local pointer.
//
//     Probe probe;
//     model(tokens, segments);
//     const Ragged map = probe.map(3, 0);  // the fourth attention of the model, head 0
//
// Maps hold what the op computed on: tensors are kept alive, not copied.
#include <memory>
#include <string>
#include <vector>

#include "fovea/tensor/ragged.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

class AttentionPlan;

class Probe {
public:
    Probe();
    ~Probe();
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    std::size_t count() const { return calls_.size(); }  // attentions seen so far, in order
    const std::string& name(std::size_t call) const;     // AttentionOptions::name
    int heads(std::size_t call) const;
    const Visibility& visibility(std::size_t call, int head = 0) const;

    // One row for each query row: its weights over the keys it sees, in logical order. They sum to
    // 1 (but a Gaussian's, which are not normalised again). Dropout is not part of it.
    Ragged map(std::size_t call, int head) const;

    void clear() { calls_.clear(); }

private:
    friend void report_to_probe(const std::shared_ptr<const AttentionPlan>& plan);
    struct Call {
        std::string name;
        std::shared_ptr<const AttentionPlan> plan;
    };
    const AttentionPlan& plan(std::size_t call) const;

    std::vector<Call> calls_;
    Probe* outer_;
};

// For attention's ops.
void report_to_probe(const std::shared_ptr<const AttentionPlan>& plan);

}  // namespace fovea
