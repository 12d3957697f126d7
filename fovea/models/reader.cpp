#include "fovea/models/reader.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/depthwise_conv.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/ops/rows/positions.h"

namespace fovea {
namespace {

// Every second part of a batch: its rows, and where they begin.
struct OneText {
    Ids rows;
    Segments segments;

    OneText(const Segments& parts, std::int64_t first) {
        std::vector<std::int64_t> lengths;
        std::vector<std::uint64_t> samples;
        for (std::int64_t s = first; s < parts.count(); s += 2) {
            lengths.push_back(parts.length(s));
            samples.push_back(parts.sample(s));
            for (std::int64_t i = parts.begin(s); i < parts.end(s); ++i)
                rows.push_back(static_cast<std::int32_t>(i));
        }
        segments = Segments::of_lengths(lengths, std::move(samples));
    }
    Tensor of(const Tensor& all) const {
        Tensor y = gather_rows(all, rows);
        y.set_row_names(segments);
        return y;
    }
};

}  // namespace

WordEmbedding::WordEmbedding(const ReaderConfig& c, const Params& p)
    : word_table(p.get("words.weight", {c.vocab_size, c.word_width}, normal(0.5f))),
      letter_table(p.get("letters.weight", {letters, c.letter_width}, normal(0.5f))),
      letter_weight(
          p.exact("letter_conv.weight", {c.letter_channels, c.letter_width, c.letter_kernel},
                  normal(1.0f / std::sqrt(static_cast<float>(c.letter_width * c.letter_kernel))))),
      letter_bias(p.get("letter_conv.bias", {c.letter_channels}, zeros())),
      projection(c.word_width + c.letter_channels + c.features, c.hidden_size, p / "projection"),
      kernel(c.letter_kernel),
      p_drop(c.dropout) {}

Tensor WordEmbedding::operator()(const ReadingBatch& batch) const {
    // Letters are read once for each different word of the batch.
    const Tensor shapes =
        segment_max(conv1d(gather_rows(letter_table, batch.letters), batch.words, letter_weight,
                           letter_bias, {.padding = kernel / 2, .act = Act::relu}),
                    batch.words);
    Tensor x = concat_cols(
        {gather_rows(word_table, batch.tokens.tokens), gather_rows(shapes, batch.forms)});
    x.set_row_names(batch.parts);
    return projection(concat_cols({dropout(x, p_drop), batch.features}));
}

SeparableConv::SeparableConv(int width, int kernel, const Params& p)
    : depthwise(p.exact("depthwise.weight", {width, 1, kernel},
                        normal(1.0f / std::sqrt(static_cast<float>(kernel))))),
      pointwise(width, width, p / "pointwise") {}

Tensor SeparableConv::operator()(const Tensor& x, const Segments& segments) const {
    return pointwise(depthwise_conv1d(x, segments, depthwise, {}), Act::relu);
}

ReaderBlock::ReaderBlock(const ReaderConfig& c, const Sizes& sizes, const Params& p)
    : attention_norm(c.hidden_size, p / "attention_norm"),
      self_attn(c.hidden_size, c.num_attention_heads, p / "self_attn", c.dropout),
      feed_forward_norm(c.hidden_size, p / "feed_forward_norm"),
      fc1(c.hidden_size, c.intermediate_size, p / "fc1"),
      fc2(c.intermediate_size, c.hidden_size, p / "fc2"),
      p_drop(c.dropout) {
    for (int i = 0; i < sizes.convolutions; ++i) {
        conv_norms.emplace_back(c.hidden_size, p / "conv_norms" / i);
        convs.emplace_back(c.hidden_size, sizes.kernel, p / "convs" / i);
    }
}

Tensor ReaderBlock::operator()(Tensor x, const Segments& segments, const Visibility& sees) const {
    for (std::size_t i = 0; i < convs.size(); ++i)
        x = add_dropout(x, convs[i](conv_norms[i](x), segments), p_drop);
    const Tensor h = attention_norm(x);
    x = add_dropout(x, self_attn(h, h, sees), p_drop);
    return add_dropout(x, fc2(fc1(feed_forward_norm(x), Act::relu)), p_drop);
}

TwoTextAttention::TwoTextAttention(int width, const Params& p)
    : from_context(width, width, p / "from_context"),
      from_question(width, width, p / "from_question"),
      output(4 * width, width, p / "output"),
      name(p.path()) {}

Tensor TwoTextAttention::operator()(const Tensor& c, const Segments& contexts, const Tensor& q,
                                    const Segments& questions) const {
    const std::int64_t d = c.cols();
    const Tensor tc = attention(from_question(q), c, c, 1, everything(questions, contexts),
                                {.name = name + ".from_question"});
    const Tensor ab = attention(from_context(c), q, concat_cols({q, tc}), 1,
                                everything(contexts, questions), {.name = name + ".from_context"});
    const Tensor a = slice_cols(ab, 0, d), b = slice_cols(ab, d, 2 * d);
    return output(concat_cols({c, a, mul(c, a), mul(c, b)}));
}

Reader::Reader(const ReaderConfig& c, const Params& p)
    : config(c),
      embedding(c, p / "embedding"),
      encoder(c, {c.encoder_convolutions, c.encoder_kernel}, p / "encoder"),
      encoder_norm(c.hidden_size, p / "encoder_norm"),
      between(c.hidden_size, p / "between"),
      end_layer(c, {c.layer_convolutions, c.layer_kernel}, p / "end_layer"),
      start_norm(c.hidden_size, p / "start_norm"),
      end_norm(c.hidden_size, p / "end_norm"),
      start(p.get("start.weight", {1, c.hidden_size}, xavier())),
      end(p.get("end.weight", {1, c.hidden_size}, xavier())) {
    for (int i = 0; i < c.num_hidden_layers; ++i)
        layers.emplace_back(c, ReaderBlock::Sizes{c.layer_convolutions, c.layer_kernel},
                            p / "layers" / i);
}

SpanScores Reader::operator()(const ReadingBatch& batch) const {
    const Segments& parts = batch.parts;
    const Tensor e = embedding(batch) + sinusoid(parts, config.hidden_size);
    const Tensor h = encoder_norm(encoder(e, parts, everything(parts, parts)));

    const OneText questions(parts, 0), contexts(parts, 1);
    const Segments& s = contexts.segments;
    const Visibility sees = everything(s, s);
    Tensor m = between(contexts.of(h), s, questions.of(h), questions.segments);
    m = dropout(m, config.dropout) + sinusoid(s, config.hidden_size);
    for (const ReaderBlock& layer : layers) m = layer(m, s, sees);
    const Tensor later = end_layer(m, s, sees);
    return {concat_cols({linear(start_norm(m), start), linear(end_norm(later), end)}), s};
}

}  // namespace fovea
