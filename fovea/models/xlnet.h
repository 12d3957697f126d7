#pragma once
// XLNet (Yang et al. 2019): Transformer-XL's relative positions and memory (Dai et al. 2019), and
// two streams of rows through the same layers. The content stream h knows its own token, the query
// stream g only its place; a token is predicted from g, in any order of factorisation. Parameter
// names are those of Hugging Face's XLNet.
//
// All sequences of a batch lie end to end: there is no padding.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>
#include <vector>

#include "fovea/models/text_encoder.h"
#include "fovea/models/xlnet_config.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/params.h"
#include "fovea/ops/attention/attention.h"

namespace fovea {

// What each layer read of the segment before. Nothing is kept between batches: Xlnet::remember
// computes it when it is wanted.
using XlnetMemory = RowMemory;

struct XlnetContext {
    XlnetMemory memory{};
    bool left_to_right = false;  // a row sees the memory, the rows before it and itself
};

// The order in which tokens are predicted (§2.2), and how many are (§2.3: the last of the order;
// those before them see each other, and are seen by all).
struct XlnetOrder {
    Ids order;                            // of each sequence: its positions 0 … n-1
    std::vector<std::int64_t> predicted;  // of each sequence: so many of the last are targets

    // Every token from those before it; the first `given` of a sequence are not predicted.
    static XlnetOrder left_to_right(const Segments& segments, std::int64_t given = 0);

    Segments targets(const Segments& segments) const;                      // their rows, packed
    Ids target_tokens(const Ids& tokens, const Segments& segments) const;  // in the order's order
};

// What query rows bring to attention: whom they see, and where they stand (positions may be left
// empty: the order of the rows; types: no segments).
struct XlnetStream {
    Visibility sees;
    Ids positions{}, types{};
};

// The same of the rows that are looked at, and the sinusoids of all distances that there are.
struct XlnetPlaces {
    Ids positions{}, types{};
    std::int64_t first = 0;  // the distance of row 0 of `distances`
    Tensor distances;        // [count, d_model]
};

// Relative attention, §2.5 and appendix A.2, with the norm behind it (post-norm):
//   s = ((q + r_w)·k + (q + r_r)·W_r R_{i-j} + (q + r_s)·e_{segments differ}) / √d_k
struct XlnetAttention {
    XlnetAttention(const XlnetConfig& c, const Params& p);

    // What both streams look at; computed once for both.
    struct Keys {
        Tensor k, v, r;
    };
    Keys keys(const Tensor& rows, const XlnetPlaces& places) const;
    Tensor operator()(const Tensor& x, const Keys& keys, const XlnetStream& stream,
                      const XlnetPlaces& places) const;

    int heads;
    float p_drop;
    std::string name;
    Tensor q, k, v, r;                    // [heads·dk, d]; in the file [d, heads, dk]
    Tensor o;                             // [d, heads·dk]
    Tensor r_w_bias, r_r_bias, r_s_bias;  // [heads·dk]
    Tensor seg_embed;                     // [2, heads·dk]: of one segment, of two
    LayerNorm layer_norm;
};

struct XlnetFeedForward {
    XlnetFeedForward(const XlnetConfig& c, const Params& p);
    Tensor operator()(const Tensor& x) const;

    Linear layer_1, layer_2;
    LayerNorm layer_norm;
    Act act;
    float p_drop;
};

struct XlnetLayer {
    XlnetLayer(const XlnetConfig& c, const Params& p)
        : rel_attn(c, p / "rel_attn"), ff(c, p / "ff") {}
    Tensor operator()(const Tensor& x, const XlnetAttention::Keys& keys, const XlnetStream& stream,
                      const XlnetPlaces& places) const {
        return ff(rel_attn(x, keys, stream, places));
    }

    XlnetAttention rel_attn;
    XlnetFeedForward ff;
};

struct Xlnet {
    Xlnet(const XlnetConfig& c, const Params& p);

    // The content stream: [total, d_model]. batch.types: the segments A, B, … of §2.5, or empty.
    Tensor operator()(const TokenBatch& batch, const XlnetContext& context = {}) const;

    // The memory that these rows leave to the segment that follows.
    XlnetMemory remember(const TokenBatch& before, const XlnetContext& context = {}) const;

    // The query stream's rows of the targets, [targets, d_model], in the order's order
    // (xlnet_two_stream.cpp). `remembered`, if given: what the layers read of the batch itself.
    Tensor target_rows(const TokenBatch& batch, const XlnetOrder& order,
                       const XlnetMemory& memory = {}, XlnetMemory* remembered = nullptr) const;

    XlnetConfig config;
    Tensor word_embedding;  // [V, d]
    Tensor mask_emb;        // [1, d]: what the query stream begins with
    std::vector<XlnetLayer> layer;

private:
    Tensor content(const TokenBatch& batch, const XlnetContext& context, XlnetMemory* memory) const;
    XlnetPlaces places(const Segments& rows, const Segments& memory) const;
    void check(const TokenBatch& batch, const XlnetMemory& memory) const;
};

// The language model: the vocabulary's scores from rows of either stream, tied to the embedding.
struct XlnetLm {
    XlnetLm(const XlnetConfig& c, const Params& p);

    Tensor logits(const Tensor& rows) const {
        return linear(rows, transformer.word_embedding, bias);
    }
    // Mean cross-entropy of the targets (§2.3). With XlnetOrder::left_to_right a plain
    // left-to-right language model; `memory` is the segment before, if there is one.
    Tensor loss(const TokenBatch& batch, const XlnetOrder& order,
                const XlnetMemory& memory = {}) const;

    Xlnet transformer;
    Tensor bias;  // [V]
};

// XLNet as a text encoder (xlnet_encoder.cpp): the rows of the content stream, which look both
// ways.
struct XlnetEncoder {
    static constexpr const char* model_type = "xlnet";
    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules();
    static std::string architecture(Head head);
    static constexpr HeadParameters heads[] = {{"lm_loss.*"},
                                               {"sequence_summary.**"},
                                               {"logits_proj.*"},
                                               {"classifier.*"},
                                               {"qa_outputs.*"}};
};

}  // namespace fovea
