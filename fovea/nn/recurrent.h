#pragma once
// Stacks of recurrent layers, in one or both directions. Parameters are named as PyTorch names
// those of nn.GRU and nn.LSTM: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and with
// _reverse behind for the other direction. gru.h and lstm.h name the cells.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <cstdint>
#include <vector>

#include "fovea/nn/params.h"
#include "fovea/ops/recurrent.h"

namespace fovea {

// What a stack needs to know of a cell.
struct RecurrentCell {
    const char* name;
    int gates;  // rows of a weight, in widths
    int parts;  // of a state: h, or h | c
    Tensor (*run)(const Tensor& x, const Segments& segments, const RecurrentWeights& w,
                  const RecurrentOptions& options);
};

struct RecurrentShape {
    int layers = 1;
    bool bidirectional = false;
    float dropout = 0.0f;  // on the rows between layers; rows must be named (ops/dropout.h)
};

// States of a stack: for each layer and each direction of it (layer · directions + direction, as
// PyTorch's h_n) [sequences, parts · width]. Empty: all zeros.
using RecurrentStates = std::vector<Tensor>;

struct RecurrentResult {
    Tensor rows;  // [rows, directions · width]: the last layer's h, forwards then backwards
    RecurrentStates last;  // after each sequence's last row (backwards: after its first)
};

class Recurrent {
public:
    Recurrent(const RecurrentCell& cell, int in, int width, const Params& p,
              const RecurrentShape& shape = {});

    // The rows alone, every sequence from a state of zeros.
    Tensor operator()(const Tensor& x, const Segments& segments) const;
    // From given states, and with the last ones. A sequence of no rows keeps its start.
    RecurrentResult run(const Tensor& x, const Segments& segments,
                        const RecurrentStates& start = {}) const;
    // One step: x [n, in] continues the n sequences whose states these are, and moves them on.
    // The bits are those of the whole sequence in one call. Not for bidirectional stacks.
    Tensor step(const Tensor& x, RecurrentStates& states) const;

    const RecurrentCell& cell() const { return cell_; }
    int width() const { return width_; }
    int directions() const { return shape_.bidirectional ? 2 : 1; }
    int layers() const { return shape_.layers; }
    int out() const { return directions() * width_; }
    // Which layer a parameter's name is of, by its ending; −1: none.
    static int layer_of(const std::string& name);

private:
    struct Weights {
        Tensor weight_ih, bias_ih;
        RecurrentWeights recurrent;
    };

    Tensor hidden(const Tensor& state) const;  // the first `width` columns
    // All states of a layer's rows, one for each direction.
    std::vector<Tensor> layer_rows(int layer, const Tensor& x, const Segments& segments,
                                   const RecurrentStates& start) const;
    Tensor joined(const std::vector<Tensor>& states) const;

    RecurrentCell cell_;
    int width_;
    RecurrentShape shape_;
    std::vector<Weights> weights_;  // layer · directions + direction
};

}  // namespace fovea
