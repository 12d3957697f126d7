// How much a text's end learns of what lies far behind it:  gradient_reach
//
// A loss at the last of 513 rows, and the length of its gradient at the row d places before,
// |∂ loss / ∂ x_{n−d}|, for readers that have learnt nothing yet: a recurrence must carry it
// through every step between, attention takes it there at once.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/models/transformer.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/lstm.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/rows/concat.h"

using fovea::Params;
using fovea::Segments;
using fovea::Tensor;

static constexpr int width = 64, rows = 513, seeds = 8;
static const std::vector<int> distances = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};

// Row of the end, [1, columns], of a text x [rows, width].
using Reader = std::function<Tensor(const Tensor& x, const Params& p)>;

static Tensor end_of(const Tensor& x) { return fovea::slice_rows(x, x.rows() - 1, x.rows()); }

static Tensor recurrent(const fovea::RecurrentCell& cell, const Tensor& x, const Params& p) {
    return fovea::Recurrent(cell, width, width, p)(x, Segments::of_lengths({x.rows()}));
}

// Luong et al. 2015: the last state asks all states.
static Tensor with_attention(const Tensor& x, const Params& p) {
    const Tensor states = recurrent(fovea::gru_cell, x, p), q = end_of(states);
    const Segments one = Segments::of_lengths({1}), all = Segments::of_lengths({x.rows()});
    const Tensor c = fovea::attention(q, states, states, 1, fovea::everything(one, all));
    return fovea::linear(fovea::concat_cols({c, q}),
                         p.get("output", {width, 2 * width}, fovea::xavier()), {},
                         fovea::Act::tanh);
}

static Tensor transformer(const Tensor& x, const Params& p) {
    fovea::TransformerConfig c;
    c.d_model = width;
    c.encoder_attention_heads = 4;
    c.encoder_ffn_dim = 4 * width;
    c.dropout = 0;
    const Segments all = Segments::of_lengths({x.rows()});
    Tensor h = x + fovea::position_code(all, width, fovea::PositionCode::sinusoidal);
    for (int i = 0; i < 2; ++i)
        h = fovea::EncoderLayer(c, p / i)(h, all, fovea::everything(all, all));
    return end_of(h);
}

// The gradient's length at each distance, over the seeds (the mean of logarithms).
static std::vector<double> reach(const Reader& read) {
    std::vector<double> sums(distances.size());
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        fovea::ParameterStore store;
        fovea::Rng rng(seed);
        Tensor text({rows, width}), direction({1, width});
        fovea::normal(1.0f)(text, rng);
        fovea::normal(1.0f)(direction, rng);
        fovea::Tape tape;
        const Tensor x = tape.watch(text);
        const Tensor y = read(x, Params(store, rng));
        const Tensor d = tape.gradients(y, direction)[x];
        for (std::size_t i = 0; i < distances.size(); ++i) {
            double squares = 0;
            for (int j = 0; j < width; ++j)
                squares += std::pow(double{d.at(rows - 1 - distances[i], j)}, 2);
            sums[i] += 0.5 * std::log(squares) / seeds;  // −∞ where nothing is left of it
        }
    }
    for (double& s : sums) s = std::exp(s);
    return sums;
}

int main() {
    const std::vector<std::pair<std::string, Reader>> readers = {
        {"GRU, its last state",
         [](const Tensor& x, const Params& p) { return end_of(recurrent(fovea::gru_cell, x, p)); }},
        {"LSTM, its last state",
         [](const Tensor& x, const Params& p) {
             return end_of(recurrent(fovea::lstm_cell, x, p));
         }},
        {"GRU with attention", with_attention},
        {"Transformer, 2 layers", transformer}};
    std::printf("%-24s", "| distance");
    for (const int d : distances) std::printf("| %7d ", d);
    std::printf("|\n|---");
    for (std::size_t i = 0; i < distances.size(); ++i) std::printf("|---");
    std::printf("|\n");
    for (const auto& [name, read] : readers) {
        std::printf("| %-22s", name.c_str());
        for (const double g : reach(read)) std::printf("| %7.1g ", g);
        std::printf("|\n");
    }
}
