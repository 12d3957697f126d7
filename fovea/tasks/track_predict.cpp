// Tracking things in folders of frames, behind the interface of tasks.
#include <fmt/core.h>

#include <map>

#include "fovea/base/files.h"
#include "fovea/data/pictures.h"
#include "fovea/io/png.h"
#include "fovea/tasks/track.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

class TrackPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: track has no ensembles", ErrorKind::usage);
        model_ = SegmentModel::open(folders[0], weights);
        options_.link.check();
    }

    std::vector<std::string> columns() const override {
        return {"frame", "track", "left", "top", "width", "height", "label"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        std::vector<Answer> out;
        for (const Json& input : inputs) {
            if (control.stop && control.stop->load()) break;
            out.push_back(tracked(input.at("text").get<std::string>(), o, control));
        }
        out.resize(inputs.size());
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        return look_at_cells(model_, input.at("text").get<std::string>());
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"idf1", "mota", "precision", "recall", "switches", "fragments"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        return evaluate_tracks(model_, files, {options_.link, false}, control);
    }

private:
    struct Options {
        TrackOptions link;
        std::string draw;

        void describe(Settings& s) {
            link.describe(s);
            s.add("draw", draw, "write each frame with its tracks in colours to this folder",
                  {.group = "output",
                   .common = true,
                   .otherwise = "none is drawn",
                   .is_path = true,
                   .about_run = false});
            for (const char* common : {"reach", "patience", "feature-weight"})
                s.find(common)->options.common = true;
        }
    };

    Answer tracked(const std::string& folder, const Options& o,
                   const PredictControl& control) const {
        if (!is_folder(folder))
            fail_with(ErrorKind::bad_input, "frames are the pictures of a folder, by their names",
                      folder, ": is no folder of frames");
        const std::vector<std::string> names = picture_names(folder);
        expect_input(!names.empty(), folder, ": holds no picture");
        const auto frame = [&](std::size_t f) { return TrackFrame{read_picture(names[f])}; };
        const std::vector<TrackedFrame> found = track(model_, names.size(), frame, o.link, control);
        if (!o.draw.empty()) draw(names, found, o.draw);
        return written(folder, found);
    }

    static void draw(const std::vector<std::string>& names, const std::vector<TrackedFrame>& found,
                     const std::string& folder) {
        make_folders(folder);
        for (std::size_t f = 0; f < found.size(); ++f) {
            const std::string name = base_name(names[f]);
            const std::string to =
                join_path(folder, name.substr(0, name.find_last_of('.')) + ".png");
            if (to == names[f])
                fail_with(ErrorKind::usage, "name another folder", to,
                          ": is the frame itself, which would be overwritten");
            write_png(to, draw_tracks(read_picture(names[f]), found[f]));
        }
    }

    Answer written(const std::string& folder, const std::vector<TrackedFrame>& found) const {
        Answer a;
        a.keep_if_stopped = true;
        const std::vector<TrackLine> lines = lines_of(found);
        a.text = mot_text(lines);
        if (!a.text.empty()) a.text.pop_back();  // whoever writes it ends the line
        a.rows.emplace();
        std::map<std::int64_t, Json> tracks;
        for (std::size_t f = 0; f < found.size(); ++f)
            for (const SeenThing& t : found[f].things) {
                const std::string& label = model_.folder.labels.at(t.label);
                a.rows->push_back({std::to_string(f + 1), std::to_string(t.box.id),
                                   fmt::format("{}", t.box.x), fmt::format("{}", t.box.y),
                                   fmt::format("{}", t.box.width), fmt::format("{}", t.box.height),
                                   label});
                Json& j = tracks[t.box.id];
                j["track"] = t.box.id;
                j["label"] = label;
                j["boxes"].push_back({{"frame", f + 1},
                                      {"left", t.box.x},
                                      {"top", t.box.y},
                                      {"width", t.box.width},
                                      {"height", t.box.height},
                                      {"area", t.area}});
            }
        a.json = {{"schema", "fovea.tracks"},
                  {"version", 1},
                  {"folder", folder},
                  {"frames", found.size()},
                  {"tracks", Json::array()}};
        for (auto& [id, json] : tracks) a.json["tracks"].push_back(std::move(json));
        return a;
    }

    Options options_;
    SegmentModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_track_predictor() { return std::make_unique<TrackPredictor>(); }

}  // namespace fovea
