#pragma once
// Recognition for small data: Whisper's encoder at a small size with a CTC head (Graves et al.
// 2006), and, where it has decoder layers, Whisper's decoder beside it, trained together (Watanabe
// et al. 2017, "Hybrid CTC/Attention"):   loss = w CTC + (1 − w) cross entropy of the decoder.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>

#include "fovea/models/whisper.h"

namespace fovea {

struct SpeechConfig {
    WhisperConfig sizes;      // vocab_size: units, the blank (0) and the decoder's marks included
    float ctc_weight = 1.0f;  // w; 1 without a decoder

    static constexpr const char* model_type = "fovea_speech";
    static constexpr std::int32_t blank = 0;
    // tiny | small | base; units and frames are left alone.
    void apply_preset(const std::string& name);
    static SpeechConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

// Targets of a batch: units of each clip, end to end.
struct SpokenUnits {
    Ids ids;
    Segments segments;
};

struct SpeechModel {
    SpeechModel(const SpeechConfig& c, const Params& p);

    SoundRows encode(const Tensor& features, const Segments& frames) const {
        return encoder(features, frames);
    }
    // Scores of units and the blank, [rows, vocab_size].
    Tensor unit_logits(const SoundRows& sound) const { return ctc(sound.rows); }

    struct Losses {
        Tensor ctc;                      // mean over clips of loss / units
        std::optional<Tensor> decoding;  // mean over units and end marks
        Tensor joint;                    // both, weighted
    };
    Losses losses(const SoundRows& sound, const SpokenUnits& units) const;
    // log p(units, end) by the decoder for each text; one sound each.
    std::vector<double> decoder_scores(const SoundRows& sound, const SpokenUnits& units) const;

    SpeechConfig config;
    WhisperEncoder encoder;
    Linear ctc;
    std::optional<WhisperDecoder> decoder;

private:
    // What the decoder reads (start, units) and is to say (units, end).
    struct Shifted {
        Ids input, labels;
        Segments segments;
    };
    Shifted shifted(const SpokenUnits& units) const;
};

}  // namespace fovea
