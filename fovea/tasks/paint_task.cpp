// Training a painter of pictures, behind the interface of tasks. (Prediction: paint_predict.cpp.)
#include <algorithm>
#include <cmath>

#include "fovea/data/split.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/image_data.h"
#include "fovea/tasks/paint.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

class PaintTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        data_.describe(s);
        s.add("layers", choice_.layers, "blocks", {.group = "model", .min = 1, .max = 512});
        s.add("d-model", choice_.width, "width of a row",
              {.group = "model", .min = 2, .max = 65536});
        s.add("heads", choice_.heads, "attention heads", {.group = "model", .min = 1});
        s.add("ffn", choice_.ffn, "inner width of a block",
              {.group = "model", .min = 1, .otherwise = "4 d-model"});
        s.add("dropout", choice_.dropout, "of rows and attention",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        s.add("attention", attention_,
              "what a pixel sees of those before it: global, window:W or hybrid:W (the class too)",
              {.group = "model", .otherwise = "hybrid:W of three rows of pixels"});
        s.add("image-size", size_, "pictures are resized to so many pixels a side",
              {.group = "model",
               .common = true,
               .min = 2,
               .max = 128,
               .otherwise = "their own size up to 28"});
    }

    std::vector<std::string> metrics() const override { return {"bits_per_dim"}; }
    std::vector<Knob> knobs() const override {
        return {{"lr", {"x3", "x0.3"}}, {"layers", {"6"}}, {"d-model", {"144"}}};
    }

    void check(Settings& s, const RunSettings& run) override {
        static constexpr const char* of_the_model[] = {"layers",  "d-model",   "heads",     "ffn",
                                                       "dropout", "attention", "image-size"};
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
        pictures_ = read(train, say);
        dev_pictures_ = read(data_.labelled.dev, say);
        labels_ = label_numbers(train);
        dev_labels_ = label_numbers(data_.labelled.dev);
        note_pictures();
        // Not in check(): the settings of a run that is resumed are known now.
        if (settings_ && !settings_->given("max-tokens") && !settings_->given("max-records")) {
            run.batches.max_examples = 16;
            run.batches.max_tokens = 16 * model_.pixels();
        }
        run.settle({.rate = model_.network->width <= 256 ? 2e-3 : 3e-4,
                    .warmup = 200,
                    .epochs = 1,
                    .d_model = model_.network->width});
        run_ = run;
        batches_.emplace(std::vector<std::int64_t>(pictures_.size(), model_.pixels()), run.batches);
    }

    TrainSummary summary() const override {
        const TextEncoder& n = *model_.network;
        TrainSummary s =
            summary_of(text_of("pixels, ", n.layers, " layers, d=", n.width, ", attention ",
                               model_.folder.config.value("attention", "global"), ", pictures of ",
                               model_.input.width, " × ", model_.input.height, " pixels"),
                       *model_.store, *batches_, values_per_token(n));
        s.memory_bytes += static_cast<double>((pictures_.size() + dev_pictures_.size()) *
                                              static_cast<std::size_t>(model_.pixels()));
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.network->vocabulary));
        t.unit = "pictures";
        t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
        if (!dev_pictures_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    std::vector<Picture> read(std::vector<LabelledText>& records, const Say& say) const {
        const auto one = [this](const PictureReader& reader, std::span<const std::string> names) {
            return model_.read(reader, names);
        };
        return read_fitted(one, records, run_.skip_bad, say);
    }

    std::vector<std::size_t> label_numbers(const std::vector<LabelledText>& records) const {
        std::vector<std::size_t> numbers;
        for (const LabelledText& t : records) numbers.push_back(model_.class_of(label_of(t)));
        return numbers;
    }

    void make_model(const Say& say) {
        if (run_.from.empty()) {
            const auto& first = data_.labelled.train[0].texts;
            const Picture p = PictureReader().read(std::span(first).first(1), 1);
            const auto side = [&](std::uint32_t own) {
                return static_cast<std::uint32_t>(
                    size_.value_or(static_cast<int>(std::min(own, 28u))));
            };
            choice_.picture_height = side(p.height);
            choice_.picture_width = side(p.width);
            choice_.attention =
                attention_.empty() ? text_of("hybrid:", 3 * choice_.picture_width) : attention_;
            if (p.height != choice_.picture_height || p.width != choice_.picture_width)
                say(text_of("data: pictures are resized to ", choice_.picture_width, " × ",
                            choice_.picture_height, " pixels   change with --image-size"));
            model_ = PaintModel::create(choice_, data_.labelled.labels(), run_.options.seed);
        } else {
            model_ = PaintModel::open(folder_to_go_on_from(run_));
            say("model: goes on from " + run_.from);
        }
        model_.precision = precision_of(run_.precision);  // evaluations compute as training does
    }

    void note_pictures() {
        std::vector<std::string> contents;
        for (std::size_t i = 0; i < pictures_.size(); ++i) {
            const auto* bytes = reinterpret_cast<const char*>(pictures_[i].pixels.data());
            contents.push_back(
                hash_text(record_hash({std::string_view(bytes, pictures_[i].pixels.size())})));
            contents.push_back(model_.folder.labels[labels_[i]]);
        }
        note_data(model_.folder, contents, pictures_.size(), run_);
    }

    Tensor loss(std::span<const std::int64_t> chosen) const {
        std::vector<Ids> read;
        std::vector<std::uint64_t> samples;
        Ids told;
        for (const std::int64_t c : chosen) {
            const auto i = static_cast<std::size_t>(c);
            read.push_back(model_.tokens(pictures_[i], labels_[i]));
            samples.push_back(i);
            told.insert(told.end(), pictures_[i].pixels.begin(), pictures_[i].pixels.end());
        }
        return model_.network->word_loss(model_.network->rows(pack(read, samples)), told);
    }

    Evaluation evaluate() {
        const auto nats = nats_of_pictures(model_, dev_pictures_, dev_labels_);
        MetricScore s = bits_per_dim(model_, nats, dev_labels_);
        s.figures.erase("classes");  // too long for a log of every evaluation
        return noted_evaluation(model_.folder, s, run_.metric);
    }

    ImageData data_;
    PaintChoice choice_;
    std::string attention_;
    std::optional<int> size_;
    Settings* settings_ = nullptr;
    RunSettings run_;
    PaintModel model_;
    std::vector<Picture> pictures_, dev_pictures_;
    std::vector<std::size_t> labels_, dev_labels_;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_paint_trainer() { return std::make_unique<PaintTrainer>(); }

}  // namespace fovea
