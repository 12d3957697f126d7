// Training a detector, behind the interface of tasks. (Prediction: detect_predict.cpp.)
#include <algorithm>
#include <cmath>

#include "fovea/tasks/annotated_pictures.h"
#include "fovea/tasks/detect.h"
#include "fovea/tasks/detect_examples.h"

namespace fovea {
namespace {

std::vector<std::string> finder_names() {
    std::vector<std::string> names;
    for (const DetectionModelEntry& e : detection_models()) {
        const std::string name = e.model_type;
        names.push_back(name.starts_with("fovea_") ? name.substr(6) : name);
    }
    return names;
}

const DetectionModelEntry& finder_named(const std::string& name) {
    const DetectionModelEntry* own = find_detection_model("fovea_" + name);
    return own ? *own : *find_detection_model(name);
}

// Where a model is made, and how it reads pictures.
struct DetectMaking {
    std::string model = "detector";
    DetectionModelChoice choice;
    double resize = 1;

    void describe(Settings& s) {
        s.add("model", model, "what finds things",
              {.group = "model", .common = true, .choices = finder_names()});
        s.add("layers", choice.layers, "of the encoder",
              {.group = "model", .common = true, .min = 1, .max = 64});
        s.add("decoder-layers", choice.decoder_layers, "of the decoder",
              {.group = "model", .min = 0, .max = 64});
        s.add("d-model", choice.width, "columns of a row",
              {.group = "model", .common = true, .min = 8, .max = 1 << 13});
        s.add("heads", choice.heads, "of attention", {.group = "model", .min = 1, .max = 1024});
        s.add("ffn", choice.ffn, "columns inside of the feed-forward layers",
              {.group = "model", .min = 1, .max = 1 << 15});
        s.add("queries", choice.queries, "things that the decoder finds at most",
              {.group = "model", .min = 1, .max = 10'000});
        s.add("channels", choice.channels, "of a picture: 1 grey, 3 colours",
              {.group = "model", .min = 1, .max = 3});
        s.add("dropout", choice.dropout, "share of values that are dropped",
              {.group = "model", .common = true, .min = 0, .max = 1, .below_max = true});
        s.add("resize", resize, "pictures are read at this share of their size",
              {.group = "pictures", .common = true, .min = 0.001, .max = 16});
    }

    static std::span<const char* const> names() {
        static constexpr const char* all[] = {"model",   "layers", "decoder-layers", "d-model",
                                              "heads",   "ffn",    "queries",        "channels",
                                              "dropout", "resize"};
        return all;
    }
};

void describe_views(Settings& s, AugmentOptions& o, bool& none) {
    s.add("scale", o.scale, "pictures grow or shrink by up to this share",
          {.group = "pictures", .min = 0, .max = 3});
    s.add("turns", o.turns, "pictures are turned by 0, 90, 180 or 270 degrees",
          {.group = "pictures", .common = true});
    s.add("colour", o.colour, "brightness, contrast and saturation change by up to this share",
          {.group = "pictures", .min = 0, .max = 1});
    s.add("erase", o.erase, "share of pictures of which a part is hidden",
          {.group = "pictures", .min = 0, .max = 1});
    s.add("no-augment", none, "learn from the middle of pictures as they are",
          {.group = "pictures", .common = true});
}

class DetectTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("pictures", files_.pictures, "folder of the pictures that a COCO file names",
              {.group = "data", .otherwise = "near the file", .is_path = true});
        making_.describe(s);
        s.add("size", size_, "pixels each way of the parts that are learned from",
              {.group = "pictures",
               .common = true,
               .min = 16,
               .max = 4096,
               .otherwise = "256, or the longest side as it is read"});
        describe_views(s, augment_, no_augment_);
        s.add("dev-head", head_, "which head is measured while training: dense or decoder",
              {.group = "run", .otherwise = "the model's first"});
    }

    std::vector<std::string> metrics() const override { return {"ap50", "ap", "ap75", "ar100"}; }
    std::vector<Knob> knobs() const override {
        return {{"lr", {"x3", "x0.3"}}, {"dropout", {"0.1"}}};
    }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        leave_out_settings_of_texts(s);
        if (!run.from.empty())
            leave_out(s, DetectMaking::names(), "with --from: sizes are those of the model");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        make_model(say);
        settle_pictures(run, settings_, 4, 100);
        run_ = run;
        examples_.seed = run.options.seed;
        batches_.emplace(std::vector<std::int64_t>(examples_.records.size(), 1), run.batches);
    }

    TrainSummary summary() const override {
        const DetectionModel& n = *model_.network;
        TrainSummary s;
        s.model =
            text_of(model_.folder.config.value("model_type", ""), ", ", n.layers,
                    " layers, d=", n.width, n.whole_pictures ? ", pictures of " : ", parts of ",
                    examples_.sides.height, " x ", examples_.sides.width, " pixels");
        s.parameters = model_.store->count();
        s.records = static_cast<std::int64_t>(examples_.records.size());
        s.batches_per_epoch = batches_->per_epoch();
        s.tokens_per_epoch = s.records;
        // Parameters with gradient and two moments; of each picture the stem's rows (a quarter of
        // the pixels, a quarter of the width) and about 30 rows a cell and layer.
        const double pixels = double{1} * examples_.sides.height * examples_.sides.width;
        s.memory_bytes = 24.0 * static_cast<double>(s.parameters) +
                         4.0 * static_cast<double>(run_.batches.max_examples) * pixels *
                             (n.width / 2.0 + 30.0 * n.width * (n.layers + 2) / 64);
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = 10;  // of boxes anywhere, with their classes
        t.unit = "pictures";
        t.loss = [this](std::int64_t b) {
            const DetectExamples::Batch batch = examples_.batch((*batches_)[b], batches_->epoch());
            return model_.network->loss(batch.pictures, batch.things);
        };
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    void read_data(const Say& say) {
        files_.paths = run_.train;
        BoxedSet set = read_boxed(files_);
        for (const std::string& note : set.notes) say("data: " + note);
        for (std::size_t i = 0; i < set.dropped.size() && i < 5; ++i)
            say("dropped: " + set.dropped[i]);
        if (set.dropped.size() > 5)
            say(text_of("dropped: ", set.dropped.size() - 5, " boxes more"));
        categories_ = set.categories;
        labels_ = set.labels();
        expect_input(!labels_.empty(), run_.train[0], ": no picture has a box");
        const PictureRecords<BoxedPicture> how{&BoxedPicture::path,
                                               [this](const std::string& file) {
                                                   BoxedFiles files = files_;
                                                   files.paths = {file};
                                                   return read_boxed(files).pictures;
                                               },
                                               [](const BoxedPicture& r) { load_boxed(r, 3); }};
        auto split = split_pictures(std::move(set.pictures), how, run_, say);
        examples_.records = std::move(split.train);
        dev_ = std::move(split.dev);
        contents_ = std::move(split.contents);
        std::int64_t boxes = 0;
        for (const BoxedPicture& r : examples_.records)
            boxes += static_cast<std::int64_t>(r.things.size());
        say(text_of("data: ", examples_.records.size(), " pictures with ", boxes, " boxes of ",
                    labels_.size(), labels_.size() == 1 ? " label" : " labels", split.more()));
    }

    void make_model(const Say& say) {
        if (!run_.from.empty()) {
            take_from(ModelFolder::open(run_.from), say);
        } else {
            ModelFolder folder;
            folder.labels = labels_;
            folder.config = finder_named(making_.model).new_config(making_.choice);
            ReadingSize reads;
            reads.share = making_.resize;
            model_ = DetectModel::create(std::move(folder), reads, run_.options.seed);
        }
        model_.precision = precision_of(run_.precision);
        const std::vector<std::string>& heads = model_.network->heads;
        if (!head_.empty() && std::find(heads.begin(), heads.end(), head_) == heads.end())
            throw Error("--dev-head " + head_ + ": the model has no such head", ErrorKind::usage,
                        "its heads: " + heads[0] + (heads.size() > 1 ? ", " + heads[1] : ""));
        examples_.labels = model_.folder.labels;
        examples_.scaling = model_.scaling;
        examples_.reads = model_.reads;
        augment_.mirror = true;
        examples_.augment = no_augment_ ? AugmentOptions{} : augment_;
        examples_.sides = shown_sides();
        note_run();
    }

    void take_from(ModelFolder folder, const Say& say) {
        if (folder.labels == labels_) {
            model_ = DetectModel::open(std::move(folder));
            say("model: goes on from " + run_.from);
            return;
        }
        ModelFolder::NewHead heads;
        model_ = DetectModel::create_from(std::move(folder), labels_, run_.options.seed, heads);
        say(new_head_text(run_.from, heads));
    }

    // A square, or the whole picture as it is read (others are cut or filled to the first one's).
    ReadingSize::Sides shown_sides() const {
        if (!model_.network->whole_pictures) {
            const auto side = static_cast<std::uint32_t>(size_.value_or(usual_size()));
            return {side, side};
        }
        if (size_)
            throw Error("--size: " + making_.model + " learns from whole pictures",
                        ErrorKind::usage, "--resize says how large they are read");
        const BoxedPicture& first = examples_.records[0];
        return model_.reads.sides(first.height, first.width, model_.network->smallest_side);
    }

    int usual_size() const {
        std::uint32_t longest = 32;
        for (const BoxedPicture& r : examples_.records) {
            const auto sides = model_.reads.sides(r.height, r.width, 1);
            longest = std::max({longest, sides.height, sides.width});
        }
        return static_cast<int>(std::min((longest + 7) / 8 * 8, 256u));
    }

    void note_run() {
        note_pictures(model_.folder, contents_, examples_.records.size(), run_,
                      {examples_.sides.height, examples_.sides.width});
        Json& about = model_.folder.about;
        if (categories_.empty()) return;
        about["category_ids"] = Json::object();
        for (const auto& [name, id] : categories_) about["category_ids"][name] = id;
    }

    Evaluation evaluate() {
        MetricScore s = score_boxed(model_, dev_, {.head = head_, .least = 0.01f});
        s.figures["loss"] = loss_boxed(model_, dev_);
        return noted_evaluation(model_.folder, s, run_.metric);
    }

    BoxedFiles files_;
    DetectMaking making_;
    std::optional<int> size_;
    AugmentOptions augment_{.scale = 0.25, .colour = 0.2};
    bool no_augment_ = false;
    std::string head_;
    Settings* settings_ = nullptr;
    RunSettings run_;
    std::vector<std::string> labels_, contents_;
    std::map<std::string, std::int64_t> categories_;
    DetectModel model_;
    DetectExamples examples_;
    std::vector<BoxedPicture> dev_;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_detect_trainer() { return std::make_unique<DetectTrainer>(); }

}  // namespace fovea
