#pragma once
// How a recurrent decoder looks at its source: which positions it may see, how they are scored, and
// what is made of the scores. One value for each mechanism, chosen by its name (--attention,
// --score); docs/attention.md has the equations side by side.
//
//   none         the decoder knows the source by its last state alone (Sutskever et al. 2014)
//   global       a mixture of all positions (Bahdanau et al. 2015, Luong et al. 2015)
//   hard         one position (Xu et al. 2015): the heaviest; in training a drawn one, straight
//                through
//   window:w     the 2 w + 1 positions around the decoder's own step (Luong's local-m)
//   local-p:w    around a predicted centre, weighted by a Gaussian of σ = w / 2 (Luong's local-p)
//   expanded:w,m the window, and m means over growing spans on each side (nn/expanded_window.h)
//   hybrid:w     global and window together, joined by a learned gate for each head;
//   hybrid:w,g   by the fixed weight g of the global part
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>
#include <span>
#include <string>

#include "fovea/nn/asking_rows.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/attention/attention.h"

namespace fovea {

enum class SourceView { none, global, hard, window, local_p, expanded, hybrid };
enum class SourceScore { dot, scaled, general, additive, two_term };

struct RnnAttentionChoice {
    SourceView view = SourceView::global;
    int window = 0, summaries = 0;         // w and m
    std::optional<float> global_weight{};  // hybrid: g; none: learned
    SourceScore score = SourceScore::general;

    // Both as they are written above; wrong ones are usage errors that show the way.
    static RnnAttentionChoice parse(const std::string& attention, const std::string& score);
    std::string attention_name() const;
    std::string score_name() const;
};

// The source as attention reads it: prepared once for all steps of a decoder.
struct PreparedSource {
    Tensor k, v;
    Segments segments;
    std::optional<ExpandedWindow> expanded;
};

class RnnAttention {
public:
    RnnAttention(const RnnAttentionChoice& choice, int width, int heads, const Params& p);

    PreparedSource prepare(const Tensor& memory, const Segments& segments) const;
    // q [rows, width] -> contexts [rows, width].
    Tensor operator()(const Tensor& q, const AskingRows& at, const PreparedSource& source) const;

    // What a Probe knows it by; of a hybrid, its global part.
    std::string name() const {
        return choice_.view == SourceView::hybrid ? name_ + ".global" : name_;
    }
    const RnnAttentionChoice& choice() const { return choice_; }

private:
    AttentionOptions options(const std::string& part = "") const;
    Tensor key_of(const Tensor& memory) const;
    Tensor of_head(const Tensor& per_head) const;
    Tensor around_centre(const Tensor& q, const Tensor& query, const AskingRows& at,
                         const PreparedSource& source) const;
    Tensor joined(const Tensor& q, const Tensor& query, const AskingRows& at,
                  const PreparedSource& source) const;

    RnnAttentionChoice choice_;
    int width_, heads_;
    std::string name_;
    std::optional<Linear> q_proj_, k_proj_, v_proj_;  // as the score wants them
    Tensor score_vector_;                             // additive: w
    Tensor a_, b_;                                    // two-term
    std::optional<Linear> centre_, gate_;
    Tensor centre_vector_;
    Tensor columns_of_heads_;  // [width, heads]: 1 where the column is the head's
};

}  // namespace fovea
