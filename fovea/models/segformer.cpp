#include "fovea/models/segformer.h"

#include <algorithm>

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/drop_path.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/resize.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

int of_stage(const std::vector<int>& v, int stage) { return v[static_cast<std::size_t>(stage)]; }

Init linear_start(const SegformerConfig& c) {
    return normal(static_cast<float>(c.initializer_range));
}

int ffn_width(const SegformerConfig& c, int stage) {
    return of_stage(c.hidden_sizes, stage) * of_stage(c.mlp_ratios, stage);
}

// Layer i of n is left out with probability rate · i / (n − 1) (Huang et al. 2016, linear decay).
float path_dropout_of(const SegformerConfig& c, int layer) {
    return static_cast<float>(c.drop_path_rate * layer / std::max(c.layers() - 1, 1));
}

Conv2d::Sizes patch_sizes_of(const SegformerConfig& c, int stage) {
    return {.in = stage == 0 ? c.num_channels : of_stage(c.hidden_sizes, stage - 1),
            .out = of_stage(c.hidden_sizes, stage),
            .kernel = of_stage(c.patch_sizes, stage),
            .stride = of_stage(c.strides, stage),
            .padding = of_stage(c.patch_sizes, stage) / 2};
}

// A 1 x 1 convolution [out, in, 1, 1] is a linear layer over rows.
Tensor conv_matrix(const Tensor& w) { return w.reshaped({w.shape()[0], w.shape()[1]}); }

}  // namespace

SegformerAttention::SegformerAttention(const SegformerConfig& c, int stage, const Params& p)
    : query(of_stage(c.hidden_sizes, stage), of_stage(c.hidden_sizes, stage), p / "self" / "query",
            linear_start(c)),
      key(of_stage(c.hidden_sizes, stage), of_stage(c.hidden_sizes, stage), p / "self" / "key",
          linear_start(c)),
      value(of_stage(c.hidden_sizes, stage), of_stage(c.hidden_sizes, stage), p / "self" / "value",
            linear_start(c)),
      output(of_stage(c.hidden_sizes, stage), of_stage(c.hidden_sizes, stage),
             p / "output" / "dense", linear_start(c)),
      heads(of_stage(c.num_attention_heads, stage)),
      dropout(static_cast<float>(c.attention_probs_dropout_prob)),
      name(p.path()) {
    const int d = of_stage(c.hidden_sizes, stage), r = of_stage(c.sr_ratios, stage);
    if (r == 1) return;
    reduction.emplace_back(Conv2d::Sizes{.in = d, .out = d, .kernel = r, .stride = r},
                           p / "self" / "sr");
    reduced_norm.emplace_back(d, p / "self" / "layer_norm");
}

Tensor SegformerAttention::operator()(const Tensor& x, const Grid& grid) const {
    Tensor memory = x;
    Grid seen = grid;
    if (!reduction.empty()) {
        memory = reduced_norm[0](reduction[0](x, grid));
        seen = reduction[0].grid(grid);
    }
    const Visibility sees = everything(grid_segments(grid), grid_segments(seen));
    return output(attention(query(x), key(memory), value(memory), heads, sees,
                            {.dropout = dropout, .name = name}));
}

SegformerMixFfn::SegformerMixFfn(const SegformerConfig& c, int stage, const Params& p)
    : dense1(of_stage(c.hidden_sizes, stage), ffn_width(c, stage), p / "dense1", linear_start(c)),
      dense2(ffn_width(c, stage), of_stage(c.hidden_sizes, stage), p / "dense2", linear_start(c)),
      kernels(
          (p / "dwconv" / "dwconv").get("weight", {ffn_width(c, stage), 1, 3, 3}, he_fan_out())),
      bias((p / "dwconv" / "dwconv").get("bias", {ffn_width(c, stage)}, zeros())),
      act(c.hidden_act),
      dropout(static_cast<float>(c.hidden_dropout_prob)) {}

Tensor SegformerMixFfn::operator()(const Tensor& x, const Grid& grid) const {
    const Tensor h = activate(depthwise_conv2d(dense1(x), grid, kernels, bias), act);
    return fovea::dropout(dense2(fovea::dropout(h, dropout)), dropout);
}

SegformerLayer::SegformerLayer(const SegformerConfig& c, int stage, float path, const Params& p)
    : norm1(of_stage(c.hidden_sizes, stage), p / "layer_norm_1"),
      norm2(of_stage(c.hidden_sizes, stage), p / "layer_norm_2"),
      attention(c, stage, p / "attention"),
      ffn(c, stage, p / "mlp"),
      dropout(static_cast<float>(c.hidden_dropout_prob)),
      path_dropout(path) {}

Tensor SegformerLayer::operator()(const Tensor& x, const Grid& grid) const {
    const Tensor h =
        x + drop_path(fovea::dropout(attention(norm1(x), grid), dropout), path_dropout);
    return h + drop_path(ffn(norm2(h), grid), path_dropout);
}

SegformerStage::SegformerStage(const SegformerConfig& c, int stage, const Params& encoder)
    : patches(patch_sizes_of(c, stage), encoder / "patch_embeddings" / stage / "proj"),
      patch_norm(of_stage(c.hidden_sizes, stage),
                 encoder / "patch_embeddings" / stage / "layer_norm"),
      norm(of_stage(c.hidden_sizes, stage), encoder / "layer_norm" / stage) {
    int before = 0;
    for (int s = 0; s < stage; ++s) before += of_stage(c.depths, s);
    for (int i = 0; i < of_stage(c.depths, stage); ++i)
        layers.emplace_back(c, stage, path_dropout_of(c, before + i),
                            encoder / "block" / stage / i);
}

FeatureMap SegformerStage::operator()(const FeatureMap& x) const {
    const Grid grid = patches.grid(x.grid);
    Tensor h = patch_norm(patches(x.rows, x.grid));
    for (const SegformerLayer& layer : layers) h = layer(h, grid);
    return {norm(h), grid};
}

SegformerDecoder::SegformerDecoder(const SegformerConfig& c, const Params& p)
    : fuse((p / "linear_fuse")
               .get("weight", {c.decoder_hidden_size, c.stages() * c.decoder_hidden_size, 1, 1},
                    he_fan_out())),
      norm(c.decoder_hidden_size, p / "batch_norm"),
      classes((p / "classifier")
                  .get("weight", {static_cast<int>(c.labels.size()), c.decoder_hidden_size, 1, 1},
                       linear_start(c))),
      class_bias((p / "classifier").get("bias", {static_cast<int>(c.labels.size())}, zeros())),
      dropout(static_cast<float>(c.classifier_dropout_prob)) {
    for (int s = 0; s < c.stages(); ++s)
        projections.emplace_back(of_stage(c.hidden_sizes, s), c.decoder_hidden_size,
                                 p / "linear_c" / s / "proj", linear_start(c));
}

//   h = Σ_s enlarged(F_s (P_s x_s + b_s)),  F_s the columns of the fusing matrix for stage s
// The paper enlarges before it fuses; both are linear in the rows, and fusing first is done at each
// stage's own size.
FeatureMap SegformerDecoder::operator()(const std::vector<FeatureMap>& stages) const {
    const Grid grid = stages[0].grid;
    const Tensor matrix = conv_matrix(fuse);
    const std::int64_t d = matrix.rows();
    Tensor h;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        const auto place = static_cast<std::int64_t>(stages.size() - 1 - s);
        const Tensor part = linear(projections[s](stages[s].rows),
                                   slice_cols(matrix, place * d, (place + 1) * d), {});
        const Tensor large = resize_bilinear(part, stages[s].grid, grid.height, grid.width);
        h = h.empty() ? large : h + large;
    }
    const Tensor seen = fovea::dropout(relu(norm(h)), dropout);
    return {linear(seen, conv_matrix(classes), class_bias), grid};
}

Segformer::Segformer(const SegformerConfig& c, const Params& p)
    : config(c), decoder(c, p / "decode_head") {
    for (int s = 0; s < c.stages(); ++s) stages.emplace_back(c, s, p / "segformer" / "encoder");
}

FeatureMap Segformer::operator()(const Tensor& pixels, const Grid& grid) const {
    expect(grid.height >= config.smallest_side() && grid.width >= config.smallest_side(),
           "segformer: pictures are ", grid.height, " x ", grid.width, " but must be ",
           config.smallest_side(), " pixels each way or more");
    std::vector<FeatureMap> maps;
    FeatureMap x{pixels, grid};
    for (const SegformerStage& stage : stages) {
        x = stage(x);
        maps.push_back(x);
    }
    return decoder(maps);
}

Tensor Segformer::enlarged(const FeatureMap& logits, std::int64_t height,
                           std::int64_t width) const {
    return resize_bilinear(logits.rows, logits.grid, height, width);
}

Tensor Segformer::loss(const FeatureMap& logits, const Grid& labelled, const Ids& labels) const {
    return cross_entropy(enlarged(logits, labelled.height, labelled.width), labels,
                         {.ignore = config.semantic_loss_ignore_index});
}

std::vector<NameRule> Segformer::rules() {
    return {{.on_disk = "decode_head.batch_norm.num_batches_tracked"}};  // counts calls; unused
}

}  // namespace fovea
