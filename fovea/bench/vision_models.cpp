#include "fovea/bench/vision_models.h"

#include "fovea/autograd/tape.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea::bench {
namespace {

Tensor random_values(const Shape& shape, Rng& rng) {
    Tensor t(shape);
    for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] = static_cast<float>(rng.normal());
    return t;
}

PictureModel made_vit(const VitShape& s, ParameterStore& store) {
    const PictureModelEntry& vit = *find_picture_model("vit");
    const Json config = vit.new_config({.layers = s.layers,
                                        .width = s.width,
                                        .heads = s.heads,
                                        .ffn = s.ffn,
                                        .height = s.size,
                                        .image_width = s.size,
                                        .patch = s.patch,
                                        .channels = s.channels});
    Rng rng(1, 0x62656e63);
    return vit.make(config, "config", s.classes, Params(store, rng));
}

Segformer made_segformer(ParameterStore& store) {
    SegformerConfig config;
    for (int i = 0; i < 150; ++i) config.labels.push_back(std::to_string(i));
    Rng rng(1, 0x62656e63);
    return {config, Params(store, rng)};
}

Ids some_labels(std::int64_t count, int classes) {
    Ids labels;
    for (std::int64_t i = 0; i < count; ++i)
        labels.push_back(static_cast<std::int32_t>(i % classes));
    return labels;
}

void step(AdamW& adam, const Gradients& gradients) {
    const double norm = adam.gradient_norm(gradients);
    adam.step(gradients, 1e-5, norm > 1.0 ? static_cast<float>(1.0 / norm) : 1.0f);
}

}  // namespace

RandomVit::RandomVit(const VitShape& s, int pictures)
    : model_(made_vit(s, store_)),
      labels_(some_labels(pictures, s.classes)),
      adam_(store_, {}),
      masks_(1, 0x64726f70) {
    Rng rng(1, 0x70697865);
    batch_.pixels = random_values({pictures, s.channels, s.size, s.size}, rng);
}

void RandomVit::read() const { model_.classes(model_.rows(batch_)); }

void RandomVit::update() {
    Tape tape(masks_);
    const Tensor loss = cross_entropy(model_.classes(model_.rows(batch_)), labels_);
    step(adam_, tape.gradients(loss));
}

RandomSegformer::RandomSegformer(int size, int pictures)
    : model_(made_segformer(store_)),
      grid_{pictures, size, size},
      labels_(some_labels(grid_.rows(), 150)),
      adam_(store_, {}),
      masks_(1, 0x64726f70) {
    Rng rng(1, 0x70697865);
    pixels_ = random_values({grid_.rows(), 3}, rng);
    std::vector<std::uint64_t> names;
    for (int p = 0; p < pictures; ++p) names.push_back(static_cast<std::uint64_t>(p));
    const std::vector<std::int64_t> areas(names.size(), grid_.area());
    pixels_.set_row_names(Segments::of_lengths(areas, std::move(names)));
}

void RandomSegformer::read() const { model_(pixels_, grid_); }

void RandomSegformer::update() {
    Tape tape(masks_);
    const Tensor loss = model_.loss(model_(pixels_, grid_), grid_, labels_);
    step(adam_, tape.gradients(loss));
}

std::string ConvShape::text() const {
    return text_of(kernel, "x", kernel, stride > 1 ? text_of("/", stride) : std::string(), " ", in,
                   ">", out, " of ", size, "x", size);
}

RandomConvolution::RandomConvolution(const ConvShape& s, int pictures)
    : grid_{pictures, s.size, s.size}, options_{.stride = s.stride, .padding = s.kernel / 2} {
    Rng rng(1, 0x636f6e76);
    const std::int64_t made = std::int64_t{pictures} * s.made() * s.made(),
                       window = std::int64_t{s.in} * s.kernel * s.kernel;
    pixels_ = random_values({grid_.rows(), s.in}, rng);
    weight_ = random_values({s.out, s.in, s.kernel, s.kernel}, rng);
    bias_ = random_values({s.out}, rng);
    windows_ = random_values({made, window}, rng);
    matrix_ = random_values({s.out, window}, rng);
    dy_ = random_values({made, s.out}, rng);
    weight_.set_trainable(true);
    bias_.set_trainable(true);
}

void RandomConvolution::read() const {
    const Suspend no_tape;
    conv2d(pixels_, grid_, weight_, bias_, options_);
}

void RandomConvolution::differentiate() {
    Tape tape;
    const Tensor x = tape.watch(pixels_);
    const Tensor y = conv2d(x, grid_, weight_, bias_, options_);
    tape.gradients(y, dy_);
}

void RandomConvolution::product() const { linear(windows_, matrix_); }

}  // namespace fovea::bench
