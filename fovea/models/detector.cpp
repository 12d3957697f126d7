#include "fovea/models/detector.h"

#include <cmath>

#include "fovea/models/detector_decoder.h"
#include "fovea/models/text_encoder.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"

namespace fovea {
namespace {

constexpr double longest_wave = 1000;

DetectorStem::Step convolution_step(const Conv2d::Sizes& sizes, const Params& p) {
    return {Conv2d(sizes, p / "convolution"), LayerNorm(sizes.out, p / "norm")};
}

}  // namespace

Tensor place_code(std::span<const std::array<float, 2>> places, int width) {
    const std::size_t waves = static_cast<std::size_t>(width) / 4;
    Tensor code({static_cast<std::int64_t>(places.size()), width});
    float* to = code.write();
    for (const std::array<float, 2>& place : places)
        for (const float at : place) {
            for (std::size_t i = 0; i < waves; ++i) {
                const double angle = at / std::pow(longest_wave, static_cast<double>(i) /
                                                                     static_cast<double>(waves));
                to[i] = static_cast<float>(std::sin(angle));
                to[waves + i] = static_cast<float>(std::cos(angle));
            }
            to += 2 * waves;
        }
    return code;
}

DetectorStem::DetectorStem(const DetectorConfig& c, const Params& p) {
    const int d = c.d_model;
    const Conv2d::Sizes sizes[] = {
        {.in = c.num_channels, .out = d / 4, .kernel = 3, .stride = 2, .padding = 1},
        {.in = d / 4, .out = d / 2, .kernel = 3, .stride = 2, .padding = 1},
        {.in = d / 2, .out = d / 2, .kernel = 3, .stride = 1, .padding = 1},
        {.in = d / 2, .out = d, .kernel = 3, .stride = 2, .padding = 1},
    };
    for (const Conv2d::Sizes& s : sizes)
        steps.push_back(convolution_step(s, p / static_cast<int>(steps.size())));
}

Tensor DetectorStem::operator()(const Tensor& pixels, Grid& grid) const {
    Tensor x = pixels;
    for (const Step& step : steps) {
        const Tensor h = gelu(step.norm(step.convolution(x, grid)));
        grid = step.convolution.grid(grid);
        x = step.convolution.sizes.stride == 1 ? x + h : h;
    }
    return x;
}

DetectorLayer::DetectorLayer(const DetectorConfig& c, const Params& p)
    : kernels((p / "neighbours").get("weight", {c.d_model, 1, 3, 3}, normal(0.02f))),
      bias((p / "neighbours").get("bias", {c.d_model}, zeros())),
      norm1(c.d_model, p / "norm1"),
      norm2(c.d_model, p / "norm2"),
      attention(c.d_model, c.num_heads, p / "self_attn", static_cast<float>(c.dropout)),
      fc1(c.d_model, c.ffn_dim, p / "fc1"),
      fc2(c.ffn_dim, c.d_model, p / "fc2"),
      dropout(static_cast<float>(c.dropout)) {}

Tensor DetectorLayer::operator()(const Tensor& x, const Grid& grid, const Visibility& sees) const {
    const Tensor placed = x + depthwise_conv2d(x, grid, kernels, bias);
    const Tensor n = norm1(placed);
    const Tensor h = add_dropout(placed, attention(n, n, sees), dropout);
    return add_dropout(h, feed_forward(norm2(h), fc1, fc2, Act::gelu), dropout);
}

DetectorEncoder::DetectorEncoder(const DetectorConfig& c, const Params& p)
    : config(c), stem(c, p / "stem"), norm(c.d_model, p / "norm") {
    for (int i = 0; i < c.encoder_layers; ++i) layers.emplace_back(c, p / "layers" / i);
}

CellRows DetectorEncoder::operator()(const DetectionPictures& pictures) const {
    expect(pictures.rows.cols() == config.num_channels, "detector: pixels are ",
           pictures.rows.shape(), " but ", config.num_channels, " channels are wanted");
    CellRows cells;
    cells.pixels = cells.grid = pictures.grid;
    Tensor pixels = pictures.rows;
    if (!pixels.row_names())
        pixels.set_row_names(Segments::of_lengths(
            std::vector<std::int64_t>(static_cast<std::size_t>(pictures.grid.images),
                                      pictures.grid.area()),
            pictures.samples));
    Tensor x = stem(pixels, cells.grid);
    for (std::int64_t i = 0; i < cells.grid.images; ++i) {
        const std::array<float, 2> corner = pictures.corners.empty()
                                                ? std::array<float, 2>{}
                                                : pictures.corners[static_cast<std::size_t>(i)];
        for (std::int64_t y = 0; y < cells.grid.height; ++y)
            for (std::int64_t k = 0; k < cells.grid.width; ++k)
                cells.places.push_back(
                    {corner[0] / DetectorConfig::stride + static_cast<float>(y) + 0.5f,
                     corner[1] / DetectorConfig::stride + static_cast<float>(k) + 0.5f});
    }
    cells.code = place_code(cells.places, config.d_model);
    x = x + cells.code;
    const Segments segments = grid_segments(cells.grid, x);
    const Visibility all = everything(segments, segments);
    const Visibility near = window_2d(cells.grid.images, cells.grid.height, cells.grid.width,
                                      config.window, config.window);
    for (std::size_t i = 0; i < layers.size(); ++i)
        x = layers[i](x, cells.grid, i % 2 == 0 ? near : all);
    cells.rows = norm(x);
    return cells;
}

Json Detector::new_config(const DetectionModelChoice& choice) {
    DetectorConfig c;
    c.num_channels = choice.channels;
    c.d_model = choice.width;
    c.encoder_layers = choice.layers;
    c.decoder_layers = choice.decoder_layers;
    c.num_heads = choice.heads;
    c.ffn_dim = choice.ffn;
    c.num_queries = choice.queries;
    c.dropout = choice.dropout;
    c.check("model", ErrorKind::usage);
    return c.to_json();
}

DetectionModel Detector::make(const Json& config, const std::string& where, int labels,
                              const Params& p) {
    const DetectorConfig c = DetectorConfig::from_json(config, where);
    const DetectorEncoder encoder(c, p / "encoder");
    const DenseHead dense(c, labels, p / "dense");
    std::vector<DetectorDecoder> decoder;  // one or none
    if (c.decoder_layers > 0) decoder.emplace_back(c, labels, p / "decoder");
    DetectionModel m;
    m.width = c.d_model;
    m.layers = c.encoder_layers;
    m.channels = c.num_channels;
    m.stride = DetectorConfig::stride;
    m.heads = {"dense"};
    if (!decoder.empty()) m.heads.push_back("decoder");
    m.loss = [=](const DetectionPictures& pictures, std::span<const PictureThings> things) {
        const CellRows cells = encoder(pictures);
        const DenseOutput out = dense(cells);
        const Tensor loss = dense.loss(out, cells, things);
        if (decoder.empty()) return loss;
        return loss + decoder[0].loss(cells, queries_of(dense, out, cells), things);
    };
    m.find = [=](const DetectionPictures& pictures, const FindOptions& options) {
        const CellRows cells = encoder(pictures);
        const DenseOutput out = dense(cells);
        const std::size_t most = static_cast<std::size_t>(options.most);
        std::vector<std::vector<FoundThing>> found;
        if (options.head == "decoder" && !decoder.empty()) {
            const DetectorQueries queries = queries_of(dense, out, cells);
            for (std::vector<ScoredBox>& boxes : decoder[0].scored(cells, queries, options.least))
                found.push_back(found_things(surest_boxes(std::move(boxes), 1.0f, most), true));
            return found;
        }
        for (std::vector<ScoredBox>& boxes : dense.scored(out, cells, options.least))
            found.push_back(found_things(
                surest_boxes(std::move(boxes), static_cast<float>(c.nms_overlap), most), false));
        return found;
    };
    m.layer_of = [last = m.layers + 1](std::string_view name) {
        if (name.starts_with("encoder.stem.")) return 0;
        return name.starts_with("encoder.layers.") ? numbered_layer(name, "encoder.layers.") : last;
    };
    return m;
}

}  // namespace fovea
