#include "fovea/models/detector_decoder.h"

#include <algorithm>
#include <cmath>

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {
namespace {

constexpr float same_box = 0.8f;            // queries whose boxes overlap more would be one
constexpr float least_share = 1e-4f;        // of a box's side: no box is ever empty
constexpr float first_score_logit = -2.2f;  // a score of one tenth before anything is learned

// Deformable DETR's weights (Zhu et al. 2021, §A.4).
SetLossOptions decoder_loss() {
    SetLossOptions o;
    o.kind = SetClassLoss::focal;
    o.class_cost = o.class_weight = 2;
    return o;
}

// Where the boxes of queries are, and how large, in cells of the whole picture.
Tensor query_code(const DetectorQueries& queries, const CellRows& cells, int width) {
    constexpr float stride = DetectorConfig::stride;
    const float high = static_cast<float>(cells.pixels.height) / stride,
                wide = static_cast<float>(cells.pixels.width) / stride;
    std::vector<std::array<float, 2>> places, sizes;
    for (std::size_t i = 0; i < queries.rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(queries.rows[i]);
        const std::size_t first = row - row % static_cast<std::size_t>(cells.grid.area());
        const std::array<float, 2>& corner = cells.places[first];  // half a cell from the edge
        const ShareBox& b = queries.boxes[i];
        places.push_back({corner[0] - 0.5f + b[1] * high, corner[1] - 0.5f + b[0] * wide});
        sizes.push_back({b[3] * high, b[2] * wide});
    }
    return concat_cols({place_code(places, width), place_code(sizes, width)});
}

}  // namespace

DetectorQueries queries_of(const DenseHead& dense, const DenseOutput& out, const CellRows& cells) {
    DetectorQueries q;
    without_gradient([&] {
        std::vector<std::int64_t> lengths;
        for (std::vector<ScoredBox>& boxes : dense.scored(out, cells, 0.0f)) {
            const auto chosen =
                surest_boxes(std::move(boxes), same_box,
                             static_cast<std::size_t>(dense.config.num_queries), true);
            lengths.push_back(static_cast<std::int64_t>(chosen.size()));
            for (const ScoredBox& box : chosen) {
                q.rows.push_back(box.row);
                q.boxes.push_back(box.box);
            }
        }
        const auto& names = cells.rows.row_names();
        std::vector<std::uint64_t> samples;
        if (names) samples.assign(names->samples().begin(), names->samples().end());
        q.segments = Segments::of_lengths(lengths, std::move(samples));
    });
    return q;
}

DetectorDecoderLayer::DetectorDecoderLayer(const DetectorConfig& c, const Params& p)
    : norm1(c.d_model, p / "norm1"),
      norm2(c.d_model, p / "norm2"),
      norm3(c.d_model, p / "norm3"),
      self_attention(c.d_model, c.num_heads, p / "self_attn", static_cast<float>(c.dropout)),
      cross_attention(c.d_model, c.num_heads, p / "encoder_attn", static_cast<float>(c.dropout)),
      fc1(c.d_model, c.ffn_dim, p / "fc1"),
      fc2(c.ffn_dim, c.d_model, p / "fc2"),
      dropout(static_cast<float>(c.dropout)) {}

Tensor DetectorDecoderLayer::operator()(const Tensor& q, const Tensor& place, const CellRows& cells,
                                        const Sights& sees) const {
    const Tensor n = norm1(q), own = n + place;
    const MultiHeadAttention &self = self_attention, &cross = cross_attention;
    const Tensor h =
        add_dropout(q, self.attend(own, self.k_proj(own), self.v_proj(n), sees.queries), dropout);
    const Tensor k = cross.k_proj(cells.rows + cells.code), v = cross.v_proj(cells.rows);
    const Tensor seen = add_dropout(h, cross.attend(norm2(h) + place, k, v, sees.cells), dropout);
    return add_dropout(seen, feed_forward(norm3(seen), fc1, fc2, Act::gelu), dropout);
}

DetectorDecoder::DetectorDecoder(const DetectorConfig& c, int labels, const Params& p)
    : config(c),
      content(c.d_model, c.d_model, p / "content"),
      place(2 * c.d_model, c.d_model, p / "place"),
      norm(c.d_model, p / "norm"),
      class_weight((p / "classes").get("weight", {labels, c.d_model}, normal(0.01f))),
      class_bias((p / "classes").get("bias", {labels}, constant(first_score_logit))),
      box_weight((p / "boxes").get("weight", {4, c.d_model}, normal(0.001f))),
      box_bias((p / "boxes").get("bias", {4}, zeros())) {
    for (int i = 0; i < c.decoder_layers; ++i) layers.emplace_back(c, p / "layers" / i);
}

//   centre = c + s tanh(o) / 2,  size = s (2 σ(o'))²,  (c, s) the box that the query came with
SetPredictions DetectorDecoder::said(const Tensor& q, const DetectorQueries& queries) const {
    const Tensor x = norm(q), o = linear(x, box_weight, box_bias);
    const Tensor half = sigmoid(slice_cols(o, 2, 4));
    Tensor units({x.rows(), 4}), starts({x.rows(), 4});
    float *unit = units.write(), *start = starts.write();
    for (const ShareBox& b : queries.boxes) {
        const float scale[] = {b[2] / 2, b[3] / 2, 4 * b[2], 4 * b[3]};
        const float at[] = {b[0], b[1], least_share, least_share};
        unit = std::copy_n(scale, 4, unit);
        start = std::copy_n(at, 4, start);
    }
    return {linear(x, class_weight, class_bias),
            mul(concat_cols({tanh(slice_cols(o, 0, 2)), mul(half, half)}), units) + starts};
}

std::vector<SetPredictions> DetectorDecoder::operator()(const CellRows& cells,
                                                        const DetectorQueries& queries) const {
    Tensor q = content(gather_rows(cells.rows, queries.rows));
    q.set_row_names(queries.segments);
    const Tensor where = place(query_code(queries, cells, config.d_model));
    const Visibility each_other = everything(queries.segments, queries.segments);
    const Visibility all = everything(queries.segments, grid_segments(cells.grid, cells.rows));
    std::vector<SetPredictions> outputs;
    for (const DetectorDecoderLayer& layer : layers) {
        q = layer(q, where, cells, {each_other, all});
        outputs.push_back(said(q, queries));
    }
    return outputs;
}

Tensor DetectorDecoder::loss(const CellRows& cells, const DetectorQueries& queries,
                             std::span<const PictureThings> things) const {
    const std::vector<SetPredictions> outputs = (*this)(cells, queries);
    return (1.0f / static_cast<float>(outputs.size())) *
           set_loss(outputs, queries.segments, things, decoder_loss());
}

std::vector<std::vector<ScoredBox>> DetectorDecoder::scored(const CellRows& cells,
                                                            const DetectorQueries& queries,
                                                            float least) const {
    const SetPredictions last = (*this)(cells, queries).back();
    const Tensor scores = sigmoid(last.logits);
    std::vector<std::vector<ScoredBox>> pictures;
    for (std::int64_t i = 0; i < queries.segments.count(); ++i) {
        std::vector<ScoredBox>& found = pictures.emplace_back();
        for (std::int64_t row = queries.segments.begin(i); row < queries.segments.end(i); ++row)
            for (std::int64_t label = 0; label < scores.cols(); ++label) {
                ScoredBox box;
                std::copy_n(last.boxes.data() + 4 * row, 4, box.box.begin());
                box.score = scores.data()[row * scores.cols() + label];
                box.label = static_cast<int>(label);
                box.row = static_cast<std::int32_t>(row - queries.segments.begin(i));
                if (box.score >= least) found.push_back(box);
            }
    }
    return pictures;
}

std::vector<FoundThing> found_things(const std::vector<ScoredBox>& boxes, bool of_queries) {
    std::vector<FoundThing> found;
    for (const ScoredBox& b : boxes)
        found.push_back({b.box, b.label, b.score, of_queries ? b.row : -1});
    return found;
}

}  // namespace fovea
