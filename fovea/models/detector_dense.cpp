// The dense head of the detector: what each cell learns and says.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/models/detector.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/picture_loss.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

constexpr float prior = 0.01f;       // score of every label before anything is learned
constexpr float first_distance = 4;  // the same of the box's edges, in cells
constexpr float least_side = 0.02f;  // of a box, in cells: no box is ever empty
// Small things are learned by the cells so near to their centre, where their box has them: by one
// cell each, few small things drown among the many cells of large ones (FCOS samples 1.5 cells).
constexpr double least_reach = 1;
constexpr std::size_t most_boxes = 1000;  // of a picture that compete

float logit_of(float p) { return std::log(p / (1 - p)); }

std::array<float, 2> cell_share(const CellRows& cells) {  // a cell's width and height
    constexpr float stride = DetectorConfig::stride;
    return {stride / static_cast<float>(cells.pixels.width),
            stride / static_cast<float>(cells.pixels.height)};
}

// Middle of a cell within its picture, in cells.
std::array<float, 2> middle_of(const Grid& grid, std::int64_t row) {
    const std::int64_t at = row % grid.area(), line = at / grid.width;
    return {static_cast<float>(at % grid.width) + 0.5f, static_cast<float>(line) + 0.5f};
}

}  // namespace

std::vector<int> cell_things(const PictureThings& things, const Grid& cells, const Grid& pixels,
                             double shrunk) {
    std::vector<int> order(things.size());
    std::iota(order.begin(), order.end(), 0);
    const auto area = [&](int i) {
        const auto& box = things[static_cast<std::size_t>(i)].box;
        return box[2] * box[3];
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return area(a) > area(b); });
    std::vector<int> found(static_cast<std::size_t>(cells.area()), -1);
    for (const int i : order) {  // the smallest last: it wins
        const auto& box = things[static_cast<std::size_t>(i)].box;
        // Cells whose middle, k + 1/2, is within reach of the centre; that of the centre always.
        const auto span = [&](float centre, float size, std::int64_t side, std::int64_t most) {
            const double all = static_cast<double>(side) / DetectorConfig::stride;
            const double c = centre * all, half = size * all / 2;
            const double reach = std::max(half * shrunk, std::min(half, least_reach));
            const auto own = static_cast<std::int64_t>(std::floor(c));
            const auto low = static_cast<std::int64_t>(std::ceil(c - reach - 0.5)),
                       high = static_cast<std::int64_t>(std::floor(c + reach - 0.5));
            return std::pair(std::clamp<std::int64_t>(std::min(low, own), 0, most - 1),
                             std::clamp<std::int64_t>(std::max(high, own), 0, most - 1));
        };
        const auto [top, bottom] = span(box[1], box[3], pixels.height, cells.height);
        const auto [left, right] = span(box[0], box[2], pixels.width, cells.width);
        for (std::int64_t y = top; y <= bottom; ++y)
            for (std::int64_t x = left; x <= right; ++x)
                found[static_cast<std::size_t>(y * cells.width + x)] = i;
    }
    return found;
}

DenseHead::DenseHead(const DetectorConfig& c, int labels, const Params& p)
    : class_weight((p / "classes").get("weight", {labels, c.d_model}, normal(0.01f))),
      class_bias((p / "classes").get("bias", {labels}, constant(logit_of(prior)))),
      box_weight((p / "boxes").get("weight", {4, c.d_model}, normal(0.01f))),
      box_bias((p / "boxes")
                   .get("bias", {4},
                        constant(logit_of(
                            std::sqrt(first_distance / static_cast<float>(c.reach + 4)))))),
      config(c) {
    for (int i = 0; i < 2; ++i)
        tower.push_back({Conv2d({.in = c.d_model, .out = c.d_model, .kernel = 3, .padding = 1},
                                p / "tower" / i / "convolution"),
                         LayerNorm(c.d_model, p / "tower" / i / "norm")});
}

DenseOutput DenseHead::operator()(const CellRows& cells) const {
    Tensor x = cells.rows;
    for (const DetectorStem::Step& step : tower)
        x = gelu(step.norm(step.convolution(x, cells.grid)));
    const Tensor share = sigmoid(linear(x, box_weight, box_bias));
    return {linear(x, class_weight, class_bias),
            static_cast<float>(config.reach) * mul(share, share)};
}

//   centre = middle + (right − left, down − up) / 2,  size = (left + right, up + down)
Tensor DenseHead::boxes(const DenseOutput& out, const CellRows& cells, const Ids& rows) const {
    const Tensor d = gather_rows(out.distances, rows);
    const Tensor before = slice_cols(d, 0, 2), behind = slice_cols(d, 2, 4);
    const auto [wide, high] = cell_share(cells);
    Tensor middles({d.rows(), 4}), units({d.rows(), 4});
    float *middle = middles.write(), *unit = units.write();
    for (const std::int32_t row : rows) {
        const auto [x, y] = middle_of(cells.grid, row);
        const float at[] = {x * wide, y * high, least_side * wide, least_side * high};
        const float scale[] = {wide, high, wide, high};
        middle = std::copy_n(at, 4, middle);
        unit = std::copy_n(scale, 4, unit);
    }
    return mul(concat_cols({0.5f * (behind - before), before + behind}), units) + middles;
}

Tensor DenseHead::loss(const DenseOutput& out, const CellRows& cells,
                       std::span<const PictureThings> things) const {
    Tensor classes = Tensor::zeros(out.logits.shape());
    Ids rows;
    std::vector<float> targets;
    for (std::size_t i = 0; i < things.size(); ++i) {
        const std::vector<int> learned =
            cell_things(things[i], cells.grid, cells.pixels, config.shrunk);
        const std::int64_t first = static_cast<std::int64_t>(i) * cells.grid.area();
        for (std::size_t k = 0; k < learned.size(); ++k) {
            if (learned[k] < 0) continue;
            const Thing& thing = things[i][static_cast<std::size_t>(learned[k])];
            const std::int64_t row = first + static_cast<std::int64_t>(k);
            classes.write()[row * classes.cols() + thing.label] = 1;
            rows.push_back(static_cast<std::int32_t>(row));
            targets.insert(targets.end(), thing.box.begin(), thing.box.end());
        }
    }
    const auto count = static_cast<float>(std::max<std::size_t>(rows.size(), 1));
    const Tensor said = focal_loss(out.logits, classes, {.divisor = count});
    if (rows.empty()) return said;
    const Tensor wanted = Tensor::of({static_cast<std::int64_t>(rows.size()), 4}, targets);
    return said + box_loss(boxes(out, cells, rows), wanted, {.divisor = count});
}

std::vector<std::vector<ScoredBox>> DenseHead::scored(const DenseOutput& out, const CellRows& cells,
                                                      float least) const {
    Ids all(static_cast<std::size_t>(cells.grid.rows()));
    std::iota(all.begin(), all.end(), 0);
    const Tensor found = boxes(out, cells, all), scores = sigmoid(out.logits);
    std::vector<std::vector<ScoredBox>> pictures(static_cast<std::size_t>(cells.grid.images));
    for (std::int64_t row = 0; row < scores.rows(); ++row) {
        ScoredBox box;
        std::copy_n(found.data() + 4 * row, 4, box.box.begin());
        box.row = static_cast<std::int32_t>(row);
        for (std::int64_t label = 0; label < scores.cols(); ++label) {
            box.score = scores.data()[row * scores.cols() + label];
            box.label = static_cast<int>(label);
            if (box.score >= least)
                pictures[static_cast<std::size_t>(row / cells.grid.area())].push_back(box);
        }
    }
    for (std::vector<ScoredBox>& boxes_of_one : pictures)
        if (boxes_of_one.size() > most_boxes)
            boxes_of_one = surest_boxes(std::move(boxes_of_one), 1.0f, most_boxes);
    return pictures;
}

}  // namespace fovea
