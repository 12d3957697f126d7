#pragma once
// Whisper's own checkpoints at work (Radford et al. 2022, §2.3): sounds are heard in windows of 30
// s, filled up with silence as in their training; a text begins with tokens that say which language
// is spoken, whether to translate it, and that no times are wanted. Thread-safety: plain values;
// reading one from several threads is safe.
#include <map>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/infer/search_options.h"
#include "fovea/models/whisper.h"

namespace fovea {

// What generation_config.json says of it.
struct WhisperHabits {
    Ids languages{};  // tokens of languages; none: the model knows one
    std::map<std::string, std::int32_t> language_tokens{};        // by code: "en", "de", …
    std::int32_t transcribe = -1, translate = -1, no_times = -1;  // -1: there is no such token
    Ids after_start{};                 // forced_decoder_ids of models of one language
    Ids never{}, not_first{};          // suppress_tokens, begin_suppress_tokens
    std::int32_t usual_language = -1;  // forced by the folder; -1: it is heard

    static WhisperHabits from_json(const Json& generation, const WhisperConfig& config,
                                   const std::string& where);
};

struct WhisperWish {
    std::string language{};  // a code; empty: as the folder says, or as it is heard
    bool translate = false;  // into English
    int beam = 1;
};

// What is said in each clip: tokens without prompt and end.
std::vector<Hypothesis> hear(const Whisper& model, const WhisperHabits& habits,
                             const SoundRows& sound, const WhisperWish& wish);

}  // namespace fovea
