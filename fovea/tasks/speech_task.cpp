// The training of transcribers behind the interface of tasks.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/io/wave.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/loss/ctc.h"
#include "fovea/tasks/bad_records.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/speech.h"
#include "fovea/tasks/speech_data.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

// Sizes of a new model.
struct SpeechSizes {
    std::string preset = "small";
    std::optional<int> layers, width, heads, ffn;
    int decoder_layers = 0;
    float dropout = 0.1f, ctc_weight = 0.3f;

    void describe(Settings& s) {
        s.add("preset", preset, "size: tiny (4 layers of 96), small (6 of 144), base (12 of 256)",
              {.group = "model", .common = true, .choices = {"tiny", "small", "base"}});
        s.add("layers", layers, "layers of the encoder", {.group = "model", .min = 1, .max = 512});
        s.add("d-model", width, "width of a row", {.group = "model", .min = 4, .max = 1 << 16});
        s.add("heads", heads, "heads of attention", {.group = "model", .min = 1});
        s.add("ffn", ffn, "inner width of the feed-forward layers", {.group = "model", .min = 1});
        s.add("dropout", dropout, "dropout",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        s.add("decoder-layers", decoder_layers,
              "layers of a decoder beside the CTC head, trained together; 0: without",
              {.group = "model", .common = true, .min = 0, .max = 512});
        s.add("ctc-weight", ctc_weight, "with a decoder: how much CTC counts beside it",
              {.group = "model", .min = 0, .max = 1});
    }

    SpeechConfig config() const {
        SpeechConfig c;
        c.apply_preset(preset);
        if (layers) c.sizes.encoder_layers = *layers;
        if (width) {
            c.sizes.d_model = *width;
            c.sizes.encoder_ffn_dim = c.sizes.decoder_ffn_dim = 4 * *width;
        }
        if (heads) c.sizes.encoder_attention_heads = c.sizes.decoder_attention_heads = *heads;
        if (ffn) c.sizes.encoder_ffn_dim = c.sizes.decoder_ffn_dim = *ffn;
        if (c.sizes.d_model % c.sizes.encoder_attention_heads != 0 || c.sizes.d_model % 2 != 0)
            fail_with(ErrorKind::usage, "choose --heads that divide an even --d-model",
                      "--d-model ", c.sizes.d_model, " does not split into ",
                      c.sizes.encoder_attention_heads, " heads");
        c.sizes.decoder_layers = decoder_layers;
        c.sizes.dropout = c.sizes.attention_dropout = dropout;
        c.ctc_weight = decoder_layers > 0 ? ctc_weight : 1.0f;
        return c;
    }
};

class SpeechTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        data_.describe(s);
        s.add("units", units_, "what transcripts are made of",
              {.group = "model", .common = true, .choices = {"characters", "words"}});
        s.add("sample-rate", rate_, "samples a second that the model hears",
              {.group = "model",
               .min = 8000,
               .max = 48000,
               .otherwise = "16000; 8000 where the first sound has no more"});
        sizes_.describe(s);
        s.add("speed", augment_.speed, "play sounds faster or slower by up to this share",
              {.group = "augmentation", .min = 0, .max = 0.5});
        s.add("gain", augment_.gain, "louder or quieter by up to so many decibels",
              {.group = "augmentation", .min = 0, .max = 40});
        s.add("noise", augment_.noise, "share of sounds with white noise in them",
              {.group = "augmentation", .min = 0, .max = 1});
        s.add("warp", augment_.warp, "stretch frequencies by up to this share: other vocal tracts",
              {.group = "augmentation", .min = 0, .max = 0.5});
        s.add("time-masks", augment_.time_masks, "stretches of time that are blanked",
              {.group = "augmentation", .min = 0, .max = 100});
        s.add("band-masks", augment_.band_masks, "groups of frequencies that are blanked",
              {.group = "augmentation", .min = 0, .max = 100});
    }

    std::vector<std::string> metrics() const override { return {"exact", "accuracy", "macro_f1"}; }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        static constexpr const char* of_the_model[] = {"units",  "sample-rate",    "preset",
                                                       "layers", "d-model",        "heads",
                                                       "ffn",    "decoder-layers", "ctc-weight"};
        if (!run.from.empty()) leave_out(s, of_the_model, "with --from: they are the model's own");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        data_.read(run, say);
        make_model(say);
        load_sounds(say);
        const auto rows = total_rows_;
        if (settings_ && !settings_->given("max-tokens"))
            run.batches.max_tokens = std::clamp<std::int64_t>(rows / 60, 400, 3000);
        const int width = model_.network->encoder().config.d_model;
        run.settle(
            {.rate = width <= 160 ? 1e-3 : 5e-4, .warmup = 500, .epochs = 60, .d_model = width});
        run_ = run;
        batches_.emplace(lengths_, run.batches);
    }

    TrainSummary summary() const override {
        const WhisperConfig& c = model_.network->encoder().config;
        TrainSummary s;
        s.model = text_of(model_.classifies() ? "Whisper's encoder, classes" : "speech, CTC", ", ",
                          c.encoder_layers, " layers, d=", c.d_model,
                          c.decoder_layers > 0 && !model_.classifies()
                              ? text_of(", decoder of ", c.decoder_layers)
                              : std::string());
        s.parameters = model_.store->count();
        s.records = static_cast<std::int64_t>(data_.train.size());
        s.dropped = dropped_;
        s.batches_per_epoch = batches_->per_epoch();
        s.tokens_per_epoch = total_rows_;
        s.memory_bytes = 24.0 * static_cast<double>(s.parameters) + 4.0 * sound_values_ +
                         4.0 * 20 * c.d_model * (c.encoder_layers + c.decoder_layers) *
                             static_cast<double>(run_.batches.max_tokens);
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = 5 * std::log(static_cast<double>(model_.folder.labels.size()));
        t.unit = "sounds";
        t.loss = [this](std::int64_t b) { return training_loss((*batches_)[b]); };
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    struct Example {
        LoadedSound sound;
        Ids target;  // units, or the class
    };

    Tensor loss_of(std::span<const Tensor> features, std::span<const std::uint64_t> samples,
                   std::span<const Ids> targets) const {
        const SoundBatch batch = pack_sounds(features, samples);
        SpokenUnits units;
        std::vector<std::int64_t> lengths;
        for (const Ids& target : targets) {
            units.ids.insert(units.ids.end(), target.begin(), target.end());
            lengths.push_back(static_cast<std::int64_t>(target.size()));
        }
        if (model_.classifies())
            return cross_entropy((*model_.network->classifier)(batch.features, batch.frames),
                                 units.ids);
        units.segments = Segments::of_lengths(lengths, {samples.begin(), samples.end()});
        const SpeechModel& recogniser = *model_.network->recogniser;
        return recogniser.losses(recogniser.encode(batch.features, batch.frames), units).joint;
    }

    // Each sound as this epoch has drawn it.
    Tensor training_loss(std::span<const std::int64_t> chosen) const {
        std::vector<Tensor> features;
        std::vector<std::uint64_t> samples;
        std::vector<Ids> targets;
        for (const std::int64_t i : chosen) {
            const Example& e = train_[static_cast<std::size_t>(i)];
            samples.push_back(static_cast<std::uint64_t>(i));
            const WaveDraw draw =
                draw_wave(augment_, run_.options.seed, batches_->epoch(), samples.back());
            features.push_back((*model_.features)(e.sound, augment_, draw));
            targets.push_back(e.target);
        }
        return loss_of(features, samples, targets);
    }

    Evaluation evaluate() {
        std::vector<LoadedSound> sounds;
        std::vector<std::string> wanted;
        double loss = 0;
        for (std::size_t i = 0; i < dev_.size(); ++i) {
            sounds.push_back(dev_[i].sound);
            wanted.push_back(data_.dev[i].text);
            const Tensor features = (*model_.features)(dev_[i].sound);
            loss += static_cast<double>(loss_of({&features, 1}, {}, {&dev_[i].target, 1}).item());
        }
        MetricScore s = speech_score(model_, wanted, transcribe(model_, sounds));
        s.figures["loss"] = loss / static_cast<double>(dev_.size());
        return noted_evaluation(model_.folder, s, run_.metric);
    }

    static bool is_features(const std::string& path) { return path.ends_with(".mfc"); }

    // Of the first sound that can be read.
    int first_rate() const {
        PassOver pass_over(run_.skip_bad, {});
        for (const SpokenClip& clip : data_.train) try {
                return read_wave(clip.path).sample_rate;
            } catch (const Error& error) {
                pass_over(error);
            }
        return 0;
    }

    Json preprocessor(const Say& say) const {
        if (is_features(data_.train[0].path)) return SoundFeatures::of_features(13);
        const int rate = rate_ ? *rate_ : first_rate() <= 8000 ? 8000 : 16000;
        say(text_of("model: hears ", rate, " samples a second   change with --sample-rate"));
        return SoundFeatures::of_sounds(rate);
    }

    void make_model(const Say& say) {
        if (!run_.from.empty()) {
            model_ = Transcriber::open(ModelFolder::open(run_.from));
            if (model_.is_whisper())
                fail_with(ErrorKind::usage, "leave out --from: a recogniser of Fovea's is trained",
                          run_.from, ": a checkpoint of Whisper's transcribes but is not trained");
            say("model: goes on from " + run_.from);
        } else {
            ModelFolder folder;
            folder.preprocessor = preprocessor(say);
            SpeechConfig c = sizes_.config();
            c.sizes.num_mel_bins = folder.preprocessor.at("feature_size");
            const bool decoder = c.sizes.decoder_layers > 0;
            folder.labels = data_.classes ? data_.class_labels()
                                          : units_of_texts(data_.texts(), units_, decoder);
            const auto units = static_cast<int>(folder.labels.size());
            c.sizes.vocab_size = units;
            c.sizes.pad_token_id = c.sizes.bos_token_id = 0;
            c.sizes.decoder_start_token_id = std::max(0, units - 2);
            c.sizes.eos_token_id = units - 1;
            folder.config = data_.classes ? c.sizes.to_json() : c.to_json();
            if (data_.classes)
                folder.config["architectures"] = {"WhisperForAudioClassification"};
            else
                folder.config["unit_kind"] = units_;
            model_ = Transcriber::create(std::move(folder), run_.options.seed);
        }
        if (model_.classifies() != data_.classes)
            throw Error(
                run_.from + (data_.classes ? ": transcribes, but the data has classes"
                                           : ": tells classes, but the data is transcribed"),
                ErrorKind::bad_input, "leave out --from");
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
    }

    // Of the dev set: what it says beyond the units of training counts in the score alone.
    Example example_of(const SpokenClip& clip, bool training) const {
        Example e;
        const std::string where = text_of(clip.file, ":", clip.line);
        e.sound = model_.load(clip.path);
        if (!model_.classifies()) {
            e.target = model_.units_of(clip.text, where, !training);
            return e;
        }
        const auto& labels = model_.folder.labels;
        const auto found = std::find(labels.begin(), labels.end(), clip.text);
        if (found == labels.end())
            fail_with(ErrorKind::bad_input, "remove it, or train on such sounds too", where,
                      ": the label \"", clip.text, "\" was never seen in training");
        e.target = {static_cast<std::int32_t>(found - labels.begin())};
        return e;
    }

    void load_sounds(const Say& say) {
        std::vector<SpokenClip> kept;
        std::vector<std::string> contents;
        PassOver pass_over(run_.skip_bad, say);
        for (SpokenClip& clip : data_.train) {
            Example e;
            try {
                e = example_of(clip, true);
            } catch (const Error& error) {
                pass_over(error);
                continue;
            }
            const std::int64_t rows = model_.features->frames_of(e.sound) / 2 + 1;
            if (!data_.classes && ctc_frames_needed(e.target) > rows) {
                ++dropped_;
                continue;
            }
            contents.insert(contents.end(), {clip.path, clip.text});
            lengths_.push_back(rows);
            total_rows_ += rows;
            sound_values_ += static_cast<double>(e.sound.samples.size());
            train_.push_back(std::move(e));
            kept.push_back(std::move(clip));
        }
        data_.train = std::move(kept);
        if (dropped_ > 0)
            say(text_of("warning: ", dropped_,
                        " sounds are too short for their transcripts: passed over"));
        expect_input(!train_.empty(), run_.train[0], ": every sound is too short for what it says");
        load_dev(say);
        say(text_of("data: ",
                    static_cast<std::int64_t>(2 * static_cast<double>(total_rows_) *
                                              model_.features->seconds_per_frame() / 6) /
                        10.0,
                    " minutes of sound, ", model_.folder.labels.size(),
                    data_.classes ? " classes" : " units with the blank"));
        note_data(model_.folder, contents, data_.train.size(), run_);
    }

    void load_dev(const Say& say) {
        PassOver pass_over(run_.skip_bad, say);
        std::vector<SpokenClip> kept;
        for (SpokenClip& clip : data_.dev) try {
                dev_.push_back(example_of(clip, false));
                kept.push_back(std::move(clip));
            } catch (const Error& error) {
                pass_over(error);
            }
        data_.dev = std::move(kept);
    }

    SpeechData data_;
    SpeechSizes sizes_;
    WaveAugment augment_;
    std::string units_ = "characters";
    std::optional<int> rate_;
    RunSettings run_;
    Settings* settings_ = nullptr;
    Transcriber model_;
    std::vector<Example> train_, dev_;
    std::vector<std::int64_t> lengths_;
    std::optional<EpochBatches> batches_;
    std::int64_t total_rows_ = 0, dropped_ = 0;
    double sound_values_ = 0;
};

}  // namespace

std::unique_ptr<Trainer> make_speech_trainer() { return std::make_unique<SpeechTrainer>(); }

}  // namespace fovea
