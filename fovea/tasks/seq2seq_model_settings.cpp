#include "fovea/tasks/seq2seq_model_settings.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/rnn_attention.h"

namespace fovea {
namespace {

// What one kind of network has and the other has not.
constexpr const char* of_transformers[] = {
    "ffn",       "attention-dropout", "activation-dropout", "pre-norm",          "activation",
    "positions", "max-relative",      "cross-attention",    "decoder-attention", "wait-k"};
constexpr const char* of_recurrence[] = {"score", "no-input-feeding"};

}  // namespace

void Seq2SeqModelSettings::describe(Settings& s, Seq2SeqTraining& t) {
    s.add("model", model, "kind of model",
          {.group = "model", .common = true, .choices = seq2seq_network_names()});
    s.add("attention", attention,
          "where to look (gru, lstm: at the source; transformer: its encoder, all layers or one "
          "word each): global, window:W, expanded:W,M, hybrid:W, hard; gru, lstm: none, "
          "local-p:W",
          {.group = "model"});
    s.add("cross-attention", cross_attention, "transformer: the same for the source",
          {.group = "model"});
    s.add("decoder-attention", decoder_attention,
          "transformer: the same for the target so far, but expanded", {.group = "model"});
    s.add("wait-k", t.config.wait_k,
          "transformer: begin to write when K source tokens are read; 0: all of them",
          {.group = "model", .min = 0, .max = 1 << 20});
    s.add("score", score, "gru, lstm: of attention",
          {.group = "model", .choices = {"dot", "scaled", "general", "additive", "two-term"}});
    s.add("no-input-feeding", no_feeding, "gru, lstm: outputs do not join the next input",
          {.group = "model"});
    s.add("copy", copy, "copy words of the source: beside written ones, or only (a pointer)",
          {.group = "model", .choices = {"none", "mixed", "only"}});
    s.add("coverage", coverage, "weight of the loss of pointing again at the same; 0: off",
          {.group = "model", .min = 0, .max = 1000});
    s.add("preset", preset, "size of the model",
          {.group = "model", .common = true, .choices = {"tiny", "small", "base", "big"}});
    const auto size = [](double most) {
        return SettingOptions{.group = "model", .min = 1, .max = most, .otherwise = "the preset's"};
    };
    s.add("encoder-layers", encoder_layers, "of the encoder", size(512));
    s.add("decoder-layers", decoder_layers, "of the decoder", size(512));
    s.add("d-model", d_model, "width of the model", size(1 << 16));
    s.add("ffn", ffn, "width inside feed-forward", size(1 << 20));
    s.add("heads", heads, "attention heads", size(1 << 16));
    SettingOptions share{.group = "model", .min = 0, .max = 1, .below_max = true};
    s.add("attention-dropout", t.config.attention_dropout, "on attention weights", share);
    s.add("activation-dropout", t.config.activation_dropout, "inside feed-forward", share);
    s.add("smoothing", t.smoothing, "label smoothing", share);
    s.add("fixed-lag", t.fixed_lag,
          "learn behind the true beginning and K tokens of the model's own; 0: off",
          {.group = "model", .min = 0, .max = 1 << 20});
    s.add("lag-share", t.lag_share, "of targets that --fixed-lag is for; the others stay true",
          {.group = "model", .min = 0, .max = 1});
    s.add("language-loss", t.language_loss,
          "weight of a second loss: the target without its source; 0: off",
          {.group = "model", .min = 0, .max = 1000});
    s.add("reverse-share", t.reverse_share,
          "of targets learned from right to left too, for --rerank r2l", share);
    share.otherwise = "the preset's";
    s.add("dropout", dropout, "of embeddings and sublayers", share);
    s.add("pre-norm", t.config.normalize_before, "norm before each sublayer instead of after",
          {.group = "model"});
    s.add("activation", activation, "of feed-forward",
          {.group = "model", .choices = {"relu", "gelu", "swish"}});
    s.add("positions", positions, "position code",
          {.group = "model",
           .choices = {"sinusoidal", "sinusoidal_halves", "learned", "relative", "rotary", "unit",
                       "linear", "none"}});
    s.add("max-relative", t.config.max_relative_position,
          "relative positions: differences beyond it count as this one",
          {.group = "model", .min = 1, .max = 1 << 16});
}

void Seq2SeqModelSettings::check(Settings& s, Seq2SeqTraining& t) const {
    if (is_transformer())
        leave_out(s, of_recurrence, "with --model transformer: it is for gru and lstm");
    else
        leave_out(s, of_transformers, "with --model " + model);
    if (coverage > 0 && copy == "none")
        refuse_without_effect("coverage", "without --copy", "add --copy mixed");
    if (t.fixed_lag == 0 && t.lag_share != Seq2SeqTraining{}.lag_share)  // RUN/config.toml has all
        refuse_without_effect("lag-share", "without --fixed-lag", "add --fixed-lag K");
    if (t.language_loss > 0 && copy == "only")
        fail_with(ErrorKind::usage, "leave one of them out",
                  "train: --copy only points at the source, but --language-loss has none");
    if (coverage > 0 && t.fixed_lag > 0 && !is_transformer())
        fail_with(ErrorKind::usage, "leave one of them out",
                  "train: --coverage looks at the source at every step from the first, but "
                  "--fixed-lag begins in the middle");
    if (!is_transformer()) {
        RnnAttentionChoice::parse(attention, score);
        if (attention == "none" && s.given("score"))
            refuse_without_effect("score", "with --attention none: no place is judged",
                                  "leave out --score");
        return;
    }
    check_transformer(t.config);
}

void Seq2SeqModelSettings::check_transformer(TransformerConfig& c) const {
    c.encoder_attention = parse_attention(attention, "--attention");
    c.decoder_attention = parse_attention(decoder_attention, "--decoder-attention");
    c.cross_attention = parse_attention(cross_attention, "--cross-attention");
    c.positions = position_code_of(positions);
    try {
        c.check_attention("train");
    } catch (const Error& e) {
        throw Error(e.what(), ErrorKind::usage, e.hint());
    }
    if (copy == "none") return;
    for (const LayerKinds* kinds : {&c.encoder_attention, &c.decoder_attention, &c.cross_attention})
        if (any_is(*kinds, LayerView::hard))
            fail_with(ErrorKind::usage, "choose global, or leave --copy out",
                      "train: --copy needs the weights of all places, but hard attention takes "
                      "one");
    if (c.wait_k > 0)
        fail_with(ErrorKind::usage, "leave one of them out",
                  "train: --copy points at the whole source, but --wait-k has not read it");
}

void Seq2SeqModelSettings::take(Seq2SeqTraining& t) {
    if (!is_transformer()) return take_recurrent(t);
    TransformerConfig c = t.config;
    c.apply_preset(preset);
    const auto choose = [](auto& given, auto& of_preset) {
        if (!given) given = of_preset;
        of_preset = *given;
    };
    choose(dropout, c.dropout);
    choose(encoder_layers, c.encoder_layers);
    choose(decoder_layers, c.decoder_layers);
    choose(d_model, c.d_model);
    choose(ffn, c.encoder_ffn_dim);
    choose(heads, c.encoder_attention_heads);
    c.decoder_ffn_dim = c.encoder_ffn_dim;
    c.decoder_attention_heads = c.encoder_attention_heads;
    c.positions = position_code_of(positions);
    c.activation_function = activation == "gelu"    ? Act::gelu
                            : activation == "swish" ? Act::swish
                                                    : Act::relu;
    c.max_position_embeddings = static_cast<int>(std::max<std::int64_t>(1024, t.limits.source));
    for_layers(c.encoder_attention, c.encoder_layers, "--attention");
    for_layers(c.decoder_attention, c.decoder_layers, "--decoder-attention");
    for_layers(c.cross_attention, c.decoder_layers, "--cross-attention");
    t.config = c;
    if (copy == "none") return;
    t.another = c.to_json();
    t.another["copy"] = copy;
    if (coverage > 0) t.another["coverage"] = coverage;
}

void Seq2SeqModelSettings::take_recurrent(Seq2SeqTraining& t) {
    Seq2SeqChoice c{.preset = preset,
                    .attention = attention,
                    .score = score,
                    .copy = copy,
                    .input_feeding = !no_feeding,
                    .coverage = coverage,
                    .encoder_layers = encoder_layers,
                    .decoder_layers = decoder_layers,
                    .width = d_model,
                    .heads = heads,
                    .dropout = dropout,
                    .max_source = static_cast<int>(std::max<std::int64_t>(1024, t.limits.source))};
    t.another = seq2seq_network_named(model).new_config(c);
    encoder_layers = c.encoder_layers;
    decoder_layers = c.decoder_layers;
    d_model = c.width;
    heads = c.heads;
    dropout = c.dropout;
}

}  // namespace fovea
