#pragma once
// A scope that attention reports to (as ops report to a Tape): it keeps queries, keys, visibility
// and score of each call on its thread, and rebuilds any head's softmax map when asked. The fast
// kernel stays untouched; with no probe alive an op asks one thread_local pointer.
//
//     Probe probe;
//     model(tokens, segments);
//     const Ragged map = probe.map(probe.find("encoder.layers.3.self_attn"), 0);  // head 0
//
// Maps hold what the op computed on: tensors are kept alive, not copied.
#include <memory>
#include <string>
#include <string_view>
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
    std::vector<std::string> names() const;              // each once, in order of the first call
    // The calls of that name, in order (a module may be called twice: two streams, decoding).
    std::vector<std::size_t> calls_of(std::string_view name) const;
    // The only one; none or several are an error that lists the names.
    std::size_t find(std::string_view name) const;
    int heads(std::size_t call) const;
    const Visibility& visibility(std::size_t call, int head = 0) const;

    // One row for each query row: its weights over the keys it sees, in logical order. They sum to
    // 1 (but a Gaussian's, which are not normalised again). Dropout is not part of it.
    Ragged map(std::size_t call, int head) const;

    // The scores before the softmax: one row for each query row, over every key of its logical
    // list; -infinity where the row does not see the key.
    Ragged scores(std::size_t call, int head) const;

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

// Does anyone watch this thread? For models whose steps are many small calls.
bool probe_is_alive();

// For attention's ops.
void report_to_probe(const std::shared_ptr<const AttentionPlan>& plan);

}  // namespace fovea
