#pragma once
// How the attentions of a Transformer's layers look, one word each (--attention, --cross-attention,
// --decoder-attention), for all layers or layer by layer: "window:64,window:64,global". Row p of a
// sequence of n rows sees
//
//                 encoder                    decoder (its past)   source, at step t
//   global        everything                 0 … p                everything
//   window:w      p − w … p + w              p − w … p            around min(t, n − 1), ± w
//   expanded:w,m  the window, and m means on  —                   the same around min(t, n − 1)
//                 each side (expanded_window.h)
//   hybrid:w,g    the window and the first g  the same, of its    the window and the first g rows
//                 rows, which see everything  past
//                 (Beltagy et al. 2020)
//   hard          one place of global's: the heaviest; in training a drawn one, straight through
//
// hybrid:w is hybrid:w,1. Whether a decoder's step or its whole target is read changes no bit.
// Thread-safety: plain values and pure functions.
#include <span>
#include <string>
#include <vector>

#include "fovea/nn/asking_rows.h"
#include "fovea/nn/sight.h"

namespace fovea {

enum class LayerView { global, window, expanded, hybrid, hard };

struct AttentionKind {
    LayerView view = LayerView::global;
    int window = 0;     // w
    int summaries = 0;  // m
    int tokens = 0;     // g

    bool operator==(const AttentionKind&) const = default;
    std::string name() const;
};

// The kinds of a model's layers; empty: all global. Wrong words are usage errors about `flag`.
using LayerKinds = std::vector<AttentionKind>;
LayerKinds parse_attention(const std::string& text, const std::string& flag);
// One for each layer: one word stands for all of them. Another number of words is an error.
LayerKinds for_layers(const LayerKinds& kinds, int layers, const std::string& flag);
std::string name_of(const LayerKinds& kinds);
bool all_global(const LayerKinds& kinds);
bool any_is(const LayerKinds& kinds, LayerView view);

// Means of the rows of sequences, where the kind has any; else null.
SharedMeans means_of(const AttentionKind& kind, const Segments& segments);

// Rows that look at their own sequence, both ways.
Sight own_sight(const AttentionKind& kind, const Segments& segments);
// Rows that look back. `past`: all that each may see at most, itself the last (past() of whole
// sequences or of a cache).
Sight past_sight(const AttentionKind& kind, const Visibility& past);
// Rows of a decoder that look at their source. `means` are means_of(kind, source).
Sight source_sight(const AttentionKind& kind, const AskingRows& at, const Segments& source,
                   const SharedMeans& means, const SourceReading& reading = {});

// make(kind, layer) for each layer; layers of one kind share what is made.
template <class Make>
auto for_each_kind(const LayerKinds& kinds, Make&& make) {
    std::vector<decltype(make(kinds[0], std::size_t{0}))> made;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        std::size_t same = 0;
        while (!(kinds[same] == kinds[i])) ++same;
        made.push_back(same < i ? made[same] : make(kinds[i], i));
    }
    return made;
}

}  // namespace fovea
