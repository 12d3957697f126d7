#pragma once
// Models of pictures with drawn weights and pixels, reading and learning as the tasks do it: speed
// does not depend on values.
#include "fovea/models/picture_model.h"
#include "fovea/models/segformer.h"
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
