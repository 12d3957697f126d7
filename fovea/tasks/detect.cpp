#include "fovea/tasks/detect.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/resize.h"
#include "fovea/tasks/new_head.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_detector = 0x64657465;  // its stream of random numbers
constexpr const char* detect_input_file = "preprocessor_config.json";

std::shared_ptr<const DetectionModel> make_finder(const ModelFolder& folder, const Params& p) {
    const std::string where = folder.config_path();
    return std::make_shared<const DetectionModel>(
        detection_model_of(folder.config, where)
            .make(folder.config, where, static_cast<int>(folder.labels.size()), p));
}

// What preprocessor_config.json says, of a folder that has one or not.
void settle_input(DetectModel& m) {
    const int channels = m.network->channels;
    if (channels != 1 && channels != 3)
        fail_with(ErrorKind::bad_input, "pictures are read as grey (1) or as colours (3)",
                  m.folder.config_path(), ": the model takes ", channels, " channels");
    m.scaling = PixelScaling::of(m.folder.preprocessor, join_path(m.folder.path, detect_input_file),
                                 channels);
    m.folder.preprocessor = {{"image_processor_type", "DetrImageProcessor"}};
    m.scaling.put(m.folder.preprocessor);
    m.reads.put(m.folder.preprocessor);
}

std::span<const NameRule> finder_rules(const ModelFolder& folder) {
    return detection_model_of(folder.config, folder.config_path()).rules();
}

}  // namespace

ReadingSize ReadingSize::of(const Json& preprocessor, const std::string& where) {
    ReadingSize r;
    JsonFields f(preprocessor.is_object() ? preprocessor : Json::object(), where);
    f.read("size_share", r.share, {1e-3, 16});
    bool resized = true;
    f.read("do_resize", resized);
    const auto size = preprocessor.find("size");
    if (!resized || size == preprocessor.end()) return r;
    const NumberRange sides{1, static_cast<double>(largest_picture_side)};
    if (size->is_object()) {
        JsonFields s(*size, where + ": size");
        s.read("shortest_edge", r.shortest, sides);
        s.read("longest_edge", r.longest, sides);
    } else {  // before 2023
        f.read("size", r.shortest, sides);
        f.read("max_size", r.longest, sides);
    }
    return r;
}

void ReadingSize::put(Json& j) const {
    j["do_resize"] = shortest > 0;
    if (shortest > 0)
        j["size"] = {{"shortest_edge", shortest}, {"longest_edge", longest ? longest : 8192}};
    else
        j["size_share"] = share;
}

ReadingSize::Sides ReadingSize::sides(std::uint32_t height, std::uint32_t width, int least) const {
    const auto side = [&](double n) {
        return static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(n), least, largest_picture_side));
    };
    if (shortest == 0) return {side(std::round(height * share)), side(std::round(width * share))};
    // As DetrImageProcessor has it: the shorter side rounded, the longer one cut.
    const double low = std::min(height, width), high = std::max(height, width);
    double exact = shortest;
    if (longest > 0 && high / low * exact > longest) exact = longest * low / high;
    const double small = std::nearbyint(exact), large = exact * high / low;
    if (small == low) return {side(height), side(width)};
    return width < height ? Sides{side(large), side(small)} : Sides{side(small), side(large)};
}

DetectModel DetectModel::create(ModelFolder made, const ReadingSize& reads, std::uint64_t seed) {
    DetectModel m;
    m.folder = std::move(made);
    m.folder.task = "detect";
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_detector);
    m.network = make_finder(m.folder, Params(*m.store, rng));
    m.reads = reads;
    settle_input(m);
    return m;
}

DetectModel DetectModel::create_from(ModelFolder pretrained, std::vector<std::string> labels,
                                     std::uint64_t seed, ModelFolder::NewHead& report) {
    DetectModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "detect";
    m.folder.about = Json::object();
    m.folder.generation = Json::object();
    m.folder.labels = std::move(labels);
    m.reads = ReadingSize::of(m.folder.preprocessor, join_path(m.folder.path, detect_input_file));
    const DetectionModelEntry& entry = detection_model_of(m.folder.config, m.folder.config_path());
    m.store = load_but_heads({m.folder.path, entry.rules(), entry.heads}, report,
                             [&](ParameterStore& store) {
                                 Rng rng(seed, initial_detector);
                                 m.network = make_finder(m.folder, Params(store, rng));
                             });
    settle_input(m);
    return m;
}

DetectModel DetectModel::open(ModelFolder folder, const WeightChoice& weights) {
    DetectModel m;
    m.folder = std::move(folder);
    m.folder.task = "detect";
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    expect_input(!m.folder.labels.empty(), m.folder.config_path(),
                 ": \"id2label\" names no label, but a model that finds things has one at least");
    m.reads = ReadingSize::of(m.folder.preprocessor, join_path(m.folder.path, detect_input_file));
    m.store = m.folder.load(finder_rules(m.folder), weights.format,
                            [&](const Params& p) { make_finder(m.folder, p); });
    Rng unused;
    m.network = make_finder(m.folder, Params(*m.store, unused));
    settle_input(m);
    return m;
}

void DetectModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, finder_rules(folder), overwrite);
}

void save_detector(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite) {
    model.save(out, trained, finder_rules(model), overwrite);
}

Picture DetectModel::resized(const Picture& picture) const {
    const auto [height, width] = reads.sides(picture.height, picture.width, network->smallest_side);
    const Picture own = with_channels(picture, network->channels);
    return height == own.height && width == own.width ? own : resize(own, height, width);
}

DetectionPictures DetectModel::numbers(const Picture& resized) const {
    DetectionPictures pictures;
    pictures.grid = {1, resized.height, resized.width};
    pictures.rows = Tensor({pictures.grid.rows(), network->channels});
    scaling.put_rows(resized, pictures.rows.write());
    return pictures;
}

std::vector<FoundBox> DetectModel::find(const Picture& picture, const FindOptions& options) const {
    const PrecisionScope scope(precision);
    std::vector<FoundBox> found;
    const double wide = picture.width, high = picture.height;
    const std::vector<std::vector<FoundThing>> things = network->find(read(picture), options);
    for (const FoundThing& t : things.at(0)) {
        const double left = std::max(0.0, (double{t.box[0]} - t.box[2] / 2) * wide),
                     top = std::max(0.0, (double{t.box[1]} - t.box[3] / 2) * high),
                     right = std::min(wide, (double{t.box[0]} + t.box[2] / 2) * wide),
                     bottom = std::min(high, (double{t.box[1]} + t.box[3] / 2) * high);
        if (right > left && bottom > top)
            found.push_back({{left, top, right - left, bottom - top}, t.label, t.score});
    }
    return found;
}

std::vector<std::vector<FoundBox>> detect(const DetectModel& model,
                                          std::span<const Picture> pictures,
                                          const FindOptions& options,
                                          const PredictControl& control) {
    std::vector<std::vector<FoundBox>> out;
    for (const Picture& picture : pictures) {
        if (control.stop && *control.stop) break;
        out.push_back(model.find(picture, options));
        if (control.progress)
            control.progress(static_cast<std::int64_t>(out.size()),
                             static_cast<std::int64_t>(pictures.size()));
    }
    return out;
}

int label_of_thing(const BoxedThing& thing, std::span<const std::string> labels,
                   const std::string& where) {
    const auto found = std::find(labels.begin(), labels.end(), thing.label);
    if (found == labels.end())
        fail_with(ErrorKind::bad_input, "labels must be those that were learned", where,
                  ": has a box of the label \"", thing.label, "\", which the model does not know");
    return static_cast<int>(found - labels.begin());
}

double loss_boxed(const DetectModel& model, std::span<const BoxedPicture> records) {
    const PrecisionScope scope(model.precision);
    double sum = 0;
    for (const BoxedPicture& record : records) {
        PictureThings things;
        const double wide = record.width, high = record.height;
        for (const BoxedThing& t : record.things) {
            if (t.crowd) continue;
            const PictureBox& b = t.box;
            things.push_back({{static_cast<float>((b.left + b.right) / 2 / wide),
                               static_cast<float>((b.top + b.bottom) / 2 / high),
                               static_cast<float>((b.right - b.left) / wide),
                               static_cast<float>((b.bottom - b.top) / high)},
                              label_of_thing(t, model.folder.labels, record.path)});
        }
        const DetectionPictures read =
            model.numbers(model.resized(load_boxed(record, model.network->channels)));
        sum += model.network->loss(read, {&things, 1}).item();
    }
    return sum / static_cast<double>(std::max<std::size_t>(records.size(), 1));
}

MetricScore score_boxed(const DetectModel& model, std::span<const BoxedPicture> records,
                        const FindOptions& options, const PredictControl& control) {
    const std::vector<std::string>& labels = model.folder.labels;
    std::vector<PictureBoxes> scored;
    for (const BoxedPicture& record : records) {
        if (control.stop && *control.stop) break;
        PictureBoxes& p = scored.emplace_back();
        for (const BoxedThing& t : record.things) {
            const PictureBox& b = t.box;
            p.wanted.push_back({{b.left, b.top, b.right - b.left, b.bottom - b.top},
                                label_of_thing(t, labels, record.path),
                                t.area,
                                t.crowd || t.difficult});
        }
        p.found = model.find(load_boxed(record, model.network->channels), options);
        if (control.progress)
            control.progress(static_cast<std::int64_t>(scored.size()),
                             static_cast<std::int64_t>(records.size()));
    }
    return detection_score(scored, static_cast<int>(labels.size())).score(labels);
}

}  // namespace fovea
