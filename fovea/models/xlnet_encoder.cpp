// XLNet's row in the table of text encoders: its heads, a new model's config, its names on disk.
#include "fovea/base/error.h"
#include "fovea/models/xlnet.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

// sequence_summary of the reference: one row of the sequence, a layer with tanh, dropout.
struct XlnetClassifier {
    XlnetClassifier(const XlnetConfig& c, int classes, const Params& p)
        : config(c),
          logits_proj(c.d_model, classes, p / "logits_proj", normal(c.initializer_range)) {
        if (c.summary_use_proj)
            summary.emplace(c.d_model, c.d_model, p / "sequence_summary" / "summary",
                            normal(c.initializer_range));
    }

    Tensor operator()(const Tensor& rows, const Segments& segments) const {
        Tensor x = config.summary_type == XlnetSummary::last    ? segment_last(rows, segments)
                   : config.summary_type == XlnetSummary::first ? segment_first(rows, segments)
                                                                : segment_mean(rows, segments);
        x = dropout(x, config.summary_first_dropout);
        if (summary) x = (*summary)(x);
        if (config.summary_tanh) x = tanh(x);
        return logits_proj(dropout(x, config.summary_last_dropout));
    }

    XlnetConfig config;
    std::optional<Linear> summary;
    Linear logits_proj;
};

// The reference's XLNetForQuestionAnswering searches over starts and ends with layers of its own.
void refuse_beam_head(const Json& config, const std::string& where) {
    if (!config.contains("architectures") || !config["architectures"].is_array()) return;
    for (const Json& a : config["architectures"])
        if (a == "XLNetForQuestionAnswering")
            fail_with(ErrorKind::bad_input,
                      "XLNetForQuestionAnsweringSimple (qa_outputs) is what is read and written",
                      where,
                      ": the head of XLNetForQuestionAnswering (a search over beginnings and "
                      "ends) is not supported");
}

}  // namespace

Json XlnetEncoder::new_config(const EncoderChoice& choice) {
    XlnetConfig c;
    c.apply_preset(choice.preset);
    if (choice.layers) c.n_layer = *choice.layers;
    if (choice.width) c.d_model = *choice.width;
    if (choice.ffn) c.d_inner = *choice.ffn;
    if (choice.heads) c.n_head = *choice.heads;
    if (choice.dropout) c.dropout = c.summary_last_dropout = *choice.dropout;
    if (c.d_model % c.n_head != 0 || c.d_model % 2 != 0)
        fail_with(ErrorKind::usage, "choose an even --d-model and --heads that divide it",
                  "--d-model is ", c.d_model, " and --heads ", c.n_head,
                  ", but it must be even and split into so many");
    c.vocab_size = choice.vocabulary;
    c.max_length = choice.max_length;
    c.pad_token_id = choice.pad_token;
    c.eos_token_id = choice.end_token;
    c.bos_token_id = -1;
    return c.to_json();
}

TextEncoder XlnetEncoder::make(const Json& json, const std::string& where, const HeadChoice& head,
                               const Params& p) {
    const XlnetConfig c = XlnetConfig::from_json(json, where);
    if (head.head == Head::spans) refuse_beam_head(json, where);
    const auto model = std::make_shared<const Xlnet>(c, p / "transformer");
    TextEncoder e;
    e.width = c.d_model;
    e.vocabulary = c.vocab_size;
    e.max_length = c.max_length;
    e.layers = c.n_layer;
    e.dropout = c.dropout;
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    e.targets = [model](const ToldTokens& t) {
        return model->target_rows(t.batch, {t.order, {t.predicted.begin(), t.predicted.end()}},
                                  t.memory ? *t.memory : XlnetMemory{}, t.remembered);
    };
    e.remember = [model](const TokenBatch& before, bool left_to_right) {
        return model->remember(before, {.left_to_right = left_to_right});
    };
    e.kept_rows = c.mem_len;
    const auto linear_head = [&](const char* name, int columns) {
        return [layer = Linear(c.d_model, columns, p / name, normal(c.initializer_range))](
                   const Tensor& rows) { return layer(rows); };
    };
    switch (head.head) {
        case Head::classes:
            e.classes = XlnetClassifier(c, head.classes, p);
            break;
        case Head::tags:
            e.tags = linear_head("classifier", head.classes);
            break;
        case Head::spans:
            e.spans = linear_head("qa_outputs", 2);
            break;
        case Head::words: {
            const Tensor bias = p.get("lm_loss.bias", {c.vocab_size}, zeros());
            p.tie("lm_loss.weight", "transformer.word_embedding.weight");
            e.words = [model, bias](const Tensor& rows) {
                return linear(rows, model->word_embedding, bias);
            };
            e.word_loss = [model, bias](const Tensor& rows, const Ids& labels) {
                return linear_cross_entropy(rows, model->word_embedding, bias, labels);
            };
            break;
        }
        default:  // none, or one that XLNet has not
            break;
    }
    e.layer_of = [last = e.layers + 1](std::string_view name) {
        if (!name.starts_with("transformer.")) return last;
        return numbered_layer(name, "transformer.layer.");
    };
    return e;
}

std::string XlnetEncoder::architecture(Head head) {
    switch (head) {
        case Head::none:
            return "XLNetModel";
        case Head::classes:
            return "XLNetForSequenceClassification";
        case Head::tags:
            return "XLNetForTokenClassification";
        case Head::spans:
            return "XLNetForQuestionAnsweringSimple";
        case Head::words:
            return "XLNetLMHeadModel";
        case Head::words_and_next:
        case Head::next:
            break;  // it has none of these
    }
    return "";
}

std::span<const NameRule> XlnetEncoder::rules() {
    static const std::vector<NameRule> all = [] {
        std::vector<NameRule> r;
        // A bare XLNetModel has no prefix.
        for (const char* name : {"word_embedding.weight", "mask_emb", "layer.**"})
            r.push_back({.on_disk = name,
                         .in_model = {std::string("transformer.") + name},
                         .load_only = true});
        // x W, as [d, heads, dk]; ours are y = x Wᵀ. (o is used transposed: it fits as it is.)
        for (const char* name : {"q", "k", "v", "r", "o"}) {
            const std::string attention = "transformer.layer.*.rel_attn.", path = attention + name;
            r.push_back({.on_disk = path,
                         .in_model = {path},
                         .transpose = *name != 'o',
                         .columns_like = attention + "r_w_bias"});
        }
        return r;
    }();
    return all;
}

}  // namespace fovea
