// The recurrent encoder-decoders among sequence-to-sequence networks.
#include "fovea/infer/rnn_stepper.h"
#include "fovea/models/rnn_seq2seq.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/tasks/seq2seq_copy.h"
#include "fovea/tasks/seq2seq_network.h"

namespace fovea {
namespace {

Tensor outputs_of(const RnnSeq2Seq& m, const Seq2SeqBatch& b) {
    return m.decode(b.input, b.target_segments, m.encode(b.source, b.source_segments));
}

// Kept by a training step: about 8 rows of d a layer, gates included.
double kept_rnn_bytes(const RnnConfig& c) {
    return 4.0 * c.d_model * (8.0 * c.encoder_layers + 12.0 * c.decoder_layers + 10.0);
}

Seq2SeqNetwork network_of_rnn(const std::shared_ptr<const RnnSeq2Seq>& m) {
    const RnnConfig& c = m->config;
    Seq2SeqNetwork n;
    n.source_vocabulary = c.vocab_size;
    n.target_vocabulary = c.target_vocab();
    n.start_token = c.decoder_start_token_id;
    n.end_token = c.eos_token_id;
    n.pad_token = c.pad_token_id;
    n.width = c.d_model;
    n.max_source = c.max_position_embeddings;
    n.sizes = text_of(c.cell, ", ", c.encoder_layers, "+", c.decoder_layers,
                      " layers, d=", c.d_model, ", attention ", c.attention.attention_name());
    n.bytes_per_token = kept_rnn_bytes(c);
    n.sides = {{"", "target", "source"}};
    n.encode = [m](const TokenBatch& sources) {
        Tensor rows = m->encode(sources.tokens, sources.segments).rows;
        rows.set_row_names(sources.segments);
        return rows;
    };
    n.loss = [m](const Seq2SeqBatch& b, float smoothing) {
        return linear_cross_entropy(outputs_of(*m, b), m->lm_head, m->lm_bias, b.labels,
                                    {.smoothing = smoothing});
    };
    n.token_losses = [m](const Seq2SeqBatch& b) {
        return cross_entropy(m->logits(outputs_of(*m, b)), b.labels,
                             {.reduction = Reduction::none});
    };
    n.pass = [m](const Seq2SeqBatch& b) { outputs_of(*m, b); };
    n.stepper = [m](const TokenBatch& sources, const Ids&) {
        return std::make_unique<RnnStepper>(*m, sources.tokens, sources.segments);
    };
    n.source_attention = [m](int) {
        return m->decoder.attention ? m->decoder.attention->name() : std::string();
    };
    return n;
}

CopyParts rnn_copy_parts(const std::shared_ptr<const RnnSeq2Seq>& m) {
    CopyParts parts;
    parts.read = [m](const Seq2SeqBatch& b) {
        const RnnMemory memory = m->encode(b.source, b.source_segments);
        return CopyParts::Rows{m->decode(b.input, b.target_segments, memory), memory.rows};
    };
    parts.logits = [m](const Tensor& rows) { return m->logits(rows); };
    parts.steps = [m](const TokenBatch& sources) {
        auto rows =
            std::make_unique<RnnStepper>(*m, sources.tokens, sources.segments, StepResult::rows);
        const Tensor memory = rows->memory();
        return CopyParts::Steps{std::move(rows), memory};
    };
    return parts;
}

Seq2SeqNetwork make_rnn_network(const Json& config, const std::string& where, const Params& p) {
    const auto m = std::make_shared<const RnnSeq2Seq>(RnnConfig::from_json(config, where), p);
    Seq2SeqNetwork n = network_of_rnn(m);
    n.reverse_token = reverse_token_in(config, where);
    const CopyMode copy = copy_mode_in(config, where);
    if (copy == CopyMode::none) return n;
    n.unknown_token = config.value("unk_token_id", n.end_token);
    // A recurrent decoder takes its steps one after the other, so its pointer can know of them.
    const float coverage = coverage_in(config, where);
    return with_copying(
        std::move(n), rnn_copy_parts(m),
        std::make_shared<const PointerHead>(copy, m->config.d_model, p / "pointer", coverage > 0),
        coverage);
}

Seq2SeqFiles rnn_files(const Json& config, const ParameterStore& parameters, const Json*) {
    Seq2SeqFiles files;
    files.config = config;
    for (const std::string& name : parameters.names())
        files.parameters.put(name, parameters.at(name));
    return files;
}

void expect_sizes(const RnnConfig& c) {
    if (c.d_model % 2 != 0)
        fail_with(ErrorKind::usage, "choose an even number: --d-model 256", "train: --d-model ",
                  c.d_model, " is odd, but half of it belongs to each direction of the encoder");
    if (c.d_model % c.attention_heads != 0)
        fail_with(ErrorKind::usage, "choose numbers that divide: --d-model 256 --heads 4",
                  "train: --heads ", c.attention_heads, " does not divide --d-model ", c.d_model);
}

template <int which>
Json new_rnn_config(Seq2SeqChoice& choice) {
    RnnConfig c;
    c.cell = which == 0 ? "gru" : "lstm";
    c.apply_preset(choice.preset);
    const auto choose = [](auto& given, auto& preset) {
        if (!given) given = preset;
        preset = *given;
    };
    choose(choice.encoder_layers, c.encoder_layers);
    choose(choice.decoder_layers, c.decoder_layers);
    choose(choice.width, c.d_model);
    choose(choice.heads, c.attention_heads);
    choose(choice.dropout, c.dropout);
    c.attention = RnnAttentionChoice::parse(choice.attention, choice.score);
    c.input_feeding = choice.input_feeding;
    c.max_position_embeddings = choice.max_source;
    expect_sizes(c);
    const CopyMode copy = copy_mode_of(choice.copy);
    if (copy != CopyMode::none && c.attention.view == SourceView::hard)
        fail_with(ErrorKind::usage, "choose --attention global, or leave --copy out",
                  "train: --copy needs the weights of all places, but --attention hard takes one");
    Json config = c.to_json();
    if (copy != CopyMode::none) config["copy"] = name_of(copy);
    if (choice.coverage > 0) config["coverage"] = choice.coverage;
    return config;
}

}  // namespace

Seq2SeqEntry gru_seq2seq() {
    return {"gru",    {"fovea_gru"}, new_rnn_config<0>, make_rnn_network, RnnSeq2Seq::rules,
            rnn_files};
}

Seq2SeqEntry lstm_seq2seq() {
    return {"lstm",           {"fovea_lstm"},    new_rnn_config<1>,
            make_rnn_network, RnnSeq2Seq::rules, rnn_files};
}

}  // namespace fovea
