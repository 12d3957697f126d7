#pragma once
// Copying from the source, for any decoder that looks at one: pointer networks (Vinyals et al.
// 2015), whose output is a place of the input, and pointer-generators (See et al. 2017), which
// choose between writing and copying. ops/loss/copy.h has the probabilities.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>

#include "fovea/nn/linear.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/loss/copy.h"

namespace fovea {

enum class CopyMode {
    none,
    mixed,  // words of the vocabulary or of the source
    only,   // words of the source: a pointer network
};
CopyMode copy_mode_of(const std::string& name);
const char* name_of(CopyMode mode);

// Which source each row of a decoder may copy from.
struct CopySources {
    Segments rows;                      // sequences of decoder rows …
    std::vector<std::int64_t> sources;  // … and the source of each
    const Segments& segments;           // of the sources
    const Ids& tokens;                  // at each place of the sources, as ids of the target

    static CopySources all(const Segments& targets, const Segments& segments, const Ids& tokens);
};

// What is known of the steps before: for each row that points, how much weight each place of its
// source has had (See et al. 2017, eq. 10).
struct Coverage {
    Tensor weights;  // [places of all rows, 1], row after row
    Segments rows;   // places of each

    static Coverage none(const CopySources& from);  // of first steps, one row each
};

struct PointerHead {
    // `covered`: scores know what was looked at before.
    PointerHead(CopyMode mode, int width, const Params& p, bool covered = false);

    Tensor keys(const Tensor& memory) const { return k_proj(memory); }
    // Vinyals et al. 2015, eq. 3:  u_j = vᵀ tanh(W₁ e_j + W₂ d), over the row's own source;
    // and the gate of writing, σ(w d + b). `written` are the vocabulary's logits of the rows.
    // A covered head takes the steps of its targets one after the other.
    CopyChoice operator()(const Tensor& rows, const Tensor& keys, const CopySources& from,
                          const Tensor& written) const;

    // One row each, of a covered head (See et al. 2017, eq. 11):
    //   u_j = vᵀ tanh(W₁ e_j + W₂ d + w_c c_j)      and then  c ← c + softmax(u)
    CopyChoice step(const Tensor& rows, const Tensor& keys, const CopySources& from,
                    const Tensor& written, Coverage& coverage) const;

    CopyMode mode;
    std::string name;
    Linear q_proj, k_proj, gate;
    Tensor score_vector;
    Tensor coverage_vector;  // w_c [width, 1]; empty: not covered

private:
    CopyChoice choice_of(const Ragged& scores, const Tensor& rows, const CopySources& from,
                         const Tensor& written) const;
    Ragged covered_step(const Tensor& queries, const Tensor& keys, const CopySources& from,
                        Coverage& coverage) const;
    Ragged covered_scores(const Tensor& queries, const Tensor& keys, const CopySources& from) const;
};

}  // namespace fovea
