#pragma once
// Speech: what is said in a sound (a CTC head on Whisper's encoder, and where asked for its decoder
// beside it; or a checkpoint of Whisper itself), or which of some classes a sound is (Whisper's
// classification head).
//
//   const Transcriber model = Transcriber::open(ModelFolder::open("run/model"));
//   const std::string paths[] = {"a.wav", "b.flac"};
//   const Transcript t = transcribe(model, paths)[0];   // t.text == "seven three"
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/wave_augment.h"
#include "fovea/data/waves.h"
#include "fovea/metrics/score.h"
#include "fovea/models/speech.h"
#include "fovea/nn/log_mel.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/speech_whisper.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

// One of the three.
struct SpeechNetwork {
    SpeechNetwork(const Json& config, const std::string& where, int classes, const Params& p);
    const WhisperEncoder& encoder() const {
        return recogniser ? recogniser->encoder : whisper ? whisper->encoder : classifier->encoder;
    }

    std::optional<SpeechModel> recogniser;
    std::optional<Whisper> whisper;
    std::optional<WhisperClassifier> classifier;
};

// A sound in memory: samples at the model's rate, or features that a file holds.
struct LoadedSound {
    std::vector<float> samples;
    Tensor rows;
};

// What sounds are turned into before the model reads them: log-mel rows, or the rows of .mfc files
// with mean 0 and deviation 1 in each column.
class SoundFeatures {
public:
    // Of preprocessor_config.json.
    SoundFeatures(const Json& preprocessor, const std::string& where);
    static Json of_sounds(int sample_rate);  // 25 ms every 10 ms; 80 bands, 40 at 8 kHz
    static Json of_features(int width);

    int width() const;  // of a row
    double seconds_per_frame() const { return frame_seconds_; }
    LoadedSound load(const std::string& path) const;
    std::int64_t frames_of(const LoadedSound& sound) const;
    Tensor operator()(const LoadedSound& sound) const;
    Tensor operator()(const LoadedSound& sound, const WaveAugment& augment,
                      const WaveDraw& draw) const;
    // Cut into windows as long as Whisper's (chunk_length), the last one filled up with silence.
    std::vector<LoadedSound> windows_of(const LoadedSound& sound) const;

private:
    std::optional<LogMel> log_mel_;  // none: features from files
    int feature_width_ = 0;
    double frame_seconds_ = 0.01;
    std::int64_t window_samples_ = 0;
};

struct Transcriber {
    ModelFolder folder;  // labels: the units (0 is the blank), or the classes
    std::string unit_kind = "characters";
    std::shared_ptr<const SoundFeatures> features;
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const SpeechNetwork> network;
    WhisperHabits habits{};                // of a checkpoint of Whisper's
    Precision precision = Precision::f32;  // of its matrix products

    // A new model: `folder` has config, preprocessor and labels.
    static Transcriber create(ModelFolder folder, std::uint64_t seed);
    static Transcriber open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    bool classifies() const { return network->classifier.has_value(); }
    bool is_whisper() const { return network->whisper.has_value(); }
    // The units of a text; one that the model lacks is an error that names it, or left out.
    Ids units_of(const std::string& text, const std::string& where,
                 bool skip_unknown = false) const;
    std::string text_of_units(std::span<const std::int32_t> units) const;
    // Refuses sounds longer than the model takes.
    LoadedSound load(const std::string& path) const;
};

// The units of all transcripts: the blank, then characters or words in order, then the decoder's
// marks.
std::vector<std::string> units_of_texts(std::span<const std::string> texts, const std::string& kind,
                                        bool decoder);

// Clips laid end to end.
struct SoundBatch {
    Tensor features;
    Segments frames;
};
SoundBatch pack_sounds(std::span<const Tensor> features,
                       std::span<const std::uint64_t> samples = {});

struct SpokenWord {
    std::string word;
    double start = 0, end = 0;  // seconds
    double probability = 0;
};

struct Transcript {
    std::string text;                    // or the class
    double score = 0;                    // log p; of a class its probability
    std::vector<SpokenWord> words{};     // with `times`
    std::vector<float> probabilities{};  // of classes
};

struct TranscribeOptions {
    int beam = 1;  // 1: the best path
    bool times = false;
    std::optional<double> ctc_weight{};  // of rescoring by the decoder; none: the model's own
    std::string language{};              // Whisper's: a code such as en; empty: as it is heard
    bool translate = false;              // Whisper's: into English
    std::int64_t batch_rows = 3000;
};

// A sound's answer does not depend on its neighbours.
std::vector<Transcript> transcribe(const Transcriber& model, std::span<const std::string> paths,
                                   const TranscribeOptions& options = {},
                                   const PredictControl& control = {});
std::vector<Transcript> transcribe(const Transcriber& model, std::span<const LoadedSound> sounds,
                                   const TranscribeOptions& options = {},
                                   const PredictControl& control = {});

// WER and CER, or accuracy of classes.
MetricScore speech_score(const Transcriber& model, std::span<const std::string> wanted,
                         std::span<const Transcript> said);

void save_transcriber(const ModelFolder& model, const ParameterStore& trained,
                      const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_speech_trainer();
std::unique_ptr<Predictor> make_speech_predictor();

}  // namespace fovea
