// A painter at work, behind the interface of tasks: samples, completions, and what pictures cost.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/data/picture_sheet.h"
#include "fovea/io/png.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/image_data.h"
#include "fovea/tasks/paint.h"
#include "fovea/tasks/paint_settings.h"
#include "fovea/tasks/with_given.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

// A picture as lines of characters, dark to light.
std::string in_characters(const Picture& p) {
    static constexpr std::string_view shades = " .:-=+*#%@";
    std::string text;
    for (std::uint32_t y = 0; y < p.height; ++y) {
        if (y) text += '\n';
        for (std::uint32_t x = 0; x < p.width; ++x)
            text.append(2, shades[std::size_t{*p.at(y, x)} * shades.size() / 256]);
    }
    return text;
}

class PaintPredictor : public Predictor {
public:
    void describe(Settings& s) override { settings_.describe(s); }

    std::optional<InputFile> inline_input() const override {
        return InputFile{"class", "text", "the class of the pictures, again for more"};
    }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: paint has no ensembles", ErrorKind::usage);
        model_ = PaintModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override { return {"class", "picture"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const PaintSettings o = with_given(settings_, given);
        const std::vector<Picture> begun = pictures_to_complete(o, inputs.size());
        const auto samples = static_cast<std::size_t>(o.samples);
        std::vector<PaintRequest> requests;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            for (std::size_t s = 0; s < samples; ++s) {
                PaintRequest& r = requests.emplace_back();
                r.label = model_.class_of(inputs[i].at("text").get<std::string>());
                r.number = ((control.first + i) << 20) + s;  // so few samples there are
                if (begun.empty()) continue;
                r.begun = &begun[begun.size() == 1 ? 0 : i];
                r.given_rows = static_cast<std::uint32_t>(
                    std::lround(o.given * static_cast<double>(model_.input.height)));
            }
        const std::vector<Picture> painted =
            paint(model_, requests, o.search(), static_cast<std::size_t>(o.batch), control);
        if (!o.sheet.empty()) write_sheet(o, requests, painted, control);
        std::vector<Answer> out;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            out.push_back(written(inputs[i].at("text").get<std::string>(), control.first + i,
                                  std::span(painted).subspan(i * samples, samples), o));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        const std::size_t label = model_.class_of(pass.input);
        const Picture dark = blank_picture(model_.input.height, model_.input.width, 1, "inspect");
        const Ids ids = model_.tokens(dark, label);
        std::vector<std::string>& rows = pass.tokens["pixels"];
        rows.push_back(pass.input);
        for (std::int64_t t = 0; t + 1 < model_.pixels(); ++t)
            rows.push_back(fmt::format("{},{}", t / model_.input.width, t % model_.input.width));
        pass.sides = {{"", "pixels", "pixels"}};
        const PrecisionScope scope(model_.precision);
        model_.network->rows(pack({&ids, 1}));
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        std::vector<std::string> names{"bits_per_dim", "loss"};
        if (settings_.baseline == "independent")
            names.insert(names.end(), {"independent_bits_per_dim", "margin_bits_per_dim"});
        return names;
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        if (settings_.baseline != "none" && settings_.training.empty())
            throw Error("--baseline " + settings_.baseline + ": learns from pictures",
                        ErrorKind::usage, "--training FILE names those of the training");
        std::vector<LabelledText> records = labelled(files, control);
        EvalReport r;
        const Stopwatch clock;
        const std::vector<Picture> fitted = read(records, files.skip_bad, control.say);
        std::vector<std::size_t> labels;
        for (const LabelledText& t : records) labels.push_back(model_.class_of(label_of(t)));
        const std::vector<double> nats = nats_of_pictures(model_, fitted, labels, control);
        r.score = bits_per_dim(model_, nats, labels);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(nats.size());
        r.tokens = r.records * model_.pixels();
        const double each = static_cast<double>(model_.pixels()) * std::log(2.0);
        for (const double n : nats) r.outputs.push_back(fmt::format("{:.4f}", n / each));
        if (settings_.baseline == "none") return r;
        const double independent = independent_bits(known_pictures(settings_, control), fitted);
        r.score.figures["independent_bits_per_dim"] = independent;
        r.score.figures["margin_bits_per_dim"] = independent - r.score.value;
        r.details = fmt::format("  each pixel by itself: {:.3f} bits; the model saves {:.3f}\n",
                                independent, independent - r.score.value);
        return r;
    }

private:
    std::vector<Picture> read(std::vector<LabelledText>& records, std::int64_t skip_bad,
                              const Say& say) const {
        const auto one = [this](const PictureReader& reader, std::span<const std::string> names) {
            return model_.read(reader, names);
        };
        return read_fitted(one, records, skip_bad, say);
    }

    std::vector<LabelledText> labelled(const RecordFiles& files,
                                       const PredictControl& control) const {
        Problems problems;
        std::vector<LabelledText> records =
            read_labelled_pictures({.paths = files.paths,
                                    .picture_keys = settings_.picture_keys,
                                    .label_key = settings_.label_key,
                                    .skip_bad = files.skip_bad,
                                    .limit = files.limit},
                                   &problems);
        say_all(problems.notes, control);
        records = with_known_labels(std::move(records), model_.folder.labels,
                                    settings_.unknown == "skip", control.say);
        expect_input(!records.empty(), files.paths[0], ": holds no picture of a known class");
        return records;
    }

    // Whether labelled or not: those that samples and baselines are compared with.
    std::vector<Picture> known_pictures(const PaintSettings& o, const PredictControl& c) const {
        std::vector<LabelledText> records;
        if (!holds_labelled_pictures(o.training).empty())
            records = read_labelled_pictures({.paths = {o.training}});
        else
            for (const std::string& name : picture_names(o.training))
                records.push_back({{name}, {""}, name, 1});
        expect_input(!records.empty(), o.training, ": holds no picture");
        return read(records, 0, c.say);
    }

    std::vector<Picture> pictures_to_complete(const PaintSettings& o, std::size_t inputs) const {
        if (o.complete.size() > 1 && o.complete.size() != inputs)
            throw Error(text_of("--complete names ", o.complete.size(), " pictures for ", inputs,
                                " classes"),
                        ErrorKind::usage, "give one for all classes, or one for each");
        std::vector<Picture> begun;
        const PictureReader reader;
        for (const std::string& name : o.complete) begun.push_back(model_.read(reader, {&name, 1}));
        return begun;
    }

    // A row for each picture: what it was begun from, itself, those of the training most like it.
    void write_sheet(const PaintSettings& o, std::span<const PaintRequest> requests,
                     std::span<const Picture> painted, const PredictControl& control) const {
        std::vector<Picture> known;
        if (!o.training.empty()) known = known_pictures(o, control);
        std::vector<std::vector<Picture>> rows;
        for (std::size_t i = 0; i < painted.size() && !painted[i].pixels.empty(); ++i) {
            std::vector<Picture>& row = rows.emplace_back();
            if (requests[i].begun) row.push_back(*requests[i].begun);
            row.push_back(painted[i]);
            for (const std::size_t k :
                 nearest_pictures(painted[i], known, static_cast<std::size_t>(o.nearest)))
                row.push_back(known[k]);
        }
        if (known.empty() && o.complete.empty()) rows = in_columns(rows, 10);
        if (!rows.empty()) write_png(o.sheet, picture_sheet(rows));
    }

    static std::vector<std::vector<Picture>> in_columns(
        const std::vector<std::vector<Picture>>& single, std::size_t columns) {
        std::vector<std::vector<Picture>> rows;
        for (std::size_t i = 0; i < single.size(); ++i) {
            if (i % columns == 0) rows.emplace_back();
            rows.back().push_back(single[i][0]);
        }
        return rows;
    }

    Answer written(const std::string& label, std::size_t number, std::span<const Picture> painted,
                   const PaintSettings& o) const {
        Answer a;
        a.json = {{"schema", "fovea.painting"},
                  {"version", 1},
                  {"class", label},
                  {"height", model_.input.height},
                  {"width", model_.input.width},
                  {"samples", Json::array()}};
        a.rows.emplace();
        for (std::size_t s = 0; s < painted.size(); ++s) {
            if (painted[s].pixels.empty()) continue;  // interrupted
            a.keep_if_stopped = true;
            std::string shown;
            if (o.pictures.empty()) {
                shown = in_characters(painted[s]);
                a.json["samples"].push_back({{"pixels", painted[s].pixels}});
                a.rows->push_back({label, ""});
            } else {
                // A folder for each class: what `fovea eval` of a classifier reads.
                const std::string folder = join_path(o.pictures, label);
                make_folders(folder);
                shown = join_path(folder, fmt::format("{:05}-{:04}.png", number, s));
                write_png(shown, painted[s]);
                a.json["samples"].push_back({{"picture", shown}});
                a.rows->push_back({label, shown});
            }
            a.text += (a.text.empty() ? "" : "\n") + shown;
        }
        return a;
    }

    PaintSettings settings_;
    PaintModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_paint_predictor() { return std::make_unique<PaintPredictor>(); }

}  // namespace fovea
