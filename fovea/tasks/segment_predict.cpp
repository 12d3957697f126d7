// Segmenting pictures, behind the interface of tasks. (Training: segment_task.cpp.)
#include <fmt/core.h>

#include "fovea/base/clock.h"
#include "fovea/io/png.h"
#include "fovea/tasks/answer_files.h"
#include "fovea/tasks/segment.h"
#include "fovea/tasks/track.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

class SegmentPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: segment has no ensembles", ErrorKind::usage);
        model_ = SegmentModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override { return {"picture", "mask", "shares"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        std::vector<Answer> out;
        for (const Json& input : inputs) {  // one at a time: pictures are large
            if (control.stop && *control.stop) break;
            const std::string path = input.at("text").get<std::string>();
            const Picture picture = read_picture(path);
            const std::vector<SegmentedPicture> found = segment(model_, {&picture, 1});
            out.push_back(written(path, picture, found[0], o));
            if (control.progress)
                control.progress(static_cast<std::int64_t>(out.size()),
                                 static_cast<std::int64_t>(inputs.size()));
        }
        out.resize(inputs.size());
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        return look_at_cells(model_, input.at("text").get<std::string>());
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        std::vector<std::string> names{"dice",     "iou",  "pooled_dice", "pooled_iou",
                                       "accuracy", "loss", "idf1",        "mota"};
        if (options_.baseline == "otsu")
            names.insert(names.end(), {"otsu_dice", "otsu_iou", "margin_dice", "margin_iou"});
        return names;
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        if (!files.paths.empty() && holds_tracks(files.paths[0]))
            return evaluate_tracks(model_, files, {options_.tracks, options_.own_masks}, control);
        MaskedFiles masked;
        masked.paths = files.paths;
        masked.limit = files.limit;
        masked.picture_key = options_.picture_key;
        masked.mask_key = options_.mask_key;
        const std::vector<MaskedPicture> records = read_masked(masked);
        const bool otsu = options_.baseline == "otsu";
        if (otsu && model_.folder.labels.size() != 2)
            throw Error(text_of("--baseline otsu: tells two labels apart, but the model has ",
                                model_.folder.labels.size()),
                        ErrorKind::usage, "leave --baseline out");
        EvalReport r;
        const Stopwatch clock;
        const SegmentScores s = score_masked(model_, records, otsu, control);
        r.seconds = clock.seconds();
        r.score = s.model;
        r.records = static_cast<std::int64_t>(records.size());
        if (!otsu) return r;
        const double dice = 100 * s.baseline.mean.dice, iou = 100 * s.baseline.mean.iou;
        Json& figures = r.score.figures;
        figures["otsu_dice"] = dice;
        figures["otsu_iou"] = iou;
        figures["margin_dice"] = figures["dice"].get<double>() - dice;
        figures["margin_iou"] = figures["iou"].get<double>() - iou;
        r.details =
            fmt::format("  Otsu's threshold: Dice {:.2f}, IoU {:.2f}; the model is {:+.2f}\n", dice,
                        iou, figures["margin_dice"].get<double>());
        return r;
    }

private:
    struct Options {
        std::string masks, draw, baseline = "none", picture_key, mask_key;
        TrackOptions tracks;  // eval: where the test data are sequences with true tracks
        bool own_masks = false;

        void describe(Settings& s) {
            tracks.describe(s);
            s.add("own-masks", own_masks, "eval of tracks: link the masks of the data, not its own",
                  {.group = "tracks", .about_run = false});
            s.add("masks", masks, "write the mask of each picture to this folder, as NAME.png",
                  {.group = "output",
                   .common = true,
                   .otherwise = "none is written",
                   .is_path = true,
                   .about_run = false});
            s.add("draw", draw, "write each picture with what was found to this folder",
                  {.group = "output",
                   .common = true,
                   .otherwise = "none is drawn",
                   .is_path = true,
                   .about_run = false});
            s.add("baseline", baseline,
                  "eval: the margin over this; otsu: a threshold for each picture",
                  {.group = "output",
                   .common = true,
                   .choices = {"none", "otsu"},
                   .about_run = false});
            s.add("picture", picture_key, "eval: column of the picture's path in a table",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
            s.add("mask", mask_key, "eval: column of the mask's path in a table",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
        }
    };

    Answer written(const std::string& path, const Picture& picture, const SegmentedPicture& found,
                   const Options& o) const {
        const std::vector<std::string>& labels = model_.folder.labels;
        Answer a;
        a.keep_if_stopped = true;
        a.json = {{"schema", "fovea.segmentation"},
                  {"version", 1},
                  {"picture", path},
                  {"height", found.height},
                  {"width", found.width}};
        std::string shares;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            shares += fmt::format("{}{} {:.4f}", i ? ", " : "", labels[i], found.shares[i]);
            a.json["shares"][labels[i]] = found.shares[i];
        }
        std::string mask;
        if (!o.masks.empty()) {
            mask = answer_file(o.masks, path);
            write_png(mask, model_.values.mask_of(found.labels, found.height, found.width));
            a.json["mask"] = mask;
        }
        if (!o.draw.empty()) {
            const std::string drawing = answer_file(o.draw, path);
            write_png(drawing, draw_masks(picture, found));
            a.json["drawing"] = drawing;
        }
        a.text = path + "\t" + (mask.empty() ? "" : mask + "\t") + shares;
        a.cells = {path, mask, shares};
        return a;
    }

    Options options_;
    SegmentModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_segment_predictor() { return std::make_unique<SegmentPredictor>(); }

}  // namespace fovea
