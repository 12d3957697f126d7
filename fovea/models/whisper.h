#pragma once
// Whisper (Radford et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision"),
// under Hugging Face's parameter names: an encoder of log-mel frames (two convolutions, sines,
// pre-norm blocks) and a decoder of tokens; for recognition, or with a classifier on the encoder.
//
// Clips lie end to end and have their own lengths: what Whisper fills up to 30 s with silence is
// not computed here, and a clip's numbers do not depend on its neighbours.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/models/whisper_config.h"
#include "fovea/nn/kv_cache.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/params.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/tensor/segments.h"

namespace fovea {

// Multi-head attention whose keys have no bias.
struct WhisperAttention {
    WhisperAttention(int width, int heads, float drop, const Params& p);
    Tensor operator()(const Tensor& x, const Tensor& memory, const Visibility& sees) const {
        return attend(x, keys(memory), v_proj(memory), sees);
    }
    Tensor keys(const Tensor& memory) const { return linear(memory, k_proj); }
    // To keys and values computed before.
    Tensor attend(const Tensor& x, const Tensor& k, const Tensor& v, const Visibility& sees) const;

    Linear q_proj;
    Tensor k_proj;
    Linear v_proj, out_proj;
    std::string name;
    int heads;
    float p_drop;
};

// x + attention(norm(x)), in the decoder + attention to the sound, + fc2(gelu(fc1(norm(x)))).
struct WhisperLayer {
    WhisperLayer(const WhisperConfig& c, bool decoder, const Params& p);
    // What a normed row takes from the rows it sees.
    using Attend = std::function<Tensor(const Tensor&)>;
    Tensor operator()(const Tensor& x, const Attend& own, const Attend* sound = nullptr) const;

    WhisperAttention self_attn;
    LayerNorm self_attn_layer_norm;
    std::optional<WhisperAttention> encoder_attn;
    std::optional<LayerNorm> encoder_attn_layer_norm;
    Linear fc1, fc2;
    LayerNorm final_layer_norm;
    WhisperConfig config;
};

// Rows and the sequences they belong to.
struct SoundRows {
    Tensor rows;
    Segments segments;
};

struct WhisperEncoder {
    WhisperEncoder(const WhisperConfig& c, const Params& p);
    // features [frames, num_mel_bins]; half as many rows come out, rounded up.
    SoundRows operator()(const Tensor& features, const Segments& frames) const;

    WhisperConfig config;
    Tensor conv1_weight, conv1_bias, conv2_weight, conv2_bias;
    Tensor embed_positions;  // sines; not trained
    std::vector<WhisperLayer> layers;
    LayerNorm layer_norm;
};

// Decoding step by step: the past of the texts, and the sounds' keys and values, layer by layer.
struct WhisperCache {
    std::vector<KvCache> self;
    std::vector<Tensor> sound_k, sound_v;
    Segments sounds;
};

struct WhisperDecoder {
    WhisperDecoder(const WhisperConfig& c, const Params& p);
    WhisperCache start(const SoundRows& sound) const;
    // The next rows of texts, `fresh`, the first of each at positions `at`; text i hears sound
    // sounds[i] and sees what `past` (over the cache) says. The same bits as all rows at once.
    struct Next {
        const Ids& tokens;
        const Segments& fresh;
        const Positions& at;
        const Visibility& past;
        const std::vector<std::int64_t>& sounds;
    };
    Tensor step(const Next& next, WhisperCache& cache) const;
    // Teacher forcing: row i sees its own tokens up to i and the whole of its sound. [tokens, d]
    Tensor operator()(const Ids& tokens, const Segments& segments, const SoundRows& sound) const;
    Tensor logits(const Tensor& hidden) const { return linear(hidden, embed_tokens); }

    WhisperConfig config;
    Tensor embed_tokens, embed_positions;
    std::vector<WhisperLayer> layers;
    LayerNorm layer_norm;

private:
    Tensor embed(const Ids& tokens, const Segments& segments, const Positions& at = {}) const;
};

// WhisperForConditionalGeneration.
struct Whisper {
    Whisper(const WhisperConfig& c, const Params& p);
    Tensor logits(const Tensor& features, const Segments& frames, const Ids& tokens,
                  const Segments& segments) const {
        return decoder.logits(decoder(tokens, segments, encoder(features, frames)));
    }

    WhisperEncoder encoder;
    WhisperDecoder decoder;
};

// WhisperForAudioClassification: classifier(mean over rows of projector(encoder)).
struct WhisperClassifier {
    WhisperClassifier(const WhisperConfig& c, int classes, const Params& p);
    Tensor operator()(const Tensor& features, const Segments& frames) const;  // [clips, classes]

    WhisperEncoder encoder;
    Linear projector, classifier;
};

}  // namespace fovea
