#pragma once
// Models of pictures with drawn weights and pixels, reading and learning as the tasks do it: speed
// does not depend on values.
#include "fovea/models/picture_model.h"
#include "fovea/models/segformer.h"
#include "fovea/ops/conv2d.h"
#include "fovea/train/adamw.h"

namespace fovea::bench {

struct VitShape {
    const char* name;
    int layers, width, heads, ffn, size, patch, channels, classes;
};
inline constexpr VitShape vit_base{"vit-b/16", 12, 768, 12, 3072, 224, 16, 3, 1000};
inline constexpr VitShape vit_tiny{"vit-ti/16", 12, 192, 3, 768, 224, 16, 3, 1000};
// recipes/fashion-mnist-vit.toml
inline constexpr VitShape vit_fashion{"vit fashion", 6, 64, 4, 256, 28, 4, 1, 10};

class RandomVit {
public:
    RandomVit(const VitShape& shape, int pictures);
    void read() const;
    void update();

private:
    ParameterStore store_;
    PictureModel model_;
    PictureBatch batch_;
    Ids labels_;
    AdamW adam_;
    Rng masks_;
};

// Pictures of size x size pixels to twos as large as a padding of kernel / 2 and the stride make
// them: convolutions of ResNet-50, and the stems of ResNet and SegFormer.
struct ConvShape {
    int in, out, kernel, stride, size;

    int made() const { return (size + 2 * (kernel / 2) - kernel) / stride + 1; }
    std::string text() const;           // "3x3 64>64 of 56x56"
    double flops(int pictures) const {  // of the product
        return 2.0 * pictures * made() * made() * in * kernel * kernel * out;
    }
};
inline constexpr ConvShape conv_shapes[] = {{64, 64, 3, 1, 56},   {128, 128, 3, 1, 28},
                                            {256, 256, 3, 1, 14}, {512, 512, 3, 1, 7},
                                            {3, 64, 7, 2, 224},   {3, 32, 7, 4, 256}};

class RandomConvolution {
public:
    RandomConvolution(const ConvShape& shape, int pictures);
    void read() const;
    void differentiate();  // forward, and the gradients of pictures and weights
    void product() const;  // of as many windows, which lie there already

private:
    Tensor pixels_, weight_, bias_, windows_, matrix_, dy_;
    Grid grid_;
    Conv2dOptions options_;
};

class RandomSegformer {
public:
    RandomSegformer(int size, int pictures);
    void read() const;
    void update();

private:
    ParameterStore store_;
    Segformer model_;
    Tensor pixels_;
    Grid grid_;
    Ids labels_;
    AdamW adam_;
    Rng masks_;
};

}  // namespace fovea::bench
