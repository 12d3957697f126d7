#pragma once
// A small reader for training from scratch on a CPU: words and their letters, what is known of them
// (does this word stand in the question?), convolutions and self-attention, and attention between
// the two texts. After QANet (Yu et al. 2018: the blocks, the attention between the texts) and DrQA
// (Chen et al. 2017: exact-match features). Against QANet: fewer blocks, run once; the projection
// of the embedding has no highway; the trilinear score has a full matrix instead of a diagonal.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/models/span_model.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/multi_head_attention.h"
#include "fovea/nn/params.h"

namespace fovea {

struct ReaderConfig {
    int vocab_size = 0;
    int features = 0;  // of each word, beside itself and its letters
    int hidden_size = 128;
    int word_width = 128;
    int letter_width = 16, letter_channels = 64, letter_kernel = 5;
    int encoder_convolutions = 4, encoder_kernel = 7;  // of the one block over either text
    int num_hidden_layers = 3;                         // blocks over the two texts together
    int layer_convolutions = 2, layer_kernel = 5;
    int num_attention_heads = 4;
    int intermediate_size = 256;
    int max_position_embeddings = 512;
    float dropout = 0.1f;

    static ReaderConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    void apply_preset(const std::string& name);  // tiny, small, base
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
};

// Words as rows: W [table[word]; max over letters of conv(letters); features].
struct WordEmbedding {
    static constexpr int letters = 257;  // bytes, and the mark at both ends of a word

    WordEmbedding(const ReaderConfig& c, const Params& p);
    Tensor operator()(const ReadingBatch& batch) const;

    Tensor word_table, letter_table, letter_weight, letter_bias;
    Linear projection;
    int kernel;
    float p_drop;
};

// Convolution of each column, then a linear layer over all (QANet, §2.2).
struct SeparableConv {
    SeparableConv(int width, int kernel, const Params& p);
    Tensor operator()(const Tensor& x, const Segments& segments) const;

    Tensor depthwise;
    Linear pointwise;
};

// QANet's figure 1, right: convolutions, self-attention, feed-forward; each x + f(LN(x)).
struct ReaderBlock {
    struct Sizes {
        int convolutions, kernel;
    };
    ReaderBlock(const ReaderConfig& c, const Sizes& sizes, const Params& p);
    Tensor operator()(Tensor x, const Segments& segments, const Visibility& sees) const;

    std::vector<LayerNorm> conv_norms;
    std::vector<SeparableConv> convs;
    LayerNorm attention_norm;
    MultiHeadAttention self_attn;
    LayerNorm feed_forward_norm;
    Linear fc1, fc2;
    float p_drop;
};

// QANet, §2.2, "context-query attention": what a context's word finds in the question (a), and what
// the question's words find in the context, seen through them (b).
//   S = softmax_j((W c_i + w) · q_j)   T = softmax_i((V q_j + v) · c_i)   a = S q   b = S T c
struct TwoTextAttention {
    TwoTextAttention(int width, const Params& p);
    // [rows of c, width]: W [c; a; c ∘ a; c ∘ b]
    Tensor operator()(const Tensor& c, const Segments& contexts, const Tensor& q,
                      const Segments& questions) const;

    Linear from_context, from_question, output;
    std::string name;
};

struct Reader {
    static constexpr const char* model_type = "fovea_reader";

    Reader(const ReaderConfig& c, const Params& p);
    // Of the rows of contexts alone.
    SpanScores operator()(const ReadingBatch& batch) const;

    ReaderConfig config;
    WordEmbedding embedding;
    ReaderBlock encoder;  // of questions and contexts alike
    LayerNorm encoder_norm;
    TwoTextAttention between;
    std::vector<ReaderBlock> layers;
    ReaderBlock end_layer;  // the end of an answer is judged one block later than its beginning
    LayerNorm start_norm, end_norm;
    Tensor start, end;  // [1, width]; a bias would shift all rows alike
};

}  // namespace fovea
