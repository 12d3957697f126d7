#include "fovea/tasks/segment.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/resize.h"
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_segmenter = 0x736567;  // its stream of random numbers

PixelScaling scaling_in(const ModelFolder& folder, int channels) {
    return PixelScaling::of(folder.preprocessor, join_path(folder.path, "preprocessor_config.json"),
                            channels);
}

// Pictures are read at their own size, whatever the size that a folder of others names.
Json segment_preprocessor(const PixelScaling& scaling) {
    Json j{{"image_processor_type", "SegformerImageProcessor"}, {"do_resize", false}};
    scaling.put(j);
    return j;
}

// fovea.json's numbers of masks; a folder of others has the labels' own.
MaskValues values_in(const ModelFolder& folder) {
    MaskValues v;
    const auto found = folder.about.find("mask_values");
    for (std::size_t i = 0; i < folder.labels.size(); ++i) {
        int value = static_cast<int>(i);
        if (found != folder.about.end()) {
            expect_input(found->is_array() && found->size() == folder.labels.size() &&
                             (*found)[i].is_number_integer(),
                         folder.path,
                         ": fovea.json: \"mask_values\" must have a number for each of ",
                         folder.labels.size(), " labels");
            value = (*found)[i].get<int>();
        }
        expect_input(value >= 0 && value < 256 && (v.values.empty() || value > v.values.back()),
                     folder.path, ": \"mask_values\" must rise from 0 to 255");
        v.values.push_back(static_cast<std::uint8_t>(value));
    }
    v.has_ignored = v.values.empty() || v.values.back() != MaskValues::ignored;
    return v;
}

std::uint8_t largest_of(const float* row, std::int64_t n) {
    return static_cast<std::uint8_t>(std::max_element(row, row + n) - row);
}

}  // namespace

SegmentModel SegmentModel::create(const SegformerConfig& config, const MaskValues& values,
                                  std::uint64_t seed) {
    SegmentModel m;
    m.folder.task = "segment";
    m.folder.config = config.to_json();
    m.folder.labels = config.labels;
    m.folder.about["mask_values"] = values.values;
    m.values = values;
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_segmenter);
    m.network = std::make_shared<const Segformer>(config, Params(*m.store, rng));
    const auto n = static_cast<std::size_t>(config.num_channels);
    m.scaling.mean.resize(n);
    m.scaling.deviation.resize(n);
    m.folder.preprocessor = segment_preprocessor(m.scaling);
    return m;
}

SegmentModel SegmentModel::open(ModelFolder folder, const WeightChoice& weights) {
    SegmentModel m;
    m.folder = std::move(folder);
    m.folder.task = "segment";
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const SegformerConfig config =
        SegformerConfig::from_json(m.folder.config, m.folder.config_path());
    if (config.num_channels != 1 && config.num_channels != 3)
        fail_with(ErrorKind::bad_input, "pictures are read as grey (1) or as colours (3)",
                  m.folder.config_path(), ": \"num_channels\" is ", config.num_channels);
    const auto make = [&](const Params& p) { return std::make_shared<const Segformer>(config, p); };
    m.store = m.folder.load(Segformer::rules(), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    m.values = values_in(m.folder);
    m.scaling = scaling_in(m.folder, config.num_channels);
    m.folder.preprocessor = segment_preprocessor(m.scaling);
    return m;
}

void SegmentModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, Segformer::rules(), overwrite);
}

void save_segmenter(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                    bool overwrite) {
    const auto config = SegformerConfig::from_json(model.config, model.config_path());
    ModelFolder own = model;
    own.preprocessor = segment_preprocessor(scaling_in(model, config.num_channels));
    own.save(out, trained, Segformer::rules(), overwrite);
}

FeatureMap SegmentModel::pixels(const Picture& picture) const {
    const auto least = static_cast<std::uint32_t>(network->config.smallest_side());
    const Picture own = with_channels(picture, channels());
    const Picture read = own.height < least || own.width < least
                             ? resize(own, std::max(own.height, least), std::max(own.width, least))
                             : own;
    const Grid grid{1, read.height, read.width};
    Tensor rows({grid.rows(), channels()});
    scaling.put_rows(read, rows.write());
    return {rows, grid};
}

Tensor SegmentModel::logits(const Picture& picture) const {
    const FeatureMap read = pixels(picture);
    return network->enlarged((*network)(read.rows, read.grid), picture.height, picture.width);
}

SegmentedPicture segmented(const Tensor& logits, const Picture& picture) {
    SegmentedPicture s{picture.height, picture.width, {}, {}};
    s.labels.resize(static_cast<std::size_t>(logits.rows()));
    s.shares.assign(static_cast<std::size_t>(logits.cols()), 0.0);
    for (std::int64_t i = 0; i < logits.rows(); ++i) {
        const std::uint8_t label = largest_of(logits.data() + i * logits.cols(), logits.cols());
        s.labels[static_cast<std::size_t>(i)] = label;
        s.shares[label] += 1;
    }
    for (double& share : s.shares)
        share /= static_cast<double>(std::max<std::int64_t>(1, logits.rows()));
    return s;
}

std::vector<SegmentedPicture> segment(const SegmentModel& model, std::span<const Picture> pictures,
                                      const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    std::vector<SegmentedPicture> out;
    for (const Picture& picture : pictures) {
        if (control.stop && *control.stop) break;
        out.push_back(segmented(model.logits(picture), picture));
        if (control.progress)
            control.progress(static_cast<std::int64_t>(out.size()),
                             static_cast<std::int64_t>(pictures.size()));
    }
    return out;
}

Picture draw_masks(const Picture& picture, const SegmentedPicture& found) {
    static constexpr std::uint8_t colours[][3] = {{230, 60, 50},  {50, 160, 230}, {60, 190, 80},
                                                  {240, 190, 40}, {170, 90, 220}, {240, 130, 200}};
    Picture out = with_channels(picture, 3);
    const auto label = [&](std::uint32_t y, std::uint32_t x) {
        return found.labels[std::size_t{y} * found.width + x];
    };
    for (std::uint32_t y = 0; y < out.height; ++y)
        for (std::uint32_t x = 0; x < out.width; ++x) {
            const std::uint8_t own = label(y, x);
            if (own == 0) continue;
            const bool edge = y == 0 || x == 0 || y + 1 == out.height || x + 1 == out.width ||
                              label(y - 1, x) != own || label(y, x - 1) != own ||
                              label(y + 1, x) != own || label(y, x + 1) != own;
            const std::uint8_t* colour = colours[(own - 1) % std::size(colours)];
            std::uint8_t* to = out.at(y, x);
            for (int c = 0; c < 3; ++c)
                to[c] = edge ? colour[c] : static_cast<std::uint8_t>((2 * to[c] + colour[c]) / 3);
        }
    return out;
}

SegmentScores score_masked(const SegmentModel& model, std::span<const MaskedPicture> records,
                           bool with_baseline, const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    const MaskScorerOptions options{
        .classes = static_cast<int>(model.folder.labels.size()),
        .empty = model.folder.labels.size() > 2 ? EmptyMask::skip : EmptyMask::one};
    MaskScorer scorer(options), baseline(options);
    double loss = 0, pixels = 0;
    std::int64_t done = 0;
    for (const MaskedPicture& record : records) {
        if (control.stop && *control.stop) break;
        const LoadedMask m = load_masked(record, model.channels());
        const std::vector<std::uint8_t> wanted = model.values.labels_of(m.mask, record.mask);
        const Tensor logits = model.logits(m.picture);
        const Ids labels(wanted.begin(), wanted.end());
        const auto counted = static_cast<double>(std::count_if(
            wanted.begin(), wanted.end(), [](std::uint8_t v) { return v != MaskValues::ignored; }));
        loss += counted * cross_entropy(logits, labels, {.ignore = MaskValues::ignored}).item();
        pixels += counted;
        scorer.add(segmented(logits, m.picture).labels, wanted);
        if (with_baseline) baseline.add(otsu_mask(m.picture), wanted);
        if (control.progress) control.progress(++done, static_cast<std::int64_t>(records.size()));
    }
    SegmentScores s{scorer.score().score(model.folder.labels), baseline.score()};
    s.model.figures["loss"] = loss / std::max(pixels, 1.0);
    return s;
}

}  // namespace fovea
