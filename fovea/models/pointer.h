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

struct PointerHead {
    PointerHead(CopyMode mode, int width, const Params& p);

    Tensor keys(const Tensor& memory) const { return k_proj(memory); }
    // Vinyals et al. 2015, eq. 3:  u_j = vᵀ tanh(W₁ e_j + W₂ d), over the row's own source;
    // and the gate of writing, σ(w d + b). `written` are the vocabulary's logits of the rows.
    CopyChoice operator()(const Tensor& rows, const Tensor& keys, const CopySources& from,
                          const Tensor& written) const;

    CopyMode mode;
    std::string name;
    Linear q_proj, k_proj, gate;
    Tensor score_vector;
};

}  // namespace fovea
