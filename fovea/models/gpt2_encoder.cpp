// GPT-2 as a text encoder: its heads, new models, and how its files spell the parameters.
#include <memory>

#include "fovea/base/error.h"
#include "fovea/models/gpt2.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// The last row of each sequence: the only one that has seen all of it.
Tensor last_row_of_each(const Tensor& rows, const Segments& segments) {
    Ids last;
    for (std::int64_t i = 0; i < segments.count(); ++i) {
        expect(segments.length(i) > 0, "gpt2: sequence ", i, " has no tokens");
        last.push_back(static_cast<std::int32_t>(segments.end(i) - 1));
    }
    return gather_rows(rows, last);
}

Init gpt2_init(const Gpt2Config& c) { return normal(c.initializer_range); }

void add_gpt2_words(TextEncoder& e, const Gpt2& model, const Params& p) {
    Tensor head = model.wte;
    if (model.config.tie_word_embeddings)
        p.tie("lm_head.weight", "transformer.wte.weight");
    else
        head = p.get("lm_head.weight", {e.vocabulary, e.width}, gpt2_init(model.config));
    e.words = [head](const Tensor& rows) { return linear(rows, head); };
    e.word_loss = [head](const Tensor& rows, const Ids& labels) {
        return linear_cross_entropy(rows, head, {}, labels);
    };
}

void add_gpt2_head(TextEncoder& e, const Gpt2& model, const HeadChoice& choice, const Params& p) {
    const Gpt2Config& c = model.config;
    switch (choice.head) {
        case Head::words:
            return add_gpt2_words(e, model, p);
        case Head::classes: {
            const Tensor score = p.get("score.weight", {choice.classes, e.width}, gpt2_init(c));
            e.classes = [score](const Tensor& rows, const Segments& segments) {
                return linear(last_row_of_each(rows, segments), score);
            };
            return;
        }
        case Head::tags: {
            const Linear classifier(e.width, choice.classes, p / "classifier", gpt2_init(c));
            e.tags = [classifier, drop = c.classifier_dropout](const Tensor& rows) {
                return classifier(dropout(rows, drop));
            };
            return;
        }
        case Head::spans: {
            const Linear qa_outputs(e.width, 2, p / "qa_outputs", gpt2_init(c));
            e.spans = [qa_outputs](const Tensor& rows) { return qa_outputs(rows); };
            return;
        }
        case Head::none:
        case Head::words_and_next:
        case Head::next:
            return;  // it has none: a task puts its own there
    }
}

}  // namespace

Json Gpt2::new_config(const EncoderChoice& choice) {
    Gpt2Config c;
    c.apply_preset(choice.preset);
    c.n_layer = choice.layers.value_or(c.n_layer);
    c.n_embd = choice.width.value_or(c.n_embd);
    c.n_head = choice.heads.value_or(c.n_head);
    c.n_inner = choice.ffn.value_or(0);
    if (choice.dropout)
        c.resid_pdrop = c.embd_pdrop = c.attn_pdrop = c.classifier_dropout = *choice.dropout;
    if (c.n_embd % c.n_head != 0)
        fail_with(ErrorKind::usage, "choose --heads that divide --d-model", "--heads is ", c.n_head,
                  ", but --d-model ", c.n_embd, " does not split into so many");
    c.vocab_size = choice.vocabulary;
    c.n_positions = choice.max_length;
    c.bos_token_id = c.eos_token_id = choice.end_token;
    c.pad_token_id = choice.pad_token;
    return c.to_json();
}

TextEncoder Gpt2::make(const Json& config, const std::string& where, const HeadChoice& head,
                       const Params& p) {
    const auto model = std::make_shared<const Gpt2>(Gpt2Config::from_json(config, where), p);
    TextEncoder e;
    e.width = model->config.n_embd;
    e.vocabulary = model->config.vocab_size;
    e.max_length = model->config.n_positions;
    e.layers = model->config.n_layer;
    e.dropout = model->config.resid_pdrop;
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    e.step = [model](const NextTokens& next, std::span<KvCache> caches) {
        return model->step(next, caches);
    };
    e.layer_of = [last = e.layers + 1](std::string_view name) {
        if (!name.starts_with("transformer.") || name.starts_with("transformer.ln_f."))
            return last;  // a head, or the norm above the blocks
        return numbered_layer(name, "transformer.h.");
    };
    // Files of language models hold it, whatever they are opened for.
    if (head.head != Head::words) p.store().ignore("lm_head.weight");
    add_gpt2_head(e, *model, head, p);
    return e;
}

std::string Gpt2::architecture(Head head) {
    switch (head) {
        case Head::none:
            return "GPT2Model";
        case Head::classes:
            return "GPT2ForSequenceClassification";
        case Head::tags:
            return "GPT2ForTokenClassification";
        case Head::spans:
            return "GPT2ForQuestionAnswering";
        case Head::words:
            return "GPT2LMHeadModel";
        case Head::words_and_next:
        case Head::next:
            break;  // it has none of these
    }
    return "";
}

std::span<const NameRule> Gpt2::rules() {
    static const std::vector<NameRule> rules = [] {
        std::vector<NameRule> r;
        // Causal masks, which older versions of transformers saved as buffers.
        for (const char* buffer : {"attn.bias", "attn.masked_bias"})
            for (const char* prefix : {"", "transformer."})
                r.push_back({.on_disk = std::string(prefix) + "h.*." + buffer});
        // The bare model's files (openai-community/gpt2 among them) have no prefix.
        for (const char* part : {"wte.*", "wpe.*", "h.**", "ln_f.*"})
            r.push_back({.on_disk = part,
                         .in_model = {std::string("transformer.") + part},
                         .load_only = true});
        // Projections are "Conv1D"s there, [in, out]; queries, keys and values are one matrix.
        const std::string attn = "transformer.h.*.attn.";
        for (const char* part : {".weight", ".bias"})
            r.push_back({.on_disk = attn + "c_attn" + part,
                         .in_model = {attn + "q" + part, attn + "k" + part, attn + "v" + part},
                         .transpose = std::string(part) == ".weight"});
        for (const char* part : {"attn.c_proj", "mlp.c_fc", "mlp.c_proj"}) {
            const std::string weight = std::string("transformer.h.*.") + part + ".weight";
            r.push_back({.on_disk = weight, .in_model = {weight}, .transpose = true});
        }
        return r;
    }();
    return rules;
}

}  // namespace fovea
