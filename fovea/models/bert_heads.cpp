// BERT as a text encoder: the heads of its published checkpoints, and those checkpoints' names.
#include <memory>

#include "fovea/models/bert.h"
#include "fovea/ops/dropout.h"

namespace fovea {
namespace {

BertConfig bert_config(const Json& json, const std::string& where) {
    BertConfig c;
    c.read(json, where);
    c.check(where);
    return c;
}

// Whether the second text of a pair follows the first (§3.1, task 2), from the pooled first row.
auto next_head(const BertConfig& c, const BertPooler& pooler, const Params& p) {
    return [pooler,
            yes_or_no = Linear(c.hidden_size, 2, p / "cls" / "seq_relationship", bert_init(c))](
               const Tensor& rows, const Segments& s) { return yes_or_no(pooler(rows, s)); };
}

// bert-base-uncased and its kin call themselves BertForMaskedLM, yet hold the head of the next
// sentence too.
void ignore_next_head(ParameterStore& store) {
    for (const char* name : {"cls.seq_relationship.weight", "cls.seq_relationship.bias"})
        store.ignore(name);
}

}  // namespace

TextEncoder bert_encoder(const BertConfig& c, const BertModel& body, const BertFamily& family) {
    TextEncoder e;
    e.width = c.hidden_size;
    e.vocabulary = c.vocab_size;
    e.max_length = c.max_length();
    e.layers = c.num_hidden_layers;
    e.dropout = c.head_dropout();
    const auto model = std::make_shared<const BertModel>(body);
    if (family.types)
        e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    else
        e.rows = [model](const TokenBatch& batch) {
            return (*model)({batch.tokens, {}, batch.segments});
        };
    e.layer_of = [last = e.layers + 1,
                  prefix = std::string(family.prefix) + "."](std::string_view name) {
        if (name.starts_with(prefix + "embeddings.")) return 0;
        const std::string blocks = prefix + "encoder.layer.";
        return name.starts_with(blocks) ? numbered_layer(name, blocks) : last;
    };
    return e;
}

void put_words(TextEncoder& e, const MaskedWordHead& head) {
    e.words = head;
    e.word_loss = [head](const Tensor& rows, const Ids& labels) { return head.loss(rows, labels); };
}

void add_row_heads(TextEncoder& e, const BertConfig& c, const HeadChoice& head, const Params& p) {
    if (head.head == Head::tags)
        e.tags = [drop = c.head_dropout(),
                  classifier = Linear(c.hidden_size, head.classes, p / "classifier", bert_init(c))](
                     const Tensor& rows) { return classifier(dropout(rows, drop)); };
    if (head.head == Head::spans)
        e.spans = Linear(c.hidden_size, 2, p / "qa_outputs", bert_init(c));
}

void ignore_pooler(const Params& body) {
    for (const char* name : {"pooler.dense.weight", "pooler.dense.bias"})
        body.store().ignore(body.full(name));
}

Json Bert::new_config(const EncoderChoice& choice) {
    BertConfig c;
    c.apply(choice);
    c.check("--model bert", ErrorKind::usage);
    return c.to_json(model_type);
}

TextEncoder Bert::make(const Json& config, const std::string& where, const HeadChoice& head,
                       const Params& p) {
    const BertConfig c = bert_config(config, where);
    const BertModel body(c, p / "bert");
    TextEncoder e = bert_encoder(c, body, {.prefix = "bert", .types = c.type_vocab_size > 1});
    add_row_heads(e, c, head, p);
    const bool words = head.head == Head::words || head.head == Head::words_and_next;
    const bool next = head.head == Head::next || head.head == Head::words_and_next;
    if (next || head.head == Head::classes) {
        const BertPooler pooler(c, p / "bert" / "pooler");
        if (next) e.next = next_head(c, pooler, p);
        if (head.head == Head::classes)
            e.classes = [pooler, drop = c.head_dropout(),
                         classifier = Linear(c.hidden_size, head.classes, p / "classifier",
                                             bert_init(c))](const Tensor& rows, const Segments& s) {
                return classifier(dropout(pooler(rows, s), drop));
            };
    } else {
        ignore_pooler(p / "bert");
    }
    if (words) {
        c.check_tied(where);
        put_words(e, MaskedWordHead(c, body.embeddings.word_embeddings,
                                    {.dense = "transform.dense",
                                     .norm = "transform.LayerNorm",
                                     .act = c.hidden_act,
                                     .words = "bert.embeddings.word_embeddings.weight"},
                                    p / "cls" / "predictions"));
        if (!next) ignore_next_head(p.store());
    }
    return e;
}

std::string Bert::architecture(Head head) {
    switch (head) {
        case Head::none:
            return "BertModel";
        case Head::classes:
            return "BertForSequenceClassification";
        case Head::tags:
            return "BertForTokenClassification";
        case Head::spans:
            return "BertForQuestionAnswering";
        case Head::words:
            return "BertForMaskedLM";
        case Head::words_and_next:
            return "BertForPreTraining";
        case Head::next:
            return "BertForNextSentencePrediction";
    }
    return "";
}

// Old files say gamma and beta; files of the model without a head have no prefix; position_ids and
// token_type_ids are numbers from 0 on and zeros, kept by some versions.
std::span<const NameRule> Bert::rules() {
    static const std::vector<NameRule> rules = bert_rules("bert");
    return rules;
}

std::vector<NameRule> bert_rules(const std::string& prefix) {
    std::vector<NameRule> rules;
    for (const std::string& body : {prefix + ".", std::string()})
        for (const char* buffer : {"position_ids", "token_type_ids"})
            rules.push_back({.on_disk = body + "embeddings." + buffer});
    for (const char* part : {"embeddings", "encoder", "pooler"})
        rules.push_back({.on_disk = std::string(part) + ".**",
                         .in_model = {prefix + "." + part + ".**"},
                         .load_only = true});
    rules.push_back(
        {.on_disk = "**.LayerNorm.gamma", .in_model = {"**.LayerNorm.weight"}, .load_only = true});
    rules.push_back(
        {.on_disk = "**.LayerNorm.beta", .in_model = {"**.LayerNorm.bias"}, .load_only = true});
    return rules;
}

}  // namespace fovea
