// Finding things in pictures, behind the interface of tasks. (Training: detect_task.cpp.)
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/io/draw.h"
#include "fovea/io/png.h"
#include "fovea/tasks/answer_files.h"
#include "fovea/tasks/detect.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

// COCO's pictures are named by their numbers; others by their names.
Json picture_id(const std::string& path) {
    const std::string name = base_name(path), stem = name.substr(0, name.find_last_of('.'));
    const bool number = !stem.empty() && stem.size() < 18 &&
                        stem.find_first_not_of("0123456789") == std::string::npos;
    return number ? Json(std::stoll(stem)) : Json(name);
}

class DetectPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: detect has no ensembles", ErrorKind::usage);
        model_ = DetectModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override {
        return {"picture", "label", "score", "left", "top", "right", "bottom"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        const FindOptions find = find_options(o, o.least);
        std::vector<Answer> out;
        Json results = earlier_results(o, control.first);
        for (const Json& input : inputs) {  // one at a time: pictures are large
            if (control.stop && *control.stop) break;
            const std::string path = input.at("text").get<std::string>();
            const Picture picture = read_picture(path);
            const std::vector<FoundBox> found = model_.find(picture, find);
            out.push_back(written(path, picture, found, o));
            if (!o.results.empty()) add_results(path, found, results);
            if (control.progress)
                control.progress(static_cast<std::int64_t>(out.size()),
                                 static_cast<std::int64_t>(inputs.size()));
        }
        if (!o.results.empty()) write_file_atomically(o.results, to_text(results) + "\n");
        out.resize(inputs.size());
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        return look_for_things(model_, input.at("text").get<std::string>());
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"ap",  "ap50", "ap75",  "ap_small", "ap_medium", "ap_large",
                "ar1", "ar10", "ar100", "ar_small", "ar_medium", "ar_large"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        BoxedFiles boxed;
        boxed.paths = files.paths;
        boxed.limit = files.limit;
        boxed.pictures = options_.pictures;
        const BoxedSet set = read_boxed(boxed);
        say_all(set.notes, control);
        EvalReport r;
        const Stopwatch clock;
        const FindOptions find = find_options(options_, 0.01f);
        r.score = score_boxed(model_, set.pictures, find, control);
        r.how["head"] = find.head.empty() ? model_.network->heads[0] : find.head;
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(set.pictures.size());
        for (const auto& [label, figures] : r.score.figures["classes"].items())
            r.details += fmt::format("  {}: AP {:.2f}, AP50 {:.2f}\n", label,
                                     figures["ap"].get<double>(), figures["ap50"].get<double>());
        if (!set.dropped.empty())
            r.details += fmt::format("  boxes that are none, left out: {}\n", set.dropped.size());
        return r;
    }

private:
    struct Options {
        std::string draw, results, head, pictures;
        float least = 0.3f;
        int most = 100;

        void describe(Settings& s) {
            s.add("draw", draw, "write each picture with what was found to this folder",
                  {.group = "output",
                   .common = true,
                   .otherwise = "none is drawn",
                   .is_path = true,
                   .about_run = false});
            s.add("results", results, "write what was found to this file, as COCO's result JSON",
                  {.group = "output",
                   .common = true,
                   .otherwise = "none is written",
                   .is_path = true,
                   .about_run = false});
            s.add("head", head, "which head finds: dense (boxes that overlap are one) or decoder",
                  {.group = "search",
                   .common = true,
                   .otherwise = "the model's first",
                   .about_run = false});
            s.add("least", least, "score of a thing that is shown",
                  {.group = "search", .common = true, .min = 0, .max = 1, .about_run = false});
            s.add("most", most, "things of a picture, the surest ones",
                  {.group = "search", .min = 1, .max = 10'000, .about_run = false});
            s.add("pictures", pictures, "eval: folder of the pictures that a COCO file names",
                  {.group = "data",
                   .otherwise = "near the file",
                   .is_path = true,
                   .about_run = false});
        }
    };

    FindOptions find_options(const Options& o, float least) const {
        const std::vector<std::string>& heads = model_.network->heads;
        if (!o.head.empty() && std::find(heads.begin(), heads.end(), o.head) == heads.end()) {
            std::string known;
            for (const std::string& h : heads) known += (known.empty() ? "" : ", ") + h;
            throw Error("--head " + o.head + ": the model has no such head", ErrorKind::usage,
                        "its heads: " + known);
        }
        return {.head = o.head.empty() ? heads[0] : o.head, .most = o.most, .least = least};
    }

    // Answers come in portions; those of the earlier ones are in the file.
    static Json earlier_results(const Options& o, std::size_t first) {
        if (o.results.empty() || first == 0) return Json::array();
        return read_json(o.results, std::int64_t{1} << 32);
    }

    void add_results(const std::string& path, const std::vector<FoundBox>& found, Json& to) const {
        const Json ids = model_.folder.about.value("category_ids", Json::object());
        for (const FoundBox& f : found) {
            const std::string& label = model_.folder.labels[static_cast<std::size_t>(f.category)];
            to.push_back({{"image_id", picture_id(path)},
                          {"category_id", ids.value(label, f.category + 1)},
                          {"bbox", {f.box.x, f.box.y, f.box.width, f.box.height}},
                          {"score", f.score}});
        }
    }

    Answer written(const std::string& path, const Picture& picture,
                   const std::vector<FoundBox>& found, const Options& o) const {
        Answer a;
        a.keep_if_stopped = true;
        a.json = {{"schema", "fovea.detection"},
                  {"version", 1},
                  {"picture", path},
                  {"height", picture.height},
                  {"width", picture.width}};
        a.json["things"] = Json::array();
        a.text = path;
        a.rows.emplace();
        for (const FoundBox& f : found) {
            const std::string& label = model_.folder.labels[static_cast<std::size_t>(f.category)];
            const Box& b = f.box;
            a.json["things"].push_back(
                {{"label", label}, {"score", f.score}, {"box", {b.x, b.y, b.width, b.height}}});
            a.text += fmt::format("\n  {} {:.3f}  {:.1f} {:.1f} {:.1f} {:.1f}", label, f.score, b.x,
                                  b.y, b.x + b.width, b.y + b.height);
            a.rows->push_back({path, label, fmt::format("{:.4f}", f.score),
                               fmt::format("{:.2f}", b.x), fmt::format("{:.2f}", b.y),
                               fmt::format("{:.2f}", b.x + b.width),
                               fmt::format("{:.2f}", b.y + b.height)});
        }
        if (found.empty()) a.text += "\n  nothing";
        if (!o.draw.empty()) {
            const std::string drawing = answer_file(o.draw, path);
            write_png(drawing, draw_boxes(picture, found, model_.folder.labels));
            a.json["drawing"] = drawing;
        }
        return a;
    }

    Options options_;
    DetectModel model_;
};

}  // namespace

Picture draw_boxes(const Picture& picture, std::span<const FoundBox> found,
                   std::span<const std::string> labels) {
    Picture out = with_channels(picture, 3);
    // The surest last: it lies on top.
    for (auto f = found.rbegin(); f != found.rend(); ++f) {
        const Colour colour = colour_of(static_cast<std::size_t>(f->category));
        const auto pixel = [](double x) { return static_cast<std::int64_t>(std::floor(x)); };
        const DrawnBox box{pixel(f->box.x), pixel(f->box.y), pixel(f->box.x + f->box.width - 1e-6),
                           pixel(f->box.y + f->box.height - 1e-6)};
        draw_frame(out, box, colour, out.width >= 256 ? 2 : 1);
        const std::string text = fmt::format(
            "{} {:.0f}%", labels[static_cast<std::size_t>(f->category)], 100 * f->score);
        // Above the box where there is room.
        const std::int64_t high = letter_height + 2;
        const std::int64_t top = box.top >= high ? box.top - high : box.top;
        const auto wide = static_cast<std::int64_t>(text.size()) * letter_width + 1;
        fill_box(out, {box.left, top, box.left + wide, top + high - 1}, colour);
        draw_text(out, text, {.left = box.left + 1, .top = top + 1});
    }
    return out;
}

std::unique_ptr<Predictor> make_detect_predictor() { return std::make_unique<DetectPredictor>(); }

}  // namespace fovea
