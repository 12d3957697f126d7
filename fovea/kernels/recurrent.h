#pragma once
// Gated recurrent cells over packed sequences. The sequences that are still alive take each step of
// time together: one product of their states with the recurrent weights (kept packed), then the
// gates, value by value. A sequence's numbers never depend on its neighbours.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/view.h"
#include "fovea/kernels/gemm/pack.h"

namespace fovea::kernels {

// Packed rows by time. Sequences are ordered by length, the longest first (of equals, the first):
// those alive at a step are the first ones of that order, so that the states of a step are a block
// of rows, and the states a step begins from are the first rows of the block before.
struct TimeSteps {
    TimeSteps(std::span<const std::int64_t> offsets, bool backwards);

    std::int64_t steps() const { return static_cast<std::int64_t>(first.size()) - 1; }
    std::int64_t alive(std::int64_t t) const { return at(first, t + 1) - at(first, t); }
    std::int64_t total() const { return first.back(); }
    // The packed row of the i-th sequence in order at step t.
    std::int64_t row(std::int64_t i, std::int64_t t) const {
        return backwards ? at(ends, i) - 1 - t : at(begins, i) + t;
    }

    std::vector<std::int64_t> order;         // sequences, longest first
    std::vector<std::int64_t> begins, ends;  // packed rows of each, in that order
    std::vector<std::int64_t> first;         // of each step's block of rows, and their sum
    bool backwards;

private:
    static std::int64_t at(const std::vector<std::int64_t>& v, std::int64_t i) {
        return v[static_cast<std::size_t>(i)];
    }
};

// Rows "by time" are in the order of TimeSteps, the others packed. A state is h, or h | c.
struct RecurrentForward {
    ConstView x;             // [rows, gates·h], packed: what the input says to each gate
    const PackedMatrix* w;   // W' [h, gates·h]
    ConstView bias;          // gates·h values, or nothing
    ConstView start;         // [sequences, state]; nothing: zeros
    View y;                  // [rows, state], packed: the state after each row
    View before;             // [rows, state], by time: the state before each row
    float* gates = nullptr;  // [rows, 4 h], by time: what backward reads; null: not wanted
};

struct RecurrentBackward {
    const PackedMatrix* w;  // W [gates·h, h]
    ConstView y, before;    // as forward left them
    const float* gates = nullptr;
    ConstView dy;  // [rows, state], packed
    View dx;       // [rows, gates·h], packed
    View dz;       // [rows, gates·h], by time: gradient of h W' + bias
    View dstart;   // [sequences, state] in order; alive at no step: zeros
};

void gru_forward(const TimeSteps& time, const RecurrentForward& to);
void gru_backward(const TimeSteps& time, const RecurrentBackward& to);
void lstm_forward(const TimeSteps& time, const RecurrentForward& to);
void lstm_backward(const TimeSteps& time, const RecurrentBackward& to);

}  // namespace fovea::kernels
