#pragma once
// TimeSformer (Bertasius et al. 2021, Is Space-Time Attention All You Need for Video
// Understanding?): a ViT over the patches of several frames, under the parameter names of Hugging
// Face's timesformer models. How frames see each other is `attention_type`:
//
//   space_only          a frame sees itself alone; the frames' first rows are averaged
//   joint_space_time    all patches of all frames see each other
//   divided_space_time  a patch sees its own place in all frames, then its own frame (§3, eq. 8-9)
//
// Attention over time or space is one call over rows in another order: rows are permuted, never
// masked. A clip's rows are its first token, then for each place in the picture that place in all
// frames: the order in which attention over time needs nothing moved.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/act.h"
#include "fovea/base/json.h"
#include "fovea/models/picture_model.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

enum class ClipAttention { space_only, joint_space_time, divided_space_time };

struct TimesformerConfig {
    int image_size = 224;
    int patch_size = 16;
    int num_channels = 3;
    int num_frames = 8;
    int hidden_size = 768;
    int num_hidden_layers = 12;
    int num_attention_heads = 12;
    int intermediate_size = 3072;
    Act hidden_act = Act::gelu;
    double hidden_dropout_prob = 0;
    double attention_probs_dropout_prob = 0;
    double initializer_range = 0.02;
    double layer_norm_eps = 1e-6;
    bool qkv_bias = true;
    ClipAttention attention_type = ClipAttention::divided_space_time;

    int places() const { return image_size / patch_size * (image_size / patch_size); }
    static TimesformerConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

// Where the rows of clips are, by what looks at them.
struct ClipRows {
    ClipRows(const TimesformerConfig& c, std::vector<std::uint64_t> samples);

    Segments clips;  // rows of the stream: 1 + places · frames each; space_only: 1 + places a frame
    Visibility all;  // within those
    // Of divided attention. `firsts` and `patches` take a stream's rows apart, `joined` puts them
    // together again; `frames` gathers [firsts; patches] by frame, each behind its clip's first
    // row; `frame_firsts` and `frame_patches` go back.
    Ids firsts, patches, joined, frames, frame_firsts, frame_patches;
    Segments times, single_frames;
    Visibility through_time, within_frames;
};

struct TimesformerAttention {
    TimesformerAttention(const TimesformerConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Visibility& sees) const;

    Tensor qkv, qkv_bias;  // [3d, d], [3d] or nothing
    Linear output;
    std::string name;
    int heads;
    float attention_drop, p_drop;
};

struct TimesformerLayer {
    TimesformerLayer(const TimesformerConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const ClipRows& at) const;

    struct Time {  // what divided attention has besides
        LayerNorm norm;
        TimesformerAttention attention;
        Linear dense;
    };
    std::optional<Time> time;
    LayerNorm norm_before;
    TimesformerAttention attention;
    LayerNorm norm_after;
    Linear intermediate, output;
    Act act;
    float p_drop;

private:
    Tensor divided(const Tensor& x, const ClipRows& at) const;
};

struct Timesformer {
    static constexpr const char* model_type = "timesformer";

    Timesformer(const TimesformerConfig& c, const Params& p);

    static Json new_config(const PictureModelChoice& choice);
    static PictureModel make(const Json& config, const std::string& where, int classes,
                             const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    // frames [clips · num_frames, channels, height, width], one clip after the other; samples: a
    // name of each clip for its dropout. One row for each clip, [clips, hidden_size].
    Tensor operator()(const Tensor& frames, const std::vector<std::uint64_t>& samples) const;

    TimesformerConfig config;
    Tensor cls_token, position_embeddings, time_embeddings;
    Tensor projection, projection_bias;  // [hidden, channels, patch, patch]
    std::vector<TimesformerLayer> layers;
    LayerNorm norm;

private:
    Tensor embedded(const Tensor& frames, const ClipRows& at) const;
};

// The label of a clip: a linear layer on its row.
struct TimesformerForVideoClassification {
    TimesformerForVideoClassification(const TimesformerConfig& c, int labels, const Params& p);
    Tensor operator()(const Tensor& frames, const std::vector<std::uint64_t>& samples) const;

    Timesformer timesformer;
    Linear classifier;
};

}  // namespace fovea
