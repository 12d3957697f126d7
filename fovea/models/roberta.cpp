#include "fovea/models/roberta.h"

#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

BertConfig roberta_config(const Json& json, const std::string& where) {
    BertConfig c;  // the class defaults of that model, where the file is silent
    c.vocab_size = 50265;
    c.pad_token_id = 1;
    c.read(json, where);
    c.first_position = c.pad_token_id + 1;
    c.check(where);
    return c;
}

}  // namespace

RobertaClassHead::RobertaClassHead(const BertConfig& c, int classes, const Params& p)
    : dense(c.hidden_size, c.hidden_size, p / "dense", bert_init(c)),
      out_proj(c.hidden_size, classes, p / "out_proj", bert_init(c)),
      p_drop(c.head_dropout()) {}

Tensor RobertaClassHead::operator()(const Tensor& rows, const Segments& segments) const {
    const Tensor x = dropout(segment_first(rows, segments), p_drop);
    return out_proj(dropout(dense(x, Act::tanh), p_drop));
}

Json Roberta::new_config(const EncoderChoice& choice) {
    BertConfig c;
    c.apply(choice);
    c.type_vocab_size = 1;
    c.layer_norm_eps = 1e-5;
    c.first_position = c.pad_token_id + 1;
    c.max_position_embeddings = choice.max_length + c.first_position;
    c.check("--model roberta", ErrorKind::usage);
    Json j = c.to_json(model_type);
    j["eos_token_id"] = choice.end_token;
    return j;
}

TextEncoder Roberta::make(const Json& config, const std::string& where, const HeadChoice& head,
                          const Params& p) {
    const BertConfig c = roberta_config(config, where);
    const BertModel body(c, p / "roberta");
    TextEncoder e = bert_encoder(c, body, {.prefix = "roberta", .types = false});
    add_row_heads(e, c, head, p);
    if (head.head == Head::classes) e.classes = RobertaClassHead(c, head.classes, p / "classifier");
    if (head.head == Head::words || head.head == Head::words_and_next) {
        c.check_tied(where);
        put_words(e, MaskedWordHead(c, body.embeddings.word_embeddings,
                                    {.dense = "dense",
                                     .norm = "layer_norm",
                                     .act = Act::gelu,  // whatever hidden_act says
                                     .words = "roberta.embeddings.word_embeddings.weight"},
                                    p / "lm_head"));
    }
    ignore_pooler(p / "roberta");  // the published files have BERT's, never trained
    return e;
}

std::string Roberta::architecture(Head head) {
    switch (head) {
        case Head::none:
            return "RobertaModel";
        case Head::classes:
            return "RobertaForSequenceClassification";
        case Head::tags:
            return "RobertaForTokenClassification";
        case Head::spans:
            return "RobertaForQuestionAnswering";
        case Head::words:
            return "RobertaForMaskedLM";
        case Head::words_and_next:
        case Head::next:
            break;  // it has none of these
    }
    return "";
}

std::span<const NameRule> Roberta::rules() {
    static const std::vector<NameRule> rules = bert_rules("roberta");
    return rules;
}

}  // namespace fovea
