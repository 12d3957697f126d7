#pragma once
// For tests: checkpoints that differ by their step, and their comparison.
#include <cstring>

#include "fovea/base/disk.h"
#include "fovea/base/rng.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/io/test_folder.h"

namespace fovea {

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
    Rng rng(seed);
    Tensor t(shape);
    float* to = t.write();
    for (std::int64_t i = 0; i < t.size(); ++i) to[i] = static_cast<float>(rng.normal());
    return t;
}

inline Checkpoint small_checkpoint(std::int64_t step) {
    const auto seed = static_cast<std::uint64_t>(step) * 100;
    Checkpoint c;
    c.model = {TensorToWrite::of("a.weight", random_tensor({7, 5}, seed)),
               TensorToWrite::of("a.bias", random_tensor({7}, seed + 1))};
    c.optimizer = {TensorToWrite::of("m.a.weight", random_tensor({7, 5}, seed + 2)),
                   TensorToWrite::of("v.a.weight", random_tensor({7, 5}, seed + 3)),
                   TensorToWrite::of("steps", {step})};
    c.step = step;
    c.run = "a run";
    c.state = text_of("{\"step\": ", step, "}\n");
    c.texts = {{"config.json", "{}"}};
    return c;
}

inline Checkpoint sized_checkpoint(std::int64_t step, std::int64_t bytes) {
    Checkpoint c = small_checkpoint(step);
    c.model.push_back(TensorToWrite::of("big", Tensor::full({bytes / 4}, 1.5f)));
    return c;
}

inline void expect_same_tensors(const TensorFile& file, const std::vector<TensorToWrite>& wanted) {
    ASSERT_EQ(file.tensors().size(), wanted.size());
    for (const TensorToWrite& t : wanted) {
        const std::string bytes = file.read_bytes(file.at(t.name));
        EXPECT_EQ(file.at(t.name).shape, t.shape);
        if (t.values.empty())
            EXPECT_EQ(bytes, t.bytes);
        else
            EXPECT_EQ(std::memcmp(bytes.data(), t.values.data(), bytes.size()), 0) << t.name;
    }
}

}  // namespace fovea
