#include "fovea/tasks/image.h"

#include <algorithm>
#include <optional>

#include "fovea/base/files.h"
#include "fovea/ops/softmax.h"
#include "fovea/tasks/bad_records.h"
#include "fovea/tasks/new_head.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_values_of_images = 0x696e6974;  // their stream of random numbers
constexpr const char* input_file = "preprocessor_config.json";

std::shared_ptr<const PictureModel> make_network(const ImageModel& m, const Params& p) {
    const std::string where = m.folder.config_path();
    return std::make_shared<const PictureModel>(
        picture_model_of(m.folder.config, where)
            .make(m.folder.config, where, static_cast<int>(m.folder.labels.size()), p));
}

PictureInput input_of_folder(const ModelFolder& folder) {
    const std::string path = join_path(folder.path, input_file);
    if (!folder.preprocessor.empty()) return PictureInput::of_json(folder.preprocessor, path);
    fail_with(ErrorKind::not_found, "it comes with the model: copy it there", path,
              ": there is no such file, which says how pictures become numbers");
}

// Clips: a file of others tells the numbers of one frame's channels.
void settle_picture_input(ImageModel& m) {
    const PictureModel& n = *m.network;
    if (n.frames > 1 && static_cast<int>(m.input.channels()) * n.frames == n.channels)
        m.input.repeat_for(static_cast<std::uint32_t>(n.frames));
    m.input.frames = static_cast<std::uint32_t>(n.frames);
    expect_input(static_cast<int>(m.input.height) == n.height &&
                     static_cast<int>(m.input.width) == n.image_width &&
                     static_cast<int>(m.input.channels()) == n.channels,
                 join_path(m.folder.path, input_file), ": makes pictures of ", m.input.width, " × ",
                 m.input.height, " with ", m.input.channels(), " channels, but the model takes ",
                 n.image_width, " × ", n.height, " with ", n.channels);
}

}  // namespace

ImageModel ImageModel::create(ModelFolder made, PictureInput how, std::uint64_t seed) {
    ImageModel m;
    m.folder = std::move(made);
    m.folder.task = "image";
    m.folder.config["architectures"] = {picture_model_of(m.folder.config, "config").architecture};
    m.input = std::move(how);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_values_of_images);
    m.network = make_network(m, Params(*m.store, rng));
    settle_picture_input(m);
    m.folder.preprocessor = m.input.to_json();
    return m;
}

ImageModel ImageModel::create_from(ModelFolder pretrained, std::vector<std::string> labels,
                                   std::uint64_t seed, ModelFolder::NewHead& report) {
    ImageModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "image";
    m.folder.about = Json::object();
    m.folder.generation = Json::object();
    m.folder.labels = std::move(labels);
    m.input = input_of_folder(m.folder);
    const PictureModelEntry& entry = picture_model_of(m.folder.config, m.folder.config_path());
    m.store = load_but_heads({m.folder.path, entry.rules(), entry.heads}, report,
                             [&](ParameterStore& store) {
                                 Rng rng(seed, initial_values_of_images);
                                 m.network = make_network(m, Params(store, rng));
                             });
    settle_picture_input(m);
    return m;
}

ImageModel ImageModel::open(ModelFolder folder, const WeightChoice& weights) {
    ImageModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    expect_input(m.folder.labels.size() >= 2, where, ": \"id2label\" names ",
                 m.folder.labels.size(), " labels, but a classifier has at least 2");
    m.input = input_of_folder(m.folder);
    m.store = m.folder.load(picture_model_of(m.folder.config, where).rules(), weights.format,
                            [&](const Params& p) { make_network(m, p); });
    Rng unused;
    m.network = make_network(m, Params(*m.store, unused));
    settle_picture_input(m);
    return m;
}

void ImageModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, picture_model_of(folder.config, "config").rules(), overwrite);
}

void save_image_model(const ModelFolder& model, const ParameterStore& trained,
                      const std::string& out, bool overwrite) {
    model.save(out, trained, picture_model_of(model.config, model.config_path()).rules(),
               overwrite);
}

int ImageModel::channels_of_each(std::size_t pictures) const {
    const auto all = static_cast<std::size_t>(network->channels);
    expect_input(all == pictures || all == 3 * pictures, "the model takes ", all,
                 " channels, but there are ", pictures,
                 " pictures a case, of 1 or 3 channels each");
    return all == pictures ? 1 : 3;
}

Picture ImageModel::read(const PictureReader& reader, std::span<const std::string> names) const {
    return input.fitted(reader.read(names, channels_of_each(names.size())));
}

std::vector<TextLabel> classify_pictures(const ImageModel& model, std::span<const Picture> fitted) {
    constexpr std::size_t together = 32;
    const PrecisionScope scope(model.precision);
    std::vector<TextLabel> answers(fitted.size());
    for (std::size_t from = 0; from < fitted.size(); from += together) {
        const std::size_t n = std::min(together, fitted.size() - from);
        const Tensor p = softmax(model.logits({model.input.pixels(fitted.subspan(from, n))}));
        for (std::size_t i = 0; i < n; ++i) {
            TextLabel& a = answers[from + i];
            const float* row = p.data() + static_cast<std::int64_t>(i) * p.cols();
            a.probabilities.assign(row, row + p.cols());
            a.label =
                model.folder
                    .labels[static_cast<std::size_t>(std::max_element(row, row + p.cols()) - row)];
            a.labels = {a.label};
        }
    }
    return answers;
}

std::vector<Picture> read_fitted(const ImageModel& model, std::vector<LabelledText>& records,
                                 std::int64_t skip_bad, const Say& say) {
    const auto read = [&](const PictureReader& reader, std::span<const std::string> names) {
        return model.read(reader, names);
    };
    return read_fitted(read, records, skip_bad, say);
}

std::vector<Picture> read_fitted(const ReadPicture& read, std::vector<LabelledText>& records,
                                 std::int64_t skip_bad, const Say& say) {
    const PictureReader reader;
    std::vector<Picture> all(records.size());
    const auto look = [&](std::size_t i) { all[i] = read(reader, records[i].texts); };
    const std::vector<bool> kept = readable(records.size(), look, PassOver(skip_bad, say));
    keep_only(records, kept);
    keep_only(all, kept);
    return all;
}

}  // namespace fovea
