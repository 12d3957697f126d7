#include "fovea/models/whisper.h"

#include <cmath>

#include "fovea/nn/positions.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/ops/rows/positions.h"

namespace fovea {
namespace {

// He et al. 2015, eq. 10, for the gelu behind it: variance 2 / inputs.
Init of_convolution(int in) { return uniform(std::sqrt(6.0f / static_cast<float>(3 * in))); }

constexpr Conv1dOptions same_length{.stride = 1, .padding = 1, .act = Act::gelu};
constexpr Conv1dOptions half_length{.stride = 2, .padding = 1, .act = Act::gelu};

}  // namespace

WhisperAttention::WhisperAttention(int width, int n_heads, float drop, const Params& p)
    : q_proj(width, width, p / "q_proj", xavier(std::sqrt(0.5f))),
      k_proj((p / "k_proj").get("weight", {width, width}, xavier(std::sqrt(0.5f)))),
      v_proj(width, width, p / "v_proj", xavier(std::sqrt(0.5f))),
      out_proj(width, width, p / "out_proj"),
      name(p.path()),
      heads(n_heads),
      p_drop(drop) {}

Tensor WhisperAttention::attend(const Tensor& x, const Tensor& k, const Tensor& v,
                                const Visibility& sees) const {
    return out_proj(attention(q_proj(x), k, v, heads, sees, {.dropout = p_drop, .name = name}));
}

WhisperLayer::WhisperLayer(const WhisperConfig& c, bool decoder, const Params& p)
    : self_attn(c.d_model, decoder ? c.decoder_attention_heads : c.encoder_attention_heads,
                c.attention_dropout, p / "self_attn"),
      self_attn_layer_norm(c.d_model, p / "self_attn_layer_norm"),
      fc1(c.d_model, decoder ? c.decoder_ffn_dim : c.encoder_ffn_dim, p / "fc1"),
      fc2(decoder ? c.decoder_ffn_dim : c.encoder_ffn_dim, c.d_model, p / "fc2"),
      final_layer_norm(c.d_model, p / "final_layer_norm"),
      config(c) {
    if (!decoder) return;
    encoder_attn.emplace(c.d_model, c.decoder_attention_heads, c.attention_dropout,
                         p / "encoder_attn");
    encoder_attn_layer_norm.emplace(c.d_model, p / "encoder_attn_layer_norm");
}

Tensor WhisperLayer::operator()(const Tensor& x, const Attend& own, const Attend* sound) const {
    Tensor h = add_dropout(x, own(self_attn_layer_norm(x)), config.dropout);
    if (sound) h = add_dropout(h, (*sound)((*encoder_attn_layer_norm)(h)), config.dropout);
    const Tensor inner =
        dropout(fc1(final_layer_norm(h), config.activation_function), config.activation_dropout);
    return add_dropout(h, fc2(inner), config.dropout);
}

WhisperEncoder::WhisperEncoder(const WhisperConfig& c, const Params& p)
    : config(c),
      conv1_weight(
          (p / "conv1")
              .get("weight", {c.d_model, c.num_mel_bins, 3}, of_convolution(c.num_mel_bins))),
      conv1_bias((p / "conv1").get("bias", {c.d_model}, zeros())),
      conv2_weight(
          (p / "conv2").get("weight", {c.d_model, c.d_model, 3}, of_convolution(c.d_model))),
      conv2_bias((p / "conv2").get("bias", {c.d_model}, zeros())),
      embed_positions((p / "embed_positions")
                          .constant("weight", {c.max_source_positions, c.d_model},
                                    sines(SinusoidForm::spread))),
      layer_norm(c.d_model, p / "layer_norm") {
    p.store().keep_exact((p / "embed_positions").full("weight"));
    for (int i = 0; i < c.encoder_layers; ++i) layers.emplace_back(c, false, p / "layers" / i);
}

SoundRows WhisperEncoder::operator()(const Tensor& features, const Segments& frames) const {
    for (std::int64_t s = 0; s < frames.count(); ++s)
        expect(frames.length(s) <= config.max_frames(), "whisper: a clip of ", frames.length(s),
               " frames, but the model takes ", config.max_frames());
    Tensor x = conv1d(features, frames, conv1_weight, conv1_bias, same_length);
    const Segments middle = conv1d_segments(frames, 3, same_length);
    x = conv1d(x, middle, conv2_weight, conv2_bias, half_length);
    const Segments rows = conv1d_segments(middle, 3, half_length);
    x = dropout(x + learned_positions(embed_positions, rows), config.dropout);
    const Visibility sees = everything(rows, rows);
    for (const WhisperLayer& layer : layers)
        x = layer(x, [&](const Tensor& y) { return layer.self_attn(y, y, sees); });
    return {layer_norm(x), rows};
}

WhisperDecoder::WhisperDecoder(const WhisperConfig& c, const Params& p)
    : config(c),
      embed_tokens(p.get("embed_tokens.weight", {c.vocab_size, c.d_model},
                         normal(1.0f / std::sqrt(static_cast<float>(c.d_model))))),
      embed_positions(
          p.exact("embed_positions.weight", {c.max_target_positions, c.d_model}, normal(0.02f))),
      layer_norm(c.d_model, p / "layer_norm") {
    for (int i = 0; i < c.decoder_layers; ++i) layers.emplace_back(c, true, p / "layers" / i);
}

Tensor WhisperDecoder::embed(const Ids& tokens, const Segments& segments,
                             const Positions& at) const {
    Tensor x = gather_rows(embed_tokens, tokens);
    if (config.scale_embedding) x = std::sqrt(static_cast<float>(config.d_model)) * x;
    return dropout(x + learned_positions(embed_positions, segments, at), config.dropout);
}

Tensor WhisperDecoder::operator()(const Ids& tokens, const Segments& segments,
                                  const SoundRows& sound) const {
    expect(segments.count() == sound.segments.count(), "whisper: ", segments.count(), " texts but ",
           sound.segments.count(), " clips");
    Tensor x = embed(tokens, segments);
    const Visibility sees = past(segments), sees_sound = everything(segments, sound.segments);
    for (const WhisperLayer& layer : layers) {
        const WhisperLayer::Attend hears = [&](const Tensor& y) {
            return (*layer.encoder_attn)(y, sound.rows, sees_sound);
        };
        x = layer(
            x, [&](const Tensor& y) { return layer.self_attn(y, y, sees); }, &hears);
    }
    return layer_norm(x);
}

WhisperCache WhisperDecoder::start(const SoundRows& sound) const {
    WhisperCache cache;
    cache.self.resize(layers.size());
    cache.sounds = sound.segments;
    for (const WhisperLayer& layer : layers) {
        cache.sound_k.push_back(layer.encoder_attn->keys(sound.rows));
        cache.sound_v.push_back(layer.encoder_attn->v_proj(sound.rows));
    }
    return cache;
}

Tensor WhisperDecoder::step(const Next& next, WhisperCache& cache) const {
    Tensor x = embed(next.tokens, next.fresh, next.at);
    std::vector<KeyList> heard;
    for (const std::int64_t s : next.sounds)
        heard.push_back({{cache.sounds.begin(s), cache.sounds.length(s)}});
    const Visibility sees_sound = everything(next.fresh, heard, cache.sounds.total());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const WhisperLayer& layer = layers[i];
        const WhisperLayer::Attend own = [&](const Tensor& y) {
            cache.self[i].append(layer.self_attn.keys(y), layer.self_attn.v_proj(y));
            return layer.self_attn.attend(y, cache.self[i].keys(), cache.self[i].values(),
                                          next.past);
        };
        const WhisperLayer::Attend hears = [&](const Tensor& y) {
            return layer.encoder_attn->attend(y, cache.sound_k[i], cache.sound_v[i], sees_sound);
        };
        x = layer(x, own, &hears);
    }
    return layer_norm(x);
}

Whisper::Whisper(const WhisperConfig& c, const Params& p)
    : encoder(c, p / "model" / "encoder"), decoder(c, p / "model" / "decoder") {
    p.tie("proj_out.weight", "model.decoder.embed_tokens.weight");
}

WhisperClassifier::WhisperClassifier(const WhisperConfig& c, int classes, const Params& p)
    : encoder(c, p / "encoder"),
      projector(c.d_model, c.classifier_proj_size, p / "projector"),
      classifier(c.classifier_proj_size, classes, p / "classifier") {}

Tensor WhisperClassifier::operator()(const Tensor& features, const Segments& frames) const {
    const SoundRows x = encoder(features, frames);
    return classifier(segment_mean(projector(x.rows), x.segments));
}

}  // namespace fovea
