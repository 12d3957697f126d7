// Training a segmenter, behind the interface of tasks. (Prediction: segment_predict.cpp.)
#include <algorithm>
#include <cmath>

#include "fovea/tasks/annotated_pictures.h"
#include "fovea/tasks/segment.h"
#include "fovea/tasks/segment_examples.h"

namespace fovea {
namespace {

// Sizes of a new model. B0 and B1 are those of Xie et al. 2021, table 6.
SegformerConfig sizes_of(const std::string& preset) {
    SegformerConfig c;
    c.decoder_hidden_size = 64;
    if (preset == "tiny") {
        c.depths = {1, 1, 1, 1};
        c.hidden_sizes = {16, 32, 64, 96};
        c.num_attention_heads = {1, 2, 4, 6};
        c.decoder_hidden_size = 32;
    } else if (preset == "base") {
        c.decoder_hidden_size = 256;
    } else if (preset == "big") {
        c.hidden_sizes = {64, 128, 320, 512};
        c.decoder_hidden_size = 256;
    }
    return c;
}

class SegmentTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("picture", files_.picture_key, "column of the picture's path in a table",
              {.group = "data", .otherwise = "guessed"});
        s.add("mask", files_.mask_key, "column of the mask's path in a table",
              {.group = "data", .otherwise = "guessed"});
        s.add("labels", labels_, "names of the labels, that of the lowest value in masks first",
              {.group = "data", .otherwise = "background, object; or the values"});
        s.add("preset", preset_,
              "size of the model: B0 is base, B1 big; small is B0 with a decoder "
              "of 64",
              {.group = "model", .common = true, .choices = {"tiny", "small", "base", "big"}});
        s.add("decoder-width", decoder_, "columns of the decoder",
              {.group = "model", .min = 1, .max = 1 << 14, .otherwise = "by the preset"});
        s.add("dropout", dropout_, "before the labels",
              {.group = "model", .common = true, .min = 0, .max = 1, .below_max = true});
        s.add("drop-path", drop_path_, "share of pictures for which the last layer is left out",
              {.group = "model", .min = 0, .max = 1, .below_max = true});
        s.add("size", size_, "pixels each way of the parts that are learned from",
              {.group = "data",
               .common = true,
               .min = 32,
               .max = 4096,
               .otherwise = "256, or the shortest side of all pictures"});
        s.add("no-augment", no_augment_,
              "learn from pictures as they are: not turned, flipped, scaled",
              {.group = "data", .common = true});
    }

    std::vector<std::string> metrics() const override {
        return {"dice", "iou", "pooled_dice", "pooled_iou"};
    }
    std::vector<Knob> knobs() const override {
        return {{"lr", {"x3", "x0.3"}}, {"preset", {"base"}}};
    }

    void check(Settings& s, const RunSettings& run) override {
        settings_ = &s;
        leave_out_settings_of_texts(s);
        static constexpr const char* of_the_model[] = {"preset", "decoder-width", "dropout",
                                                       "drop-path", "labels"};
        if (!run.from.empty())
            leave_out(s, of_the_model, "with --from: sizes and labels are those of the model");
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        make_model(say);
        settle_pictures(run, settings_, 8, 60);
        run_ = run;
        examples_.seed = run.options.seed;
        batches_.emplace(std::vector<std::int64_t>(examples_.records.size(), 1), run.batches);
    }

    TrainSummary summary() const override {
        const SegformerConfig& c = model_.network->config;
        TrainSummary s;
        s.model = text_of("segformer, ", c.layers(), " layers, d=", c.hidden_sizes.front(), " to ",
                          c.hidden_sizes.back(), ", decoder ", c.decoder_hidden_size);
        s.parameters = model_.store->count();
        s.records = static_cast<std::int64_t>(examples_.records.size());
        s.batches_per_epoch = batches_->per_epoch();
        s.tokens_per_epoch = s.records;
        // Parameters with gradient and two moments; of each picture about 20 rows of the
        // feed-forward width a layer at the first stage, a quarter of that at each further one, and
        // the decoder.
        const double rows = static_cast<double>(examples_.size) * examples_.size / 16;
        s.memory_bytes =
            24.0 * static_cast<double>(s.parameters) +
            4.0 * static_cast<double>(run_.batches.max_examples) * rows *
                (20.0 * c.hidden_sizes[0] * c.mlp_ratios[0] * c.depths[0] * 1.4 +
                 8.0 * c.decoder_hidden_size + 48.0 * static_cast<double>(c.labels.size()));
        return s;
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.guessing_loss = std::log(static_cast<double>(model_.folder.labels.size()));
        t.unit = "pictures";
        t.loss = [this](std::int64_t b) {
            const SegmentExamples::Batch batch = examples_.batch((*batches_)[b], batches_->epoch());
            const Segformer& net = *model_.network;
            return net.loss(net(batch.pixels, batch.grid), batch.grid, batch.labels);
        };
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    void read_data(const Say& say) {
        files_.paths = run_.train;
        const PictureRecords<MaskedPicture> how{&MaskedPicture::picture,
                                                [this](const std::string& file) {
                                                    MaskedFiles files = files_;
                                                    files.paths = {file};
                                                    return read_masked(files);
                                                },
                                                [](const MaskedPicture& r) { load_masked(r, 3); }};
        auto split = split_pictures(read_masked(files_), how, run_, say);
        examples_.records = std::move(split.train);
        dev_ = std::move(split.dev);
        contents_ = std::move(split.contents);
        scan_masks(say);
        say(text_of("data: ", examples_.records.size(), " pictures with masks", split.more()));
    }

    // All masks once, before anything is learned: their values, and the shortest side.
    void scan_masks(const Say&) {
        std::map<int, std::int64_t> seen;
        for (const std::vector<MaskedPicture>* part : {&examples_.records, &dev_})
            for (const MaskedPicture& r : *part) {
                const Picture mask = read_mask(r.mask);
                std::int64_t counts[256] = {};
                for (const std::uint8_t v : mask.pixels) ++counts[v];
                for (int v = 0; v < 256; ++v)
                    if (counts[v]) seen[v] += counts[v];
                if (seen.size() > 64) mask_values_of(seen, r.mask);
                shortest_ = std::min({shortest_, mask.height, mask.width});
            }
        found_ = mask_values_of(seen, run_.train[0]);
    }

    std::vector<std::string> label_names() const {
        if (!labels_.empty()) {
            std::vector<std::string> names;
            for (const std::string& part : labels_) {  // --labels a,b or --labels a --labels b
                std::size_t from = 0;
                for (std::size_t comma; (comma = part.find(',', from)) != std::string::npos;
                     from = comma + 1)
                    names.push_back(part.substr(from, comma - from));
                names.push_back(part.substr(from));
            }
            if (names.size() != found_.labels())
                throw Error(text_of("--labels names ", names.size(), " labels, but the masks have ",
                                    found_.labels(), " values"),
                            ErrorKind::usage, "name that of the lowest value first");
            return names;
        }
        if (found_.labels() == 2) return {"background", "object"};
        std::vector<std::string> names;
        for (const std::uint8_t v : found_.values) names.push_back(std::to_string(v));
        return names;
    }

    void make_model(const Say& say) {
        if (!run_.from.empty()) {
            model_ = SegmentModel::open(ModelFolder::open(run_.from));
            if (model_.folder.labels.size() != found_.labels())
                fail_with(ErrorKind::bad_input, "leave --from out, or bring the masks into line",
                          run_.from, ": the model has ", model_.folder.labels.size(),
                          " labels, but the masks have ", found_.labels(), " values");
            model_.values = found_;
            say("model: goes on from " + run_.from);
        } else {
            SegformerConfig c = sizes_of(preset_);
            if (decoder_) c.decoder_hidden_size = *decoder_;
            c.classifier_dropout_prob = dropout_;
            c.drop_path_rate = drop_path_;
            c.labels = label_names();
            c.semantic_loss_ignore_index = MaskValues::ignored;
            model_ = SegmentModel::create(c, found_, run_.options.seed);
        }
        model_.precision = precision_of(run_.precision);
        examples_.values = model_.values;
        examples_.scaling = model_.scaling;
        examples_.augment = !no_augment_;
        examples_.size = static_cast<std::uint32_t>(
            size_.value_or(static_cast<int>(std::clamp(shortest_, 32u, 256u))));
        model_.folder.about["mask_values"] = model_.values.values;
        note_pictures(model_.folder, contents_, examples_.records.size(), run_, examples_.size);
    }

    Evaluation evaluate() {
        const MetricScore s = score_masked(model_, dev_).model;
        return noted_evaluation(model_.folder, s, run_.metric);
    }

    MaskedFiles files_;
    std::vector<std::string> labels_, contents_;
    std::string preset_ = "small";
    std::optional<int> decoder_, size_;
    float dropout_ = 0.1f, drop_path_ = 0.1f;
    bool no_augment_ = false;
    Settings* settings_ = nullptr;
    RunSettings run_;
    MaskValues found_;
    std::uint32_t shortest_ = 8192;
    SegmentModel model_;
    SegmentExamples examples_;
    std::vector<MaskedPicture> dev_;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_segment_trainer() { return std::make_unique<SegmentTrainer>(); }

}  // namespace fovea
