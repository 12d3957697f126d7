// A model at work: batches of sounds, decoding, times of words, the score.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/precision.h"
#include "fovea/data/batch_plan.h"
#include "fovea/infer/ctc_decode.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/wer.h"
#include "fovea/ops/softmax.h"
#include "fovea/tasks/speech.h"

namespace fovea {
namespace {

ConstView rows_of(const Tensor& t, const Segments& segments, std::int64_t s) {
    return {t.data() + segments.begin(s) * t.cols(), segments.length(s), t.cols()};
}

// CTC's hypotheses judged again by the decoder: w · CTC + (1 − w) · decoder.
CtcHypothesis rescored(const SpeechModel& model, const std::vector<CtcHypothesis>& found,
                       const SoundRows& sound, std::int64_t clip, double weight) {
    SoundRows one;
    SpokenUnits units;
    std::vector<std::int64_t> lengths, sounds;
    const std::int64_t n = sound.segments.length(clip), d = sound.rows.cols();
    const auto times = static_cast<std::int64_t>(found.size());
    one.rows = Tensor({n * times, d});
    float* to = one.rows.write();
    for (const CtcHypothesis& h : found) {
        to = std::copy_n(sound.rows.data() + sound.segments.begin(clip) * d, n * d, to);
        units.ids.insert(units.ids.end(), h.units.begin(), h.units.end());
        lengths.push_back(static_cast<std::int64_t>(h.units.size()));
        sounds.push_back(n);
    }
    one.segments = Segments::of_lengths(sounds);
    units.segments = Segments::of_lengths(lengths);
    const std::vector<double> scores = model.decoder_scores(one, units);
    std::size_t best = 0;
    std::vector<double> joint;
    for (std::size_t i = 0; i < found.size(); ++i) {
        joint.push_back(weight * found[i].score + (1 - weight) * scores[i]);
        if (joint[i] > joint[best]) best = i;
    }
    return {found[best].units, joint[best]};
}

// Words and when they were said: a row of the encoder is two frames of features.
std::vector<SpokenWord> words_in_time(const Transcriber& model, ConstView logits,
                                      std::span<const std::int32_t> units) {
    std::vector<SpokenWord> words;
    const auto places = ctc_align(logits, units);
    const double row = 2 * model.features->seconds_per_frame();
    bool open = false;
    std::size_t parts = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::string& name = model.folder.labels[static_cast<std::size_t>(units[i])];
        if (name == " ") {
            open = false;
            continue;
        }
        if (!open || model.unit_kind == "words") {
            words.push_back({"", static_cast<double>(places[i].begin) * row, 0, 0});
            parts = 0;
        }
        open = true;
        SpokenWord& w = words.back();
        w.word += name;
        w.end = static_cast<double>(places[i].end) * row;
        ++parts;
        w.probability += (places[i].probability - w.probability) / static_cast<double>(parts);
    }
    return words;
}

Transcript transcript_of(const Transcriber& model, const SoundRows& sound, const Tensor& logits,
                         std::int64_t clip, const TranscribeOptions& o) {
    const ConstView rows = rows_of(logits, sound.segments, clip);
    const SpeechModel& recogniser = *model.network->recogniser;
    CtcHypothesis best;
    if (o.beam <= 1) {
        best = ctc_greedy(rows, SpeechConfig::blank);
    } else {
        const auto found = ctc_beam(rows, o.beam, SpeechConfig::blank);
        const double weight = o.ctc_weight.value_or(recogniser.config.ctc_weight);
        best = recogniser.decoder && weight < 1 ? rescored(recogniser, found, sound, clip, weight)
                                                : found[0];
    }
    Transcript t{model.text_of_units(best.units), best.score};
    if (o.times) t.words = words_in_time(model, rows, best.units);
    return t;
}

Transcript class_of(const Transcriber& model, const Tensor& probabilities, std::int64_t clip) {
    const float* row = probabilities.data() + clip * probabilities.cols();
    const auto best = std::max_element(row, row + probabilities.cols()) - row;
    Transcript t{model.folder.labels[static_cast<std::size_t>(best)],
                 static_cast<double>(row[best])};
    t.probabilities.assign(row, row + probabilities.cols());
    return t;
}

// Each sound window by window, the texts joined.
void hear_batch(const Transcriber& model, std::span<const LoadedSound> sounds,
                std::span<const std::int64_t> chosen, const TranscribeOptions& options,
                std::vector<Transcript>& out) {
    const WhisperWish wish{options.language, options.translate, options.beam};
    for (const std::int64_t i : chosen) {
        Transcript& t = out[static_cast<std::size_t>(i)];
        for (const LoadedSound& window :
             model.features->windows_of(sounds[static_cast<std::size_t>(i)])) {
            const Tensor rows = (*model.features)(window);
            const SoundBatch batch = pack_sounds({&rows, 1});
            const Whisper& whisper = *model.network->whisper;
            const Hypothesis h =
                hear(whisper, model.habits, whisper.encoder(batch.features, batch.frames), wish)[0];
            std::string said = model.folder.tokenizer->decode(h.tokens);
            said.erase(0, said.find_first_not_of(' '));  // words bring the space before them along
            if (!said.empty()) t.text += (t.text.empty() ? "" : " ") + said;
            t.score += h.sum;
        }
    }
}

void answer_batch(const Transcriber& model, std::span<const LoadedSound> sounds,
                  std::span<const std::int64_t> chosen, const TranscribeOptions& options,
                  std::vector<Transcript>& out) {
    if (model.is_whisper()) return hear_batch(model, sounds, chosen, options, out);
    std::vector<Tensor> features;
    for (const std::int64_t i : chosen)
        features.push_back((*model.features)(sounds[static_cast<std::size_t>(i)]));
    const SoundBatch batch = pack_sounds(features);
    if (model.classifies()) {
        const Tensor p = softmax((*model.network->classifier)(batch.features, batch.frames));
        for (std::size_t k = 0; k < chosen.size(); ++k)
            out[static_cast<std::size_t>(chosen[k])] =
                class_of(model, p, static_cast<std::int64_t>(k));
        return;
    }
    const SpeechModel& recogniser = *model.network->recogniser;
    const SoundRows sound = recogniser.encode(batch.features, batch.frames);
    const Tensor logits = recogniser.unit_logits(sound);
    for (std::size_t k = 0; k < chosen.size(); ++k)
        out[static_cast<std::size_t>(chosen[k])] =
            transcript_of(model, sound, logits, static_cast<std::int64_t>(k), options);
}

}  // namespace

std::vector<Transcript> transcribe(const Transcriber& model, std::span<const LoadedSound> sounds,
                                   const TranscribeOptions& options,
                                   const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    std::vector<std::int64_t> lengths;
    for (const LoadedSound& s : sounds) lengths.push_back(model.features->frames_of(s) / 2 + 1);
    std::vector<Transcript> out(sounds.size());
    if (sounds.empty()) return out;
    const BatchPlan plan(lengths, {.max_tokens = options.batch_rows, .shuffle = false}, 0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && *control.stop) break;
        answer_batch(model, sounds, plan[b], options, out);
        done += static_cast<std::int64_t>(plan[b].size());
        if (control.progress) control.progress(done, static_cast<std::int64_t>(sounds.size()));
    }
    return out;
}

std::vector<Transcript> transcribe(const Transcriber& model, std::span<const std::string> paths,
                                   const TranscribeOptions& options,
                                   const PredictControl& control) {
    std::vector<LoadedSound> sounds;
    for (const std::string& path : paths) sounds.push_back(model.load(path));
    return transcribe(model, sounds, options, control);
}

MetricScore speech_score(const Transcriber& model, std::span<const std::string> wanted,
                         std::span<const Transcript> said) {
    std::vector<std::string> texts;
    for (const Transcript& t : said) texts.push_back(t.text);
    return model.classifies() ? classification_score(texts, wanted).score()
                              : word_error_rate(wanted, texts);
}

}  // namespace fovea
