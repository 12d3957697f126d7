// Training a classifier of pictures, behind the interface of tasks. (Prediction:
// image_predict.cpp.)
#include <algorithm>
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/data/augment.h"
#include "fovea/data/split.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tasks/classify_score.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/image_data.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

void describe_augment(Settings& s, AugmentOptions& o) {
    const auto share = [](const char* group = "pictures") {
        return SettingOptions{.group = group, .min = 0, .max = 1};
    };
    s.add("shift", o.shift, "pictures move by up to this share of a side", share());
    s.add("scale", o.scale, "pictures grow or shrink by up to this share", share());
    s.add("mirror", o.mirror, "every second picture is mirrored, left and right",
          {.group = "pictures", .common = true});
    s.add("turns", o.turns, "pictures are turned by 0, 90, 180 or 270 degrees",
          {.group = "pictures"});
    s.add("colour", o.colour, "brightness, contrast and saturation change by up to this share",
          share());
    s.add("erase", o.erase, "share of pictures of which a part is hidden", share());
    s.add("mixup", o.mixup, "pictures are mixed in pairs: α of Zhang et al. 2017; 0: not",
          {.group = "pictures", .min = 0, .max = 10});
}

class ImageTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        data_.describe(s);
        sizes_.describe(s);
        s.add("smoothing", smoothing_, "label smoothing",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        describe_augment(s, augment_);
    }

    std::vector<std::string> metrics() const override {
        return {"accuracy", "macro_f1", "micro_f1"};
    }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_the_model[] = {
            "model", "layers", "d-model",  "heads",   "ffn",      "image-size",
            "patch", "stem",   "channels", "dropout", "attention"};
        if (!run.from.empty())
            leave_out(s, of_the_model, "with --from: sizes are those of the model");
        if (!run.vectors.empty()) refuse_without_effect("vectors", "for pictures", "leave it out");
        settings_ = &s;
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        data_.read(run, say);
        make_model(say);
        std::vector<LabelledText>& train = data_.labelled.train;
        train = with_known_labels(std::move(train), model_.folder.labels,
                                  data_.labelled.unknown == "skip", say);
        expect_input(!train.empty(), run.train[0], ": no record has a label of ", run.from);
        pictures_ = read_fitted(model_, train, run.skip_bad, say);
        dev_pictures_ = read_fitted(model_, data_.labelled.dev, run.skip_bad, say);
        note_examples();
        // Not in check(): the settings of a run that is resumed are known now.
        if (settings_ && !settings_->given("max-tokens") && !settings_->given("max-records")) {
            run.batches.max_examples = fitting_batch();
            run.batches.max_tokens = run.batches.max_examples * rows_of_a_picture();
        }
        run.settle(defaults());
        run_ = run;
        batches_.emplace(std::vector<std::int64_t>(pictures_.size(), rows_of_a_picture()),
                         run.batches);
    }

    TrainSummary summary() const override {
        TrainSummary s;
        const PictureModel& n = *model_.network;
        s.model = text_of(model_.folder.config.value("model_type", ""), ", ", n.layers,
                          " layers, d=", n.width, ", ", n.grid_height * n.grid_width,
                          " patches of pictures of ", n.image_width, " × ", n.height, " with ",
                          n.channels, n.channels == 1 ? " channel" : " channels");
        s.parameters = model_.store->count();
        s.records = static_cast<std::int64_t>(pictures_.size());
        s.batches_per_epoch = batches_->per_epoch();
        s.tokens_per_epoch = s.records;
        // Parameters with gradient and two moments; per row and layer about 16 rows (the inner
        // width counts four); the pictures themselves.
        const double rows = static_cast<double>(
            std::min<std::int64_t>(run_.batches.max_tokens, s.records * rows_of_a_picture()));
        s.memory_bytes = 24.0 * static_cast<double>(s.parameters) +
                         4.0 * 16 * n.width * n.layers * rows +
                         static_cast<double>((pictures_.size() + dev_pictures_.size()) *
                                             pictures_[0].pixels.size());
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.folder.labels.size()));
        t.unit = "pictures";
        t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
        if (!dev_pictures_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    std::int64_t rows_of_a_picture() const {
        const PictureModel& n = *model_.network;
        return n.first_tokens + std::int64_t{n.grid_height} * n.grid_width;
    }

    // 64 pictures, fewer where there are few: so that an epoch has about 50 updates.
    std::int64_t fitting_batch() const {
        return std::clamp<std::int64_t>(static_cast<std::int64_t>(pictures_.size()) / 50, 8, 64);
    }

    RunDefaults defaults() const {
        const int width = model_.network->width;
        if (pretrained_)  // Dosovitskiy et al. 2020, §B.1.1, for Adam and small data
            return {.rate = tuning_rate(width), .warmup = 200, .epochs = 5, .d_model = width};
        const auto pictures = static_cast<std::int64_t>(pictures_.size());
        return {.rate = new_rate(width),
                .warmup = 500,
                .epochs = std::clamp<std::int64_t>(1'000'000 / pictures, 10, 100),
                .d_model = width};
    }

    void make_model(const Say& say) {
        if (run_.from.empty()) {
            const PictureModelChoice choice =
                sizes_.settle(data_.labelled.train, run_.skip_bad, say);
            ModelFolder folder;
            folder.labels = data_.labelled.labels();
            folder.config = find_picture_model(sizes_.model)->new_config(choice);
            PictureInput input;
            input.height = static_cast<std::uint32_t>(choice.height);
            input.width = static_cast<std::uint32_t>(choice.image_width);
            input.mean.assign(static_cast<std::size_t>(choice.channels), 0.5);
            input.deviation = input.mean;
            model_ = ImageModel::create(std::move(folder), std::move(input), run_.options.seed);
        } else {
            take_from(folder_to_go_on_from(run_), say);
        }
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
    }

    // Goes on with the model where it knows these labels, else puts a new head on it.
    void take_from(ModelFolder folder, const Say& say) {
        const std::vector<std::string> labels = data_.labelled.labels();
        if (folder.labels == labels) {
            model_ = ImageModel::open(std::move(folder));
            say("model: goes on from " + run_.from);
            return;
        }
        ModelFolder::NewHead heads;
        model_ = ImageModel::create_from(std::move(folder), labels, run_.options.seed, heads);
        pretrained_ = true;
        say(new_head_text(run_.from, heads));
    }

    void note_examples() {
        const std::vector<std::string>& labels = model_.folder.labels;
        std::vector<std::string> contents;
        for (std::size_t i = 0; i < pictures_.size(); ++i) {
            const std::string& label = label_of(data_.labelled.train[i]);
            label_ids_.push_back(static_cast<std::int32_t>(
                std::find(labels.begin(), labels.end(), label) - labels.begin()));
            const auto* bytes = reinterpret_cast<const char*>(pictures_[i].pixels.data());
            contents.push_back(
                hash_text(record_hash({std::string_view(bytes, pictures_[i].pixels.size())})));
            contents.push_back(label);
        }
        note_data(model_.folder, contents, pictures_.size(), run_);
    }

    // As this epoch shows it: drawn by (seed, epoch, sample), never by the batch.
    Picture shown(std::size_t i) const {
        const DrawName name{run_.options.seed, batches_->epoch(), i};
        const Picture& p = pictures_[i];
        Picture to = augment_.changes_geometry()
                         ? placed(p, draw_placement(augment_, p.height, p.width, name),
                                  model_.input.resample)
                         : p;
        change_light(to, augment_, name);
        return to;
    }

    struct Shown {
        PictureBatch batch;
        Ids labels, other_labels;
        std::vector<float> own, other;  // how much each label counts
    };

    Shown show(std::span<const std::int64_t> chosen) const {
        const PictureInput& in = model_.input;
        Shown s;
        s.batch.pixels =
            Tensor({static_cast<std::int64_t>(chosen.size()), in.channels(), in.height, in.width});
        const std::size_t each = pictures_[0].pixels.size();
        float* to = s.batch.pixels.write();
        std::vector<Mix> mixes;
        for (const std::int64_t i : chosen) {
            const auto sample = static_cast<std::size_t>(i);
            mixes.push_back(draw_mix(augment_, pictures_.size(),
                                     {run_.options.seed, batches_->epoch(), sample}));
            s.batch.samples.push_back(sample);
            s.labels.push_back(label_ids_[sample]);
            s.other_labels.push_back(label_ids_[mixes.back().other]);
            s.own.push_back(mixes.back().own);
            s.other.push_back(1 - mixes.back().own);
        }
        parallel_for(
            static_cast<std::int64_t>(chosen.size()), 1, [&](std::int64_t b, std::int64_t e) {
                std::vector<float> mixed;
                for (auto k = static_cast<std::size_t>(b); k < static_cast<std::size_t>(e); ++k) {
                    float* own = to + k * each;
                    in.put_pixels(shown(static_cast<std::size_t>(chosen[k])), own);
                    if (s.own[k] == 1) continue;
                    mixed.resize(each);
                    in.put_pixels(shown(mixes[k].other), mixed.data());
                    for (std::size_t j = 0; j < each; ++j)
                        own[j] = s.own[k] * own[j] + s.other[k] * mixed[j];
                }
            });
        return s;
    }

    Tensor loss(std::span<const std::int64_t> chosen) const {
        const Shown s = show(chosen);
        const Tensor logits = model_.logits(s.batch);
        if (augment_.mixup <= 0) return cross_entropy(logits, s.labels, {.smoothing = smoothing_});
        // Zhang et al. 2017: λ loss(y) + (1 − λ) loss(y'), in the mean over pictures.
        const auto part = [&](const Ids& labels, const std::vector<float>& weights) {
            return cross_entropy(
                logits, labels,
                {.smoothing = smoothing_, .weights = weights, .reduction = Reduction::sum});
        };
        return (1.0f / static_cast<float>(chosen.size())) *
               (part(s.labels, s.own) + part(s.other_labels, s.other));
    }

    Evaluation evaluate() {
        const std::vector<TextLabel> found = classify_pictures(model_, dev_pictures_);
        MetricScore s = score_of_one_label(model_.folder.labels, found, data_.labelled.dev);
        s.figures.erase("confusion");  // too long for a log of every epoch
        return noted_evaluation(model_.folder, s, run_.metric);
    }

    ImageData data_;
    ImageSizes sizes_;
    AugmentOptions augment_{.shift = 0.07};
    float smoothing_ = 0.1f;
    bool pretrained_ = false;
    Settings* settings_ = nullptr;
    RunSettings run_;
    ImageModel model_;
    std::vector<Picture> pictures_, dev_pictures_;
    Ids label_ids_;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_image_trainer() { return std::make_unique<ImageTrainer>(); }

}  // namespace fovea
