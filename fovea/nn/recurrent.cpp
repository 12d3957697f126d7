#include "fovea/nn/recurrent.h"

#include <charconv>
#include <cmath>

#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// The state each sequence ends with. Rows of `y` and of `start` (for sequences of no rows).
Tensor last_states(const Tensor& y, const Segments& segments, const Tensor& start, bool backwards) {
    Ids rows;
    bool all = true;
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        if (segments.length(s) == 0) all = false;
        const std::int64_t last = backwards ? segments.begin(s) : segments.end(s) - 1;
        rows.push_back(
            static_cast<std::int32_t>(segments.length(s) == 0 ? segments.total() + s : last));
    }
    if (all) return gather_rows(y, rows);
    return gather_rows(
        concat_rows({y, start.empty() ? Tensor::zeros({segments.count(), y.cols()}) : start}),
        rows);
}

}  // namespace

Recurrent::Recurrent(const RecurrentCell& cell, int in, int width, const Params& p,
                     const RecurrentShape& shape)
    : cell_(cell), width_(width), shape_(shape) {
    expect(in > 0 && width > 0 && shape.layers > 0, cell.name, ": ", shape.layers, " layers of ",
           width, " over ", in, " columns");
    // Glorot & Bengio's bound is for matrices that stand alone; PyTorch draws all parameters of a
    // recurrent layer within 1 / √width.
    const Init init = uniform(1.0f / std::sqrt(static_cast<float>(width)));
    const std::int64_t rows = std::int64_t{cell.gates} * width;
    for (int layer = 0; layer < shape.layers; ++layer)
        for (int direction = 0; direction < directions(); ++direction) {
            const std::string tail =
                "_l" + std::to_string(layer) + (direction == 1 ? "_reverse" : "");
            const std::int64_t below = layer == 0 ? in : out();
            weights_.push_back({.weight_ih = p.get("weight_ih" + tail, {rows, below}, init),
                                .bias_ih = p.get("bias_ih" + tail, {rows}, init),
                                .recurrent = {p.get("weight_hh" + tail, {rows, width}, init),
                                              p.get("bias_hh" + tail, {rows}, init)}});
        }
}

Tensor Recurrent::hidden(const Tensor& state) const {
    return cell_.parts == 1 ? state : slice_cols(state, 0, width_);
}

std::vector<Tensor> Recurrent::layer_rows(int layer, const Tensor& x, const Segments& segments,
                                          const RecurrentStates& start) const {
    std::vector<Tensor> states;
    for (int direction = 0; direction < directions(); ++direction) {
        const auto i = static_cast<std::size_t>(layer) * static_cast<std::size_t>(directions()) +
                       static_cast<std::size_t>(direction);
        const Weights& w = weights_[i];
        states.push_back(
            cell_.run(linear(x, w.weight_ih, w.bias_ih), segments, w.recurrent,
                      {.start = start.empty() ? Tensor() : start[i], .backwards = direction == 1}));
    }
    return states;
}

Tensor Recurrent::joined(const std::vector<Tensor>& states) const {
    if (states.size() == 1) return hidden(states[0]);
    return concat_cols({hidden(states[0]), hidden(states[1])});
}

Tensor Recurrent::operator()(const Tensor& x, const Segments& segments) const {
    Tensor rows = x;
    for (int layer = 0; layer < shape_.layers; ++layer) {
        if (layer > 0) rows = dropout(rows, shape_.dropout);
        rows = joined(layer_rows(layer, rows, segments, {}));
    }
    return rows;
}

RecurrentResult Recurrent::run(const Tensor& x, const Segments& segments,
                               const RecurrentStates& start) const {
    expect(start.empty() || start.size() == weights_.size(), cell_.name, ": ", start.size(),
           " states for ", shape_.layers, " layers in ", directions(), " directions");
    RecurrentResult result{x, {}};
    for (int layer = 0; layer < shape_.layers; ++layer) {
        if (layer > 0) result.rows = dropout(result.rows, shape_.dropout);
        const std::vector<Tensor> states = layer_rows(layer, result.rows, segments, start);
        for (std::size_t d = 0; d < states.size(); ++d)
            result.last.push_back(last_states(
                states[d], segments, start.empty() ? Tensor() : start[result.last.size()], d == 1));
        result.rows = joined(states);
    }
    return result;
}

Tensor Recurrent::step(const Tensor& x, RecurrentStates& states) const {
    expect(!shape_.bidirectional, cell_.name, ": a bidirectional stack reads whole sequences");
    expect(states.size() == weights_.size(), cell_.name, ": ", states.size(), " states for ",
           shape_.layers, " layers");
    const Segments segments = Segments::uniform(x.rows(), 1);
    Tensor rows = x;
    for (int layer = 0; layer < shape_.layers; ++layer) {
        if (layer > 0) rows = dropout(rows, shape_.dropout);
        Tensor& state = states[static_cast<std::size_t>(layer)];
        state = layer_rows(layer, rows, segments, states)[0];
        rows = hidden(state);
    }
    return rows;
}

int Recurrent::layer_of(const std::string& name) {
    const std::size_t at = name.rfind("_l");
    if (at == std::string::npos) return -1;
    int layer = -1;
    std::from_chars(name.data() + at + 2, name.data() + name.size(), layer);
    return layer;
}

}  // namespace fovea
