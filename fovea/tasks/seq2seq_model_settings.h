#pragma once
// The kind and the sizes of a new sequence-to-sequence model, as settings of a training run.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <optional>
#include <string>

#include "fovea/base/settings.h"
#include "fovea/tasks/seq2seq_settings.h"

namespace fovea {

struct Seq2SeqModelSettings {
    // Declares them, and those of `t` that are about the model.
    void describe(Settings& settings, Seq2SeqTraining& t);
    // Mechanisms that do not exist or do not go together, and flags without effect, are usage
    // errors: told before any file is read.
    void check(Settings& settings, Seq2SeqTraining& t) const;
    // The preset with what was given over it; what it decides is then shown in config.toml.
    void take(Seq2SeqTraining& t);

    bool is_transformer() const { return model == "transformer"; }

    std::string model = "transformer", attention = "global", score = "general", copy = "none";
    std::string cross_attention = "global", decoder_attention = "global";
    float coverage = 0;
    bool no_feeding = false;
    std::string preset = "small", positions = "sinusoidal", activation = "relu";
    std::optional<float> dropout{};
    std::optional<int> encoder_layers{}, decoder_layers{}, d_model{}, ffn{}, heads{};

private:
    void check_transformer(TransformerConfig& c) const;
    void take_recurrent(Seq2SeqTraining& t);
};

}  // namespace fovea
