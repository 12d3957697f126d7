#pragma once
// BERT (Devlin et al. 2018): the Transformer's encoder over word, position and segment embeddings,
// read both ways, under the parameter names of Hugging Face's bert models. RoBERTa (roberta.h) is
// the same encoder with heads of its own.
//
// All sequences of a batch lie end to end ([total_tokens, d] and Segments): there is no padding.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/models/bert_config.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/params.h"

namespace fovea {

// LayerNorm(word + position + segment), then dropout (the paper's figure 2).
struct BertEmbeddings {
    BertEmbeddings(const BertConfig& c, const Params& p);
    // A batch without token types is all of type 0.
    Tensor operator()(const TokenBatch& batch) const;
    Tensor positions(const TokenBatch& batch) const;  // counted through a sequence, or as given

    Tensor word_embeddings, position_embeddings, token_type_embeddings;
    LayerNorm norm;
    float p_drop;
    int first_position;
};

// One block, post-norm, with GELU inside (§3.1):
//   h = LayerNorm(x + Dropout(MultiHead(x, x, x)))
//   y = LayerNorm(h + Dropout(GELU(h W₁ + b₁) W₂ + b₂))
struct BertLayer {
    BertLayer(const BertConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Visibility& sees) const;

    Linear query, key, value, attention_output;
    LayerNorm attention_norm;
    Linear intermediate, output;
    LayerNorm output_norm;
    std::string name;  // of its attention: what a Probe knows its calls by
    int heads;
    Act act;
    float attention_drop, p_drop;
};

struct BertModel {
    BertModel(const BertConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total tokens, hidden_size]

    BertEmbeddings embeddings;
    std::vector<BertLayer> layers;
};

// tanh(W x₀ + b) of a sequence's first row, [CLS].
struct BertPooler {
    BertPooler(const BertConfig& c, const Params& p);
    Tensor operator()(const Tensor& rows, const Segments& segments) const;

    Linear dense;
};

// Which word stands here: the rows transformed once, then compared with the word embeddings.
//   LayerNorm(act(x W + b)) Eᵀ + bias
struct MaskedWordHead {
    struct Options {
        const char *dense, *norm;  // names of the transformation's two parts
        Act act;
        const char* words;  // name of the word embeddings, which the decoder is tied to
    };
    MaskedWordHead(const BertConfig& c, const Tensor& words, const Options& options,
                   const Params& p);
    Tensor operator()(const Tensor& rows) const;               // [rows, vocabulary]
    Tensor loss(const Tensor& rows, const Ids& labels) const;  // its mean cross-entropy

    Linear dense;
    LayerNorm norm;
    Act act;
    Tensor decoder, bias;
};

void put_words(TextEncoder& e, const MaskedWordHead& head);

Init bert_init(const BertConfig& c);  // normal, deviation initializer_range

// What BERT and RoBERTa share as text encoders: sizes, rows, and the heads for tags and spans.
// `prefix` is that of the body's parameters; `types` whether the model knows two texts apart.
struct BertFamily {
    const char* prefix;
    bool types;
};
TextEncoder bert_encoder(const BertConfig& c, const BertModel& body, const BertFamily& family);
void add_row_heads(TextEncoder& e, const BertConfig& c, const HeadChoice& head, const Params& p);
void ignore_pooler(const Params& body);  // a file may hold one that the head does not stand on
std::vector<NameRule> bert_rules(const std::string& prefix);

struct Bert {
    static constexpr const char* model_type = "bert";

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules();
    static std::string architecture(Head head);

    static constexpr HeadParameters heads[] = {
        {"cls.**"}, {"classifier.**"}, {"qa_outputs.**"}, {"bert.pooler.**", true}};
};

}  // namespace fovea
