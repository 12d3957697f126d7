#include "fovea/data/pixel_scaling.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

PixelScaling scaling_of(const char* json, int channels = 3) {
    return PixelScaling::of(Json::parse(json), "p.json", channels);
}

TEST(PixelScaling, RowsAndPlanesHoldTheSameNumbers) {
    const PixelScaling s =
        scaling_of(R"({"image_mean": [0.5, 0.25, 0], "image_std": [0.5, 1, 2]})");
    const Picture p{1, 2, 3, {0, 51, 255, 255, 102, 0}};
    float rows[6], planes[6];
    s.put_rows(p, rows);
    s.put_planes(p, planes);
    const float want[] = {-1, 0.2f - 0.25f, 0.5f, 1, 0.4f - 0.25f, 0};
    for (int i = 0; i < 6; ++i) {
        EXPECT_FLOAT_EQ(rows[i], want[i]) << i;
        EXPECT_EQ(rows[i], planes[i % 3 * 2 + i / 3]) << i;
    }
}

TEST(PixelScaling, WhatAFolderSwitchesOffIsOff) {
    EXPECT_EQ(scaling_of("{}").mean[0], 0.485);
    EXPECT_EQ(scaling_of("null").deviation[2], 0.225);  // a folder without the file
    EXPECT_EQ(scaling_of("{}", 1).mean.size(), 1u);
    EXPECT_EQ(scaling_of(R"({"do_rescale": false})").rescale, 1);
    EXPECT_EQ(scaling_of(R"({"rescale_factor": 0.5})").rescale, 0.5);
    const PixelScaling plain = scaling_of(R"({"do_normalize": false, "image_mean": [9, 9, 9]})");
    EXPECT_EQ(plain.mean, (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(plain.deviation, (std::vector<double>{1, 1, 1}));
    Json written;
    plain.put(written);
    EXPECT_EQ(PixelScaling::of(written, "again", 3).mean, plain.mean);
}

TEST(PixelScaling, BadNumbersAreRefused) {
    const std::pair<const char*, const char*> table[] = {
        {R"({"image_mean": [0.5, "x", 1]})", "image_mean"},
        {R"({"image_std": [0.5, 0, 1]})", "image_std"},
        {R"({"image_std": 3})", "image_std"},
        {R"({"image_mean": [0.5], "image_std": [0.5]})", "takes 3 channels"},
        {R"({"rescale_factor": 0})", "rescale_factor"},
    };
    for (const auto& [text, words] : table) try {
            scaling_of(text);
            ADD_FAILURE() << text << " was taken";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_EQ(std::string(e.what()).rfind("p.json", 0), 0u) << e.what();
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
        }
}

}  // namespace
}  // namespace fovea
