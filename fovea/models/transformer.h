#pragma once
// The encoder-decoder Transformer of "Attention Is All You Need" (Vaswani et al. 2017), under the
// parameter names of Hugging Face's Marian and BART.
//
// All sequences of a batch lie end to end ([total_tokens, d] and Segments): there is no padding.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fovea/models/text_encoder.h"
#include "fovea/models/transformer_config.h"
#include "fovea/nn/kv_cache.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/multi_head_attention.h"
#include "fovea/nn/params.h"
#include "fovea/nn/self_attention.h"

namespace fovea {

// Position-wise feed-forward, §3.3:  FFN(x) = max(0, x W₁ + b₁) W₂ + b₂.
struct FeedForward {
    FeedForward(int width, int inner, Act activation, float drop, const Params& p)
        : fc1(width, inner, p / "fc1"),
          fc2(inner, width, p / "fc2"),
          act(activation),
          p_drop(drop) {}

    Tensor operator()(const Tensor& x) const;

    Linear fc1, fc2;
    Act act;
    float p_drop;
};

// One residual step, §3.1 and §5.4:  LayerNorm(x + Dropout(f(x))); pre-norm: x + Dropout(f(LN(x))).
struct Residual {
    Residual(const TransformerConfig& c, const Params& p)
        : norm(c.d_model, p, c.layer_norm_eps), p_drop(c.dropout), before(c.normalize_before) {}

    Tensor operator()(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) const;

    LayerNorm norm;
    float p_drop;
    bool before;
};

struct EncoderLayer {
    EncoderLayer(const TransformerConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Segments& segments, const Sight& sees) const;

    SelfAttention self_attn;
    Residual self_attn_layer_norm;
    FeedForward feed_forward;
    Residual final_layer_norm;
};

struct DecoderLayer {
    using Attend = std::function<Tensor(const Tensor& x)>;

    DecoderLayer(const TransformerConfig& c, const Params& p);
    // How x looks at the target so far and at the source: over whole sequences or over a cache.
    Tensor operator()(const Tensor& x, const Attend& self, const Attend& cross) const;

    SelfAttention self_attn;
    Residual self_attn_layer_norm;
    MultiHeadAttention encoder_attn;
    Residual encoder_attn_layer_norm;
    FeedForward feed_forward;
    Residual final_layer_norm;
};

// Token and position: embedding · √d + position, then (BART) a norm, then dropout.
struct TokenEmbedding {
    TokenEmbedding(const TransformerConfig& c, const Tensor& table, const Params& p);
    // `at` is where each sequence begins (0 unless decoding step by step); `lengths`, for the unit
    // position code: the n of each sequence.
    Tensor operator()(const Ids& tokens, const Segments& segments, const Positions& at = {},
                      std::span<const std::int64_t> lengths = {}) const;

    TransformerConfig config;
    Tensor embed_tokens;
    Tensor embed_positions;  // learned code only
    std::optional<LayerNorm> layernorm_embedding;
};

struct Encoder {
    Encoder(const TransformerConfig& c, const Tensor& table, const Params& p);
    Tensor operator()(const Ids& tokens, const Segments& segments) const;

    TokenEmbedding embedding;
    std::vector<EncoderLayer> layers;
    LayerKinds kinds;                     // of each layer
    bool reads_ahead;                     // false: left to right, for wait-k reading
    std::optional<LayerNorm> layer_norm;  // pre-norm only
};

// What decoding keeps between steps: keys and values of every layer, of the target and the source
// (with the means that a layer puts behind them).
struct DecoderCache {
    std::vector<KvCache> self;
    std::vector<Tensor> source_k, source_v;
    std::vector<SharedMeans> means;
    Segments source;
};

// The next rows of hypotheses: `fresh` (mostly one row each), the first at positions `at`. `past`
// (over the cache) says which rows are a hypothesis' history, sources[i] which source it has.
struct NextRows {
    const Ids& tokens;
    const Segments& fresh;
    const Positions& at;
    const Visibility& past;
    const std::vector<std::int64_t>& sources;
};

struct Decoder {
    Decoder(const TransformerConfig& c, const Tensor& table, const Params& p);

    // Teacher forcing: row i sees its own sequence up to i and its source, as the layers' kinds
    // say.
    Tensor operator()(const Ids& tokens, const Segments& segments, const Tensor& memory,
                      const Segments& source) const;

    DecoderCache start(const Tensor& memory, const Segments& source) const;

    // Their keys join the cache as one block of rows.
    Tensor step(const NextRows& next, DecoderCache& cache) const;

    TokenEmbedding embedding;
    std::vector<DecoderLayer> layers;
    LayerKinds self_kinds, source_kinds;  // of each layer
    SourceReading reading;
    std::optional<LayerNorm> layer_norm;

private:
    // What the rows see, layer by layer: of their past, and of their sources.
    std::vector<Sight> past_sights(const Visibility& past) const;
    std::vector<Sight> source_sights(const AskingRows& at, const Segments& source,
                                     const std::vector<SharedMeans>& means) const;
    std::vector<SharedMeans> means(const Segments& source) const;
};

struct Transformer {
    Transformer(const TransformerConfig& c, const Params& p);

    Tensor encode(const Ids& source, const Segments& segments) const {
        return encoder(source, segments);
    }
    static std::span<const NameRule> rules() { return {}; }

    // Scores over the vocabulary, [rows, V], for rows of the decoder's output.
    Tensor logits(const Tensor& hidden) const;

    struct Loss {
        float smoothing = 0.0f;
    };
    // Mean over target tokens of the cross-entropy of predicting `labels` (§5.4: smoothed).
    // `input` is the target shifted right: it begins with decoder_start_token_id.
    Tensor loss(const Ids& source, const Segments& source_segments, const Ids& input,
                const Ids& labels, const Segments& target_segments, const Loss& options) const;

    TransformerConfig config;
    Tensor shared;         // the embedding of source (and, if shared, target) tokens
    Tensor decoder_table;  // the target's embedding; the same handle where shared
    Encoder encoder;
    Decoder decoder;
    Tensor lm_head;      // [V, d]; the same handle as decoder_table where tied
    Tensor logits_bias;  // [V] or empty
};

// The encoder on its own, as a text encoder (transformer_encoder.cpp): the same blocks, the same
// parameter names.
struct TransformerEncoder {
    static constexpr const char* model_type = "fovea_transformer_encoder";

    TransformerEncoder(const TransformerConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const {
        return encoder(batch.tokens, batch.segments);
    }

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    TransformerConfig config;
    Tensor embed_tokens;
    Encoder encoder;
};

// A model as its folder holds it: in Marian's layout where that can express it (its positions are
// halves of sines and cosines, and it has a bias on the logits), else in our own.
struct TransformerFiles {
    Json config;
    ParameterStore parameters;
};
TransformerFiles files_of(const TransformerConfig& config, const ParameterStore& trained);

}  // namespace fovea
