#include "fovea/models/rnn_seq2seq.h"

#include <algorithm>
#include <cmath>

#include "fovea/nn/by_step.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {
namespace {

std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

Init embedding_init(const RnnConfig& c) {
    return normal(1.0f / std::sqrt(static_cast<float>(c.d_model)));
}

RecurrentShape decoder_shape(const RnnConfig& c) {
    return {.layers = c.decoder_layers, .dropout = c.dropout};
}

}  // namespace

RnnEncoder::RnnEncoder(const RnnConfig& c, const Params& p)
    : rnn(recurrent_cell_named(c.cell), c.d_model, c.d_model / 2, p,
          {.layers = c.encoder_layers, .bidirectional = true, .dropout = c.dropout}) {}

RecurrentResult RnnEncoder::operator()(const Tensor& embedded, const Segments& segments) const {
    return rnn.run(embedded, segments);
}

RnnDecoder::RnnDecoder(const RnnConfig& c, const Params& p)
    : config(c),
      rnn(recurrent_cell_named(c.cell), c.feeds() ? 2 * c.d_model : c.d_model, c.d_model, p,
          decoder_shape(c)),
      output(c.attention.view == SourceView::none ? c.d_model : 2 * c.d_model, c.d_model,
             p / "output") {
    const int state = recurrent_cell_named(c.cell).parts * c.d_model;
    for (int layer = 0; layer < c.decoder_layers; ++layer)
        bridge.emplace_back(state, state, p / "bridge" / layer);
    if (c.attention.view != SourceView::none)
        attention.emplace(c.attention, c.d_model, c.attention_heads, p / "attention");
}

RecurrentStates RnnDecoder::bridged(const RecurrentStates& encoder) const {
    RecurrentStates states;
    const std::size_t layers = encoder.size() / 2;
    for (std::size_t layer = 0; layer < bridge.size(); ++layer) {
        const std::size_t from = std::min(layer, layers - 1);  // a deeper decoder: the last one's
        states.push_back(
            bridge[layer](concat_cols({encoder[2 * from], encoder[2 * from + 1]}), Act::tanh));
    }
    return states;
}

RnnDecoderState RnnDecoder::start(const RecurrentStates& layers) const {
    RnnDecoderState state{layers, {}, {}};
    if (config.feeds()) state.fed = Tensor::zeros({layers[0].rows(), config.d_model});
    return state;
}

Tensor RnnDecoder::output_of(const Tensor& q, const AskingRows& at, const RnnMemory& memory) const {
    const Tensor rows =
        attention ? output(concat_cols({(*attention)(q, at, memory.source), q}), Act::tanh)
                  : output(q, Act::tanh);
    return dropout(rows, config.dropout);
}

Tensor RnnDecoder::step(const Tensor& embedded, const AskingRows& at, const RnnMemory& memory,
                        RnnDecoderState& state) const {
    const bool feeds = config.feeds();
    state.query = rnn.step(feeds ? concat_cols({embedded, state.fed}) : embedded, state.layers);
    const Tensor out = output_of(state.query, at, memory);
    if (feeds) state.fed = out;
    return out;
}

Tensor RnnDecoder::operator()(const Tensor& embedded, const Segments& targets,
                              const RnnMemory& memory) const {
    if (config.feeds()) return fed_by_itself(embedded, targets, memory);
    return output_of(rnn.run(embedded, targets, memory.start).rows, AskingRows::all(targets),
                     memory);
}

// For a Probe: steps are many small calls; people look at one map of the whole target.
void RnnDecoder::report(const Tensor& queries, const Segments& targets,
                        const RnnMemory& memory) const {
    without_gradient([&] { (*attention)(queries, AskingRows::all(targets), memory.source); });
}

// Each output is part of the next input, so the targets that are still alive take a step together.
Tensor RnnDecoder::fed_by_itself(const Tensor& embedded, const Segments& targets,
                                 const RnnMemory& memory) const {
    const ByStep by_step(targets);
    const Tensor inputs = gather_rows(embedded, by_step.rows);
    RnnDecoderState state = start(memory.start);
    const Ids order(by_step.sequences.begin(), by_step.sequences.end());
    for (Tensor& layer : state.layers) layer = gather_rows(layer, order);

    std::vector<Tensor> outputs, queries;
    const bool watched = probe_is_alive();
    std::optional<Probe> aside;
    if (watched) aside.emplace();
    std::int64_t at = 0;
    for (std::size_t t = 0; t < by_step.alive.size(); ++t) {
        const std::int64_t n = by_step.alive[t];
        for (Tensor& layer : state.layers) layer = first_rows(layer, n);
        state.fed = first_rows(state.fed, n);
        const std::vector<std::int64_t> sources(by_step.sequences.begin(),
                                                by_step.sequences.begin() + n);
        std::vector<std::uint64_t> samples;
        for (const std::int64_t s : sources) samples.push_back(targets.sample(s));
        Tensor x = slice_rows(inputs, at, at + n);
        // A step has dropout sites of its own, so a name is the sample's alone.
        x.set_row_names(Segments::of_lengths(std::vector<std::int64_t>(index_of(n), 1), samples));
        outputs.push_back(
            step(x,
                 AskingRows::one_each(
                     sources, std::vector<std::int64_t>(index_of(n), static_cast<std::int64_t>(t))),
                 memory, state));
        if (watched) queries.push_back(state.query);
        at += n;
    }
    aside.reset();
    if (watched) report(gather_rows(concat_rows(queries), by_step.back), targets, memory);
    return gather_rows(concat_rows(outputs), by_step.back);
}

RnnSeq2Seq::RnnSeq2Seq(const RnnConfig& c, const Params& p)
    : config(c),
      shared(p.get(
          c.share_encoder_decoder_embeddings ? "shared.weight" : "encoder.embed_tokens.weight",
          {c.vocab_size, c.d_model}, embedding_init(c))),
      decoder_table(c.share_encoder_decoder_embeddings
                        ? shared
                        : p.get("decoder.embed_tokens.weight", {c.target_vocab(), c.d_model},
                                embedding_init(c))),
      encoder(c, p / "encoder"),
      decoder(c, p / "decoder"),
      lm_head(c.tie_word_embeddings
                  ? decoder_table
                  : p.get("lm_head.weight", {c.target_vocab(), c.d_model}, embedding_init(c))),
      lm_bias(p.get("lm_head.bias", {c.target_vocab()}, zeros())) {
    if (c.tie_word_embeddings)
        p.tie("lm_head.weight",
              c.share_encoder_decoder_embeddings ? "shared.weight" : "decoder.embed_tokens.weight");
}

Tensor RnnSeq2Seq::embedded(const Tensor& table, const Ids& tokens,
                            const Segments& segments) const {
    // Tables that are also the output's begin small; √d brings rows to the size of states.
    Tensor rows = std::sqrt(static_cast<float>(config.d_model)) * gather_rows(table, tokens);
    rows.set_row_names(segments);
    return dropout(rows, config.dropout);
}

RnnMemory RnnSeq2Seq::encode(const Ids& source, const Segments& segments) const {
    const RecurrentResult read = encoder(embedded(shared, source, segments), segments);
    RnnMemory memory{read.rows, {Tensor(), Tensor(), segments, {}}, decoder.bridged(read.last)};
    if (decoder.attention) memory.source = decoder.attention->prepare(read.rows, segments);
    return memory;
}

Tensor RnnSeq2Seq::decode(const Ids& input, const Segments& targets,
                          const RnnMemory& memory) const {
    return decoder(embedded(decoder_table, input, targets), targets, memory);
}

Tensor RnnSeq2Seq::step(const Ids& tokens, const AskingRows& at, const RnnMemory& memory,
                        RnnDecoderState& state) const {
    return decoder.step(embedded(decoder_table, tokens, at.rows), at, memory, state);
}

}  // namespace fovea
