#include "fovea/models/timesformer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"
#include "fovea/models/clip_waves.h"
#include "fovea/models/text_encoder.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

constexpr const char* attention_names[] = {"space_only", "joint_space_time", "divided_space_time"};

ClipAttention clip_attention_named(const std::string& name, const std::string& where) {
    for (int i = 0; i < 3; ++i)
        if (name == attention_names[i]) return static_cast<ClipAttention>(i);
    fail_with(ErrorKind::bad_input, "space_only, joint_space_time or divided_space_time", where,
              ": \"attention_type\" is \"", name, "\"");
}

Init timesformer_init(const TimesformerConfig& c) {
    return normal(static_cast<float>(c.initializer_range));
}

LayerNorm timesformer_norm(const TimesformerConfig& c, const Params& p) {
    return {c.hidden_size, p, static_cast<float>(c.layer_norm_eps)};
}

// `count` sequences of each sample, with names of their own.
std::vector<std::uint64_t> split_names(std::span<const std::uint64_t> samples, int count) {
    std::vector<std::uint64_t> names;
    for (const std::uint64_t s : samples)
        for (int i = 0; i < count; ++i)
            names.push_back(s * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(i));
    return names;
}

Segments named_segments(std::int64_t length, std::vector<std::uint64_t> names) {
    const std::vector<std::int64_t> lengths(names.size(), length);
    return Segments::of_lengths(lengths, std::move(names));
}

Tensor named(Tensor rows, const Segments& segments) {
    rows.set_row_names(segments);
    return rows;
}

}  // namespace

TimesformerConfig TimesformerConfig::from_json(const Json& json, const std::string& where) {
    TimesformerConfig c;
    JsonFields f(json, where);
    std::string act = "gelu", kind = "divided_space_time";
    f.read("image_size", c.image_size, {1, 8192});
    f.read("patch_size", c.patch_size, {1, 8192});
    f.read("num_channels", c.num_channels, {1, 64});
    f.read("num_frames", c.num_frames, {1, 4096});
    f.read("hidden_size", c.hidden_size, {1, 1 << 16});
    f.read("num_hidden_layers", c.num_hidden_layers, {1, 512});
    f.read("num_attention_heads", c.num_attention_heads, {1, 1 << 16});
    f.read("intermediate_size", c.intermediate_size, {1, 1 << 20});
    f.read("hidden_act", act);
    f.read("hidden_dropout_prob", c.hidden_dropout_prob, {0, 0.999});
    f.read("attention_probs_dropout_prob", c.attention_probs_dropout_prob, {0, 0.999});
    f.read("initializer_range", c.initializer_range, {0, 100});
    f.read("layer_norm_eps", c.layer_norm_eps, {1e-30, 1});
    f.read("qkv_bias", c.qkv_bias);
    f.read("attention_type", kind);
    c.hidden_act = activation_named(act, "hidden_act", where);
    c.attention_type = clip_attention_named(kind, where);
    expect_input(c.hidden_size % c.num_attention_heads == 0, where, ": \"hidden_size\" ",
                 c.hidden_size, " does not split into ", c.num_attention_heads, " heads");
    expect_input(c.image_size % c.patch_size == 0, where, ": \"image_size\" ", c.image_size,
                 " does not split into patches of ", c.patch_size);
    return c;
}

Json TimesformerConfig::to_json() const {
    return {{"model_type", Timesformer::model_type},
            {"image_size", image_size},
            {"patch_size", patch_size},
            {"num_channels", num_channels},
            {"num_frames", num_frames},
            {"hidden_size", hidden_size},
            {"num_hidden_layers", num_hidden_layers},
            {"num_attention_heads", num_attention_heads},
            {"intermediate_size", intermediate_size},
            {"hidden_act", config_name_of(hidden_act)},
            {"hidden_dropout_prob", hidden_dropout_prob},
            {"attention_probs_dropout_prob", attention_probs_dropout_prob},
            {"initializer_range", initializer_range},
            {"layer_norm_eps", layer_norm_eps},
            {"qkv_bias", qkv_bias},
            {"drop_path_rate", 0},
            {"attention_type", attention_names[static_cast<int>(attention_type)]}};
}

ClipRows::ClipRows(const TimesformerConfig& c, std::vector<std::uint64_t> samples) {
    const int places = c.places(), n_frames = c.num_frames;
    const auto n = static_cast<std::int32_t>(samples.size());
    if (c.attention_type == ClipAttention::space_only) {
        clips = named_segments(1 + places, split_names(samples, n_frames));
        all = everything(clips, clips);
        return;
    }
    clips = named_segments(1 + places * n_frames, samples);
    all = everything(clips, clips);
    times = named_segments(n_frames, split_names(samples, places));
    single_frames = named_segments(1 + places, split_names(samples, n_frames));
    through_time = everything(times, times);
    within_frames = everything(single_frames, single_frames);
    const std::int32_t clip_rows = places * n_frames;
    for (std::int32_t b = 0; b < n; ++b) {
        const std::int32_t stream = b * (1 + clip_rows), own = n + b * clip_rows;
        firsts.push_back(stream);
        joined.push_back(b);
        for (std::int32_t i = 0; i < clip_rows; ++i) {
            patches.push_back(stream + 1 + i);
            joined.push_back(own + i);
        }
        for (std::int32_t t = 0; t < n_frames; ++t) {
            frame_firsts.push_back((b * n_frames + t) * (1 + places));
            frames.push_back(b);
            for (std::int32_t p = 0; p < places; ++p) frames.push_back(own + p * n_frames + t);
        }
        for (std::int32_t p = 0; p < places; ++p)
            for (std::int32_t t = 0; t < n_frames; ++t)
                frame_patches.push_back((b * n_frames + t) * (1 + places) + 1 + p);
    }
}

TimesformerAttention::TimesformerAttention(const TimesformerConfig& c, const Params& p)
    : qkv(p.get("attention.qkv.weight", {3 * c.hidden_size, c.hidden_size}, timesformer_init(c))),
      qkv_bias(c.qkv_bias ? p.get("attention.qkv.bias", {3 * c.hidden_size}, zeros()) : Tensor()),
      output(c.hidden_size, c.hidden_size, p / "output" / "dense", timesformer_init(c)),
      name(p.path()),
      heads(c.num_attention_heads),
      attention_drop(static_cast<float>(c.attention_probs_dropout_prob)),
      p_drop(static_cast<float>(c.hidden_dropout_prob)) {}

Tensor TimesformerAttention::operator()(const Tensor& x, const Visibility& sees) const {
    const std::int64_t d = x.cols();
    const Tensor all = linear(x, qkv, qkv_bias);
    const Tensor mixed =
        attention(slice_cols(all, 0, d), slice_cols(all, d, 2 * d), slice_cols(all, 2 * d, 3 * d),
                  heads, sees, {.dropout = attention_drop, .name = name});
    return dropout(output(mixed), p_drop);
}

TimesformerLayer::TimesformerLayer(const TimesformerConfig& c, const Params& p)
    : norm_before(timesformer_norm(c, p / "layernorm_before")),
      attention(c, p / "attention"),
      norm_after(timesformer_norm(c, p / "layernorm_after")),
      intermediate(c.hidden_size, c.intermediate_size, p / "intermediate" / "dense",
                   timesformer_init(c)),
      output(c.intermediate_size, c.hidden_size, p / "output" / "dense", timesformer_init(c)),
      act(c.hidden_act),
      p_drop(static_cast<float>(c.hidden_dropout_prob)) {
    if (c.attention_type == ClipAttention::divided_space_time)
        time.emplace(
            Time{timesformer_norm(c, p / "temporal_layernorm"),
                 TimesformerAttention(c, p / "temporal_attention"),
                 Linear(c.hidden_size, c.hidden_size, p / "temporal_dense", timesformer_init(c))});
}

//   h = x + Time(x)      h' = h + Space(h),   the first row: the mean over its frames (§3)
Tensor TimesformerLayer::divided(const Tensor& x, const ClipRows& at) const {
    const Tensor first = gather_rows(x, at.firsts);
    const Tensor patches = named(gather_rows(x, at.patches), at.times);
    const Tensor moved =
        patches + time->dense(time->attention(time->norm(patches), at.through_time));
    const Tensor frames =
        named(gather_rows(concat_rows({first, moved}), at.frames), at.single_frames);
    const Tensor seen = attention(norm_before(frames), at.within_frames);
    const Tensor firsts = segment_mean(
        gather_rows(seen, at.frame_firsts),
        Segments::uniform(first.rows(), static_cast<std::int64_t>(at.frame_firsts.size()) /
                                            std::max<std::int64_t>(1, first.rows())));
    return gather_rows(concat_rows({first + firsts, moved + gather_rows(seen, at.frame_patches)}),
                       at.joined);
}

//   h = x + Attention(LN(x))      y = h + FFN(LN(h))
Tensor TimesformerLayer::operator()(const Tensor& x, const ClipRows& at) const {
    const Tensor h = named(time ? divided(x, at) : x + attention(norm_before(x), at.all), at.clips);
    const Tensor inner = dropout(named(intermediate(norm_after(h), act), at.clips), p_drop);
    return named(h + dropout(output(inner), p_drop), at.clips);
}

Timesformer::Timesformer(const TimesformerConfig& c, const Params& p)
    : config(c),
      cls_token(p.exact("embeddings.cls_token", {1, 1, c.hidden_size}, timesformer_init(c))),
      position_embeddings(p.exact("embeddings.position_embeddings",
                                  {1, c.places() + 1, c.hidden_size},
                                  place_waves(c.image_size / c.patch_size))),
      time_embeddings(c.attention_type == ClipAttention::space_only
                          ? Tensor()
                          : p.exact("embeddings.time_embeddings", {1, c.num_frames, c.hidden_size},
                                    frame_waves(c.num_frames))),
      projection(p.get("embeddings.patch_embeddings.projection.weight",
                       {c.hidden_size, c.num_channels, c.patch_size, c.patch_size},
                       timesformer_init(c))),
      projection_bias(
          p.get("embeddings.patch_embeddings.projection.bias", {c.hidden_size}, zeros())),
      norm(timesformer_norm(c, p / "layernorm")) {
    for (int i = 0; i < c.num_hidden_layers; ++i)
        layers.emplace_back(c, p / "encoder" / "layer" / i);
}

// Rows of patches come frame by frame, place by place; the stream has them place by place, frame
// by frame (space_only: as they come).
Tensor Timesformer::embedded(const Tensor& frames, const ClipRows& at) const {
    const Tensor patches =
        conv2d(frames, projection, projection_bias, {.stride = config.patch_size});
    const std::int32_t places = config.places(), n_frames = config.num_frames;
    const bool apart = config.attention_type == ClipAttention::space_only;
    Ids rows, positions, times;
    for (std::int64_t s = 0; s < at.clips.count(); ++s) {
        rows.push_back(0);  // the first token
        positions.push_back(0);
        for (std::int64_t i = 0; i + 1 < at.clips.length(s); ++i) {
            const auto k = static_cast<std::int32_t>(i), own = static_cast<std::int32_t>(s);
            const std::int32_t p = apart ? k : k / n_frames, t = apart ? 0 : k % n_frames;
            rows.push_back(1 + (own * (apart ? 1 : n_frames) + t) * places + p);
            positions.push_back(1 + p);
            times.push_back(t);
        }
    }
    const Tensor x = gather_rows(concat_rows({cls_token, patches}), rows) +
                     gather_rows(position_embeddings, positions);
    const Tensor placed =
        dropout(named(x, at.clips), static_cast<float>(config.hidden_dropout_prob));
    if (apart) return placed;
    const Tensor timed = gather_rows(placed, at.patches) + gather_rows(time_embeddings, times);
    return named(gather_rows(concat_rows({gather_rows(placed, at.firsts), timed}), at.joined),
                 at.clips);
}

Tensor Timesformer::operator()(const Tensor& frames,
                               const std::vector<std::uint64_t>& samples) const {
    const auto clips = static_cast<std::int64_t>(samples.size());
    const Shape wanted{clips * config.num_frames, config.num_channels, config.image_size,
                       config.image_size};
    expect(frames.shape() == wanted, "timesformer: frames are ", frames.shape(), " but must be ",
           wanted);
    const ClipRows at(config, samples);
    Tensor x = embedded(frames, at);
    for (const TimesformerLayer& layer : layers) x = layer(x, at);
    const Tensor first = segment_first(norm(x), at.clips);
    Tensor rows = config.attention_type == ClipAttention::space_only
                      ? segment_mean(first, Segments::uniform(clips, config.num_frames))
                      : first;
    rows.set_row_names(named_segments(1, samples));
    return rows;
}

Json Timesformer::new_config(const PictureModelChoice& choice) {
    if (choice.height != choice.image_width || choice.height % choice.patch != 0)
        fail_with(ErrorKind::usage, "--image-size that --patch divides", "timesformer: frames are ",
                  choice.image_width, " × ", choice.height, " pixels, but must be squares of ",
                  choice.patch, "-pixel patches");
    if (choice.width % choice.heads != 0)
        fail_with(ErrorKind::usage, "choose --heads that divide --d-model", "--heads is ",
                  choice.heads, ", but --d-model ", choice.width, " does not split into so many");
    TimesformerConfig c;
    c.image_size = choice.height;
    c.patch_size = choice.patch;
    c.num_frames = choice.pictures;
    c.num_channels = choice.channels / choice.pictures;
    c.hidden_size = choice.width;
    c.num_hidden_layers = choice.layers;
    c.num_attention_heads = choice.heads;
    c.intermediate_size = choice.ffn;
    c.hidden_dropout_prob = c.attention_probs_dropout_prob = choice.dropout;
    // What a patch hears from other frames passes through three matrices: with deviations of 0.02,
    // which suit 768 columns, 96 would hand on a hundredth of it.
    c.initializer_range = std::round(1000 / std::sqrt(c.hidden_size)) / 1000;
    c.attention_type = clip_attention_named(
        choice.attention + (choice.attention == "space" ? "_only" : "_space_time"), "--attention");
    return c.to_json();
}

namespace {

// Rows of one clip with frames side by side: `row` says where a place of a frame is.
template <class Row>
PatchOrder clip_order(const TimesformerConfig& c, const char* part, const char* name, int rows,
                      const Row& row) {
    const int side = c.image_size / c.patch_size;
    PatchOrder o{part, name, std::vector<std::string>(static_cast<std::size_t>(rows), "[CLS]"), {}};
    for (int y = 0; y < side; ++y)
        for (int t = 0; t < c.num_frames; ++t)
            for (int x = 0; x < side; ++x) {
                o.cells.push_back(row(y * side + x, t));
                o.tokens[static_cast<std::size_t>(o.cells.back())] =
                    "frame " + std::to_string(t + 1) + ": " + std::to_string(y) + "," +
                    std::to_string(x);
            }
    return o;
}

std::vector<PatchOrder> clip_orders(const TimesformerConfig& c) {
    const int places = c.places(), frames = c.num_frames;
    PatchOrder by_frame = clip_order(c, "", "frames", frames * (1 + places),
                                     [&](int p, int t) { return t * (1 + places) + 1 + p; });
    for (int t = 0; t < frames; ++t) {
        const int first = t * (1 + places);
        by_frame.tokens[static_cast<std::size_t>(first)] =
            "frame " + std::to_string(t + 1) + ": [CLS]";
    }
    switch (c.attention_type) {
        case ClipAttention::space_only:
            return {by_frame};
        case ClipAttention::joint_space_time:
            return {clip_order(c, "", "clip", 1 + places * frames,
                               [&](int p, int t) { return 1 + p * frames + t; })};
        case ClipAttention::divided_space_time:
            return {clip_order(c, "temporal_attention", "places", places * frames,
                               [&](int p, int t) { return p * frames + t; }),
                    by_frame};
    }
    return {};
}

}  // namespace

// A picture's channels are those of its frames, one after the other.
PictureModel Timesformer::make(const Json& config, const std::string& where, int classes,
                               const Params& p) {
    const auto c = TimesformerConfig::from_json(config, where);
    const TimesformerForVideoClassification whole(c, classes, p);
    PictureModel m;
    m.width = c.hidden_size;
    m.layers = c.num_hidden_layers;
    m.channels = c.num_channels * c.num_frames;
    m.frames = c.num_frames;
    m.height = m.image_width = c.image_size;
    m.grid_height = c.image_size / c.patch_size;
    m.grid_width = c.num_frames * m.grid_height;  // frames side by side
    m.orders = clip_orders(c);
    m.rows = [body = whole.timesformer](const PictureBatch& batch) {
        const std::int64_t clips = batch.pixels.shape()[0];
        std::vector<std::uint64_t> samples = batch.samples;
        for (std::int64_t i = static_cast<std::int64_t>(samples.size()); i < clips; ++i)
            samples.push_back(static_cast<std::uint64_t>(i));
        const TimesformerConfig& own = body.config;
        const Tensor frames = batch.pixels.reshaped(
            {clips * own.num_frames, own.num_channels, own.image_size, own.image_size});
        return PictureRows{body(frames, samples), named_segments(1, samples)};
    };
    m.classes = [head = whole.classifier](const PictureRows& x) { return head(x.rows); };
    m.layer_of = [last = m.layers + 1](std::string_view name) {
        constexpr std::string_view blocks = "timesformer.encoder.layer.";
        if (name.starts_with("timesformer.embeddings.")) return 0;
        return name.starts_with(blocks) ? numbered_layer(name, blocks) : last;
    };
    return m;
}

TimesformerForVideoClassification::TimesformerForVideoClassification(const TimesformerConfig& c,
                                                                     int labels, const Params& p)
    : timesformer(c, p / "timesformer"),
      classifier(c.hidden_size, labels, p / "classifier", timesformer_init(c)) {}

Tensor TimesformerForVideoClassification::operator()(
    const Tensor& frames, const std::vector<std::uint64_t>& samples) const {
    return classifier(timesformer(frames, samples));
}

}  // namespace fovea
