#pragma once
// How a score is computed: one struct per formula, chosen in AttentionOptions::score. Luong's
// "general" score is a linear layer on q before ScaledDot; Bahdanau's W q and U k are linear layers
// before Additive. Adding one: the recipe in CONTRIBUTING.md.
#include <functional>
#include <memory>
#include <variant>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// What each score makes of one call of attention (bound_score.h, for scores and attention alone).
class BoundScore;
struct ScoreCall;
using ScoreBinding = std::shared_ptr<const BoundScore>;

// s = scale q·k                                              Vaswani et al. 2017
struct ScaledDot {
    ScoreBinding bind(const ScoreCall& call) const;
};

// Scores by distance count position of the query - position of the key. Positions are those in the
// logical key list (memory first, then the segment); rows stored in another order (XLNet's
// factorisation order) bring theirs along, one for each packed row.
struct RowPositions {
    Ids q{}, k{};  // both empty: the order of the list
};

// s = scale ((q + u)·k + (q + v)·r[distance - first])        Dai et al. 2019, Yang et al. 2019
struct RelativeDot {
    Tensor u, v;  // [heads·dk]
    Tensor r;     // [distances, heads·dk]: row t is the (projected) encoding of first + t
    std::int64_t first = 0;  // must cover every distance between a row and a key it sees (with
                             // positions given: between any row and key of a sequence)
    RowPositions positions{};

    ScoreBinding bind(const ScoreCall& call) const;
};

// scale ((q + u)·k + (q + v)·r[distance - first] + (q + s)·e[t]), t = 0 where query and key are of
// one segment, 1 where they are not                          Yang et al. 2019, §2.5
struct RelativeSegmentDot {
    RelativeDot relative;
    Tensor s;  // [heads·dk]
    Tensor e;  // [2, heads·dk]
    Ids q, k;  // the segment of each packed row of q and of k

    ScoreBinding bind(const ScoreCall& call) const;
};

// s = scale q·k + factor · table[entry][head], entry and factor given by the distance.
struct BiasedDot {
    struct Entry {
        std::int64_t row = 0;
        float factor = 1;
    };
    Tensor table;  // [entries, heads]
    std::function<Entry(std::int64_t distance)> entry;
    RowPositions positions{};

    // T5's buckets (Raffel et al. 2020): exact for small distances, logarithmic up to
    // max_distance. table [buckets, heads]. T5 itself does not scale: give scale = 1.
    static BiasedDot t5(const Tensor& table, bool bidirectional, std::int64_t max_distance = 128);
    // ALiBi (Press et al. 2022): -slope · |distance|, slopes 2^(-8 h / heads), h = 1 … heads (and
    // the paper's interleaving where heads is no power of two).
    static BiasedDot alibi(int heads);

    ScoreBinding bind(const ScoreCall& call) const;
};

// s = Σₑ w[e] tanh(q[e] + k[e]); no scale                    Bahdanau et al. 2015
struct Additive {
    Tensor w;  // [heads·dk]

    ScoreBinding bind(const ScoreCall& call) const;
};

// s = scale q·k, and after the softmax each weight times exp(-(j - centre)² / 2σ²), not normalised
// again; j is the key's logical index                        Luong et al. 2015, local-p, σ = D / 2
struct Gaussian {
    Tensor centres;  // [nq, heads]
    float sigma = 1;

    ScoreBinding bind(const ScoreCall& call) const;
};

// All of them, and the only list: attention, the probe and the tests of every score follow it.
using Score =
    std::variant<ScaledDot, RelativeDot, RelativeSegmentDot, BiasedDot, Additive, Gaussian>;

}  // namespace fovea
