// A classifier of pictures at work, behind the interface of tasks: prediction and measuring.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/io/png.h"
#include "fovea/tasks/classify_score.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/image_data.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

struct ImageOptions {
    std::optional<int> top;
    std::vector<std::string> picture_keys;
    std::string label_key, unknown = "error";
    bool confusion = false;

    void describe(Settings& s) {
        s.add("top", top, "labels shown for each picture, most probable first",
              {.group = "output", .common = true, .min = 1, .otherwise = "1", .about_run = false});
        s.add("confusion", confusion, "eval: show which labels were taken for which",
              {.group = "output", .common = true, .about_run = false});
        s.add("unknown-label", unknown, "eval: a label that the model has not",
              {.group = "data", .choices = {"error", "skip"}, .about_run = false});
        s.add("picture", picture_keys, "eval: column of a picture's path",
              {.group = "data", .otherwise = "guessed", .about_run = false});
        s.add("label", label_key, "eval: column of the label",
              {.group = "data", .otherwise = "guessed", .about_run = false});
    }
};

// A picture whose channels are those of frames, one after the other, as a strip of frames.
Picture frames_side_by_side(const Picture& clip, std::uint32_t frames) {
    const std::uint32_t channels = clip.channels / frames;
    Picture strip = blank_picture(clip.height, std::int64_t{clip.width} * frames, channels, "clip");
    for (std::uint32_t y = 0; y < clip.height; ++y)
        for (std::uint32_t x = 0; x < clip.width; ++x)
            for (std::uint32_t t = 0; t < frames; ++t)
                std::copy_n(clip.at(y, x) + t * channels, channels,
                            strip.at(y, t * clip.width + x));
    return strip;
}

class ImagePredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: image has no ensembles", ErrorKind::usage);
        model_ = ImageModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override {
        return {"picture", "label", "probability"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const ImageOptions o = with_given(options_, given);
        std::vector<Answer> out;
        constexpr std::size_t portion = 64;  // pictures in memory at once
        for (std::size_t from = 0; from < inputs.size(); from += portion) {
            if (control.stop && *control.stop) break;
            const auto part = inputs.subspan(from, std::min(portion, inputs.size() - from));
            std::vector<LabelledText> records;
            for (const Json& input : part) records.push_back({names_in(input), {""}, "", 0});
            const auto found = classify_pictures(model_, read_fitted(model_, records, 0, {}));
            for (std::size_t i = 0; i < part.size(); ++i)
                out.push_back(written(found[i], part[i], o));
            if (control.progress)
                control.progress(static_cast<std::int64_t>(out.size()),
                                 static_cast<std::int64_t>(inputs.size()));
        }
        out.resize(inputs.size());  // of those that were not reached
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        const std::vector<std::string> names = names_in(input);
        pass.input = names[0];
        const Picture fitted[] = {model_.read(PictureReader(), names)};
        pass.output = classify_pictures(model_, fitted)[0].label;
        if (model_.network->orders.empty())
            show_patches(pass, names.size() == 1 ? &fitted[0] : nullptr);
        else
            show_frames(pass, fitted[0]);
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"accuracy", "macro_f1", "micro_f1", "loss", "calibration_error"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        LabelledPictures f;
        f.paths = files.paths;
        f.picture_keys = options_.picture_keys;
        f.label_key = options_.label_key;
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        Problems problems;
        std::vector<LabelledText> records = read_labelled_pictures(f, &problems);
        say_all(problems.notes, control);
        records = with_known_labels(std::move(records), model_.folder.labels,
                                    options_.unknown == "skip", control.say);
        expect_input(!records.empty(), files.paths[0], ": holds no picture with a known label");
        EvalReport r;
        const Stopwatch clock;
        const std::vector<Picture> fitted =
            read_fitted(model_, records, files.skip_bad, control.say);
        const std::vector<TextLabel> answers = classify_pictures(model_, fitted);
        r.score = score_of_one_label(model_.folder.labels, answers, records);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(records.size());
        for (const TextLabel& t : answers) r.outputs.push_back(t.label);
        if (options_.confusion) r.details = confusion_table(r.score.figures);
        return r;
    }

private:
    static std::vector<std::string> names_in(const Json& input) {
        const std::string name = input.at("text").get<std::string>();
        expect_input(!name.empty(), "an input is empty, but the path of a picture is wanted");
        // A folder is a clip: its pictures are the frames.
        std::vector<std::string> names =
            is_folder(name) ? picture_names(name) : std::vector<std::string>{name};
        expect_input(!names.empty(), name, ": holds no picture");
        if (input.contains("text_pair")) names.push_back(input["text_pair"].get<std::string>());
        return names;
    }

    // First tokens, then patches line by line; several pictures of a case are not drawn.
    void show_patches(ForwardPass& pass, const Picture* picture) const {
        const PictureModel& n = *model_.network;
        std::vector<std::string>& rows = pass.tokens["patches"];
        rows = {"[CLS]", "[DISTILLATION]"};
        rows.resize(static_cast<std::size_t>(n.first_tokens));
        for (int y = 0; y < n.grid_height; ++y)
            for (int x = 0; x < n.grid_width; ++x) rows.push_back(fmt::format("{},{}", y, x));
        pass.sides = {{"", "patches", "patches"}};
        if (!picture) return;
        pass.seen = {.png = encode_png(*picture),
                     .side = "patches",
                     .first = n.first_tokens,
                     .height = n.grid_height,
                     .width = n.grid_width};
    }

    // The frames of a clip side by side.
    void show_frames(ForwardPass& pass, const Picture& clip) const {
        const PictureModel& n = *model_.network;
        pass.seen = {.png = encode_png(frames_side_by_side(clip, model_.input.frames)),
                     .side = n.orders.back().name,
                     .height = n.grid_height,
                     .width = n.grid_width};
        for (const PatchOrder& o : n.orders) {
            pass.tokens[o.name] = o.tokens;
            pass.sides.push_back({o.part, o.name, o.name});
            pass.seen->places[o.name] = o.cells;
        }
    }

    Answer written(const TextLabel& t, const Json& input, const ImageOptions& o) const {
        const std::vector<std::string>& labels = model_.folder.labels;
        std::vector<std::size_t> order(labels.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return t.probabilities[a] > t.probabilities[b];
        });
        order.resize(std::min(order.size(), static_cast<std::size_t>(o.top.value_or(1))));
        Answer a;
        const std::string name = input["text"];
        a.text = name;
        for (const std::size_t k : order)
            a.text += fmt::format("\t{}\t{:.4f}", labels[k], t.probabilities[k]);
        a.cells = {name, t.label, fmt::format("{:.4f}", t.probabilities[order[0]])};
        a.json = {{"schema", "fovea.classification"},
                  {"version", 1},
                  {"picture", name},
                  {"label", t.label},
                  {"probabilities", Json::object()}};
        if (o.top) {
            for (const std::size_t k : order)
                a.json["probabilities"][labels[k]] = t.probabilities[k];
        } else {
            for (std::size_t k = 0; k < labels.size(); ++k)
                a.json["probabilities"][labels[k]] = t.probabilities[k];
        }
        a.keep_if_stopped = true;
        return a;
    }

    ImageOptions options_;
    ImageModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_image_predictor() { return std::make_unique<ImagePredictor>(); }

}  // namespace fovea
