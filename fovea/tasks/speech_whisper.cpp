#include "fovea/tasks/speech_whisper.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/whisper_stepper.h"

namespace fovea {
namespace {

// "<|en|>" without its brackets.
std::string code_of(const std::string& token) {
    return token.size() > 4 && token.starts_with("<|") && token.ends_with("|>")
               ? token.substr(2, token.size() - 4)
               : token;
}

// Which language each clip is in: the likeliest of their tokens behind the start.
Ids heard_languages(const Whisper& model, const WhisperHabits& habits, const SoundRows& sound) {
    const auto clips = static_cast<std::size_t>(sound.segments.count());
    const Ids starts(clips, model.decoder.config.decoder_start_token_id);
    const std::vector<std::int64_t> one_each(clips, 1);
    const Tensor logits =
        model.decoder.logits(model.decoder(starts, Segments::of_lengths(one_each), sound));
    Ids found;
    for (std::int64_t c = 0; c < logits.rows(); ++c)
        found.push_back(*std::max_element(
            habits.languages.begin(), habits.languages.end(),
            [&](std::int32_t a, std::int32_t b) { return logits.at(c, a) < logits.at(c, b); }));
    return found;
}

Ids languages_of(const Whisper& model, const WhisperHabits& habits, const SoundRows& sound,
                 const std::string& wanted) {
    const auto clips = static_cast<std::size_t>(sound.segments.count());
    if (!wanted.empty()) {
        const auto found = habits.language_tokens.find(wanted);
        if (found == habits.language_tokens.end())
            fail_with(ErrorKind::usage,
                      habits.languages.empty() ? "leave --language out: the model knows one"
                                               : "codes such as en, de, zh",
                      "--language ", wanted, ": the model has no such language");
        return Ids(clips, found->second);
    }
    if (habits.usual_language >= 0) return Ids(clips, habits.usual_language);
    return heard_languages(model, habits, sound);
}

}  // namespace

WhisperHabits WhisperHabits::from_json(const Json& generation, const WhisperConfig& config,
                                       const std::string& where) {
    WhisperHabits h;
    JsonFields f(generation, where);
    const auto known = [&](std::int32_t id, const char* what) {
        expect_input(id >= 0 && id < config.vocab_size, where, ": \"", what, "\" holds token ", id,
                     ", but the vocabulary has ", config.vocab_size);
        return id;
    };
    const auto table = [&](const char* key, const auto& take) {
        if (!generation.contains(key) || generation[key].is_null()) return;
        expect_input(generation[key].is_object(), where, ": \"", key, "\" is not an object");
        for (const auto& [name, id] : generation[key].items()) {
            expect_input(id.is_number_integer(), where, ": \"", key, "\" has no number for ", name);
            take(name, known(id.template get<std::int32_t>(), key));
        }
    };
    table("lang_to_id", [&](const std::string& name, std::int32_t id) {
        h.languages.push_back(id);
        h.language_tokens[code_of(name)] = id;
    });
    table("task_to_id", [&](const std::string& name, std::int32_t id) {
        if (name == "transcribe") h.transcribe = id;
        if (name == "translate") h.translate = id;
    });
    if (int id = -1; f.read("no_timestamps_token_id", id))
        h.no_times = known(id, "no_timestamps_token_id");
    const auto list = [&](const char* key, Ids& to) {
        if (!generation.contains(key) || generation[key].is_null()) return;
        expect_input(generation[key].is_array(), where, ": \"", key, "\" is not a list");
        for (const Json& id : generation[key]) {
            expect_input(id.is_number_integer(), where, ": \"", key, "\" holds no numbers");
            if (id.get<std::int64_t>() >= 0) to.push_back(known(id.get<std::int32_t>(), key));
        }
    };
    list("suppress_tokens", h.never);
    list("begin_suppress_tokens", h.not_first);
    // Pairs of a place and its token (null: whatever is heard).
    if (generation.contains("forced_decoder_ids") && generation["forced_decoder_ids"].is_array())
        for (const Json& pair : generation["forced_decoder_ids"]) {
            expect_input(pair.is_array() && pair.size() == 2, where,
                         ": \"forced_decoder_ids\" holds something else than pairs");
            if (!pair[1].is_number_integer()) continue;
            const std::int32_t id = known(pair[1].get<std::int32_t>(), "forced_decoder_ids");
            if (std::count(h.languages.begin(), h.languages.end(), id) > 0)
                h.usual_language = id;
            else if (h.languages.empty())
                h.after_start.push_back(id);
        }
    return h;
}

std::vector<Hypothesis> hear(const Whisper& model, const WhisperHabits& habits,
                             const SoundRows& sound, const WhisperWish& wish) {
    const WhisperConfig& config = model.decoder.config;
    if (wish.translate && habits.translate < 0)
        throw Error("--translate: the model only transcribes", ErrorKind::usage,
                    "leave --translate out");
    Ids languages;
    if (!habits.languages.empty() || !wish.language.empty())
        languages = languages_of(model, habits, sound, wish.language);
    std::vector<DecodeRequest> requests(static_cast<std::size_t>(sound.segments.count()));
    for (std::size_t i = 0; i < requests.size(); ++i) {
        Ids& prompt = requests[i].prompt;
        prompt = {config.decoder_start_token_id};
        if (!languages.empty()) {
            prompt.push_back(languages[i]);
            if (const std::int32_t what = wish.translate ? habits.translate : habits.transcribe;
                what >= 0)
                prompt.push_back(what);
            if (habits.no_times >= 0) prompt.push_back(habits.no_times);
        }
        prompt.insert(prompt.end(), habits.after_start.begin(), habits.after_start.end());
        requests[i].limit = config.max_target_positions - static_cast<std::int64_t>(prompt.size());
    }
    WhisperStepper stepper(model.decoder, sound, habits.not_first);
    const SearchOptions options{.beam = wish.beam,
                                .max_length = config.max_target_positions,
                                .penalty = LengthPenalty::hf,
                                .banned = habits.never};
    std::vector<Hypothesis> best;
    for (std::vector<Hypothesis>& found : search(stepper, options, requests))
        best.push_back(std::move(found.at(0)));
    return best;
}

}  // namespace fovea
