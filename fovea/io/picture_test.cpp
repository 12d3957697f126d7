#include "fovea/io/picture.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "fovea/base/json.h"
#include "fovea/io/idx.h"
#include "fovea/io/jpeg.h"
#include "fovea/io/png.h"
#include "fovea/io/resize.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

const std::string golden_folder = std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/pictures/";

const Json& golden() {
    static const Json json = read_json(golden_folder + "golden.json");
    return json;
}

std::uint32_t crc_of(const Picture& p) {
    return static_cast<std::uint32_t>(
        crc32(0, p.pixels.data(), static_cast<unsigned>(p.pixels.size())));
}

// As made() of tools/make_goldens_vision.py.
Picture slope_with_noise(std::uint32_t height, std::uint32_t width, std::uint32_t channels) {
    Picture p{height, width, channels, {}};
    for (std::uint64_t i = 0; i < std::uint64_t{height} * width * channels; ++i) {
        const std::uint64_t noise = (i * 2654435761u + 12345) % (std::uint64_t{1} << 32) >> 24;
        p.pixels.push_back(static_cast<std::uint8_t>((i * 7 / channels % 256 + noise) / 2));
    }
    return p;
}

TEST(Picture, FilesOfEveryKindAreReadAsPillowDoes) {
    ASSERT_GE(golden()["files"].size(), 20u);
    for (const Json& file : golden()["files"]) {
        const std::string name = file["name"], path = golden_folder + name;
        SCOPED_TRACE(name);
        const Picture colours = read_picture(path), grey = read_picture(path, {.channels = 1});
        EXPECT_EQ(colours.channels, 3u);
        EXPECT_EQ(colours.height, file["size"][0].get<std::uint32_t>());
        EXPECT_EQ(colours.width, file["size"][1].get<std::uint32_t>());
        EXPECT_EQ(crc_of(colours), file["crc3"].get<std::uint32_t>());
        EXPECT_EQ(grey.channels, 1u);
        EXPECT_EQ(crc_of(grey), file["crc1"].get<std::uint32_t>());
        if (file.contains("indices")) {
            const Picture numbers = read_picture(path, {.indices = true});
            EXPECT_EQ(numbers.channels, 1u);
            EXPECT_EQ(crc_of(numbers), file["indices"].get<std::uint32_t>());
        }
    }
}

TEST(Picture, ResizesAsPillowDoes) {
    ASSERT_GE(golden()["resizes"].size(), 200u);
    for (const Json& c : golden()["resizes"]) {
        SCOPED_TRACE(c.dump());
        const Picture to =
            resize(slope_with_noise(c["from"][0], c["from"][1], c["from"][2]), c["to"][0],
                   c["to"][1], static_cast<Resample>(c["filter"].get<int>()));
        EXPECT_EQ(crc_of(to), c["crc"].get<std::uint32_t>());
        if (c.contains("pixels")) {
            EXPECT_EQ(to.pixels, c["pixels"].get<std::vector<std::uint8_t>>());
        }
    }
}

TEST(Picture, KeepsTheFilesOwnChannelsWhenAsked) {
    const struct {
        const char* name;
        std::uint32_t channels;
    } table[] = {{"grey.png", 1}, {"la.png", 2},    {"rgb.png", 3},         {"rgba.png", 4},
                 {"grey.jpg", 1}, {"rgb16.png", 3}, {"transparent.png", 4}, {"bits1.png", 1}};
    for (const auto& row : table)
        EXPECT_EQ(read_picture(golden_folder + row.name, {.channels = 0}).channels, row.channels)
            << row.name;
}

TEST(Picture, WhatIsWrittenIsReadAgain) {
    const TestFolder folder;
    for (std::uint32_t channels = 1; channels <= 4; ++channels) {
        const Picture p = slope_with_noise(7, 5, channels);
        write_png(folder / "p.png", p);
        EXPECT_EQ(read_picture(folder / "p.png", {.channels = 0}), p);
    }
    EXPECT_THROW(write_png(folder / "p.png", {2, 2, 5, std::vector<std::uint8_t>(20)}), Error);
    EXPECT_THROW(write_png(folder / "p.png", {2, 2, 3, {1, 2, 3}}), Error);
}

TEST(Picture, OtherFormatsAreRefusedByName) {
    using namespace std::string_view_literals;
    const std::pair<std::string_view, const char*> table[] = {
        {"RIFF\x10\0\0\0WEBPVP8 "sv, "WebP"},
        {"II*\0\x08\0\0\0"sv, "TIFF"},
        {"MM\0*\0\0\0\x08"sv, "TIFF"},
        {"GIF89a\1\0\1\0"sv, "GIF"},
        {"BM\x46\0\0\0"sv, "BMP"},
        {"\0\0\0\x18"
         "ftypavif\0\0"sv,
         "AVIF"},
        {"\0\0\0\x18"
         "ftypheic\0\0"sv,
         "HEIC"},
        {"P6\n2 2\n255\n"sv, "PPM"},
        {"%PDF-1.7"sv, "PDF"},
        {""sv, "is empty"},
        {"hello"sv, "is not a picture"},
    };
    for (const auto& [bytes, words] : table) {
        try {
            decode_picture(bytes, "odd.file");
            ADD_FAILURE() << words;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
    }
    EXPECT_THROW(read_picture("/there/is/none.png"), Error);
    EXPECT_TRUE(has_picture_name("a/b.JPEG"));
    EXPECT_TRUE(has_picture_name("x.webp"));
    EXPECT_FALSE(has_picture_name("x.txt"));
    EXPECT_FALSE(has_picture_name("png"));
}

TEST(Picture, CropReachesBeyondThePicture) {
    const Picture p{2, 2, 1, {1, 2, 3, 4}};
    EXPECT_EQ(crop(p, {.top = 0, .left = 1, .height = 2, .width = 1}).pixels,
              (std::vector<std::uint8_t>{2, 4}));
    EXPECT_EQ(crop(p, {.top = -1, .left = -1, .height = 2, .width = 4}, 9).pixels,
              (std::vector<std::uint8_t>{9, 9, 9, 9, 9, 1, 2, 9}));
    EXPECT_EQ(crop(p, {.top = 5, .left = 5, .height = 1, .width = 1}, 7).pixels,
              (std::vector<std::uint8_t>{7}));
}

TEST(Picture, DamagedExifLeavesThePictureAsItIs) {
    using namespace std::string_view_literals;
    EXPECT_EQ(exif_orientation("Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"sv), 6);
    EXPECT_EQ(exif_orientation("Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\3\0\0"sv), 3);
    for (const std::string_view bad :
         {""sv, "Exif"sv, "Exif\0\0"sv, "Exif\0\0II*\0"sv, "Exif\0\0II*\0\xFF\xFF\xFF\xFF"sv,
          "Exif\0\0II*\0\x08\0\0\0\xFF\xFF\x12\1"sv,
          "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\x09\0\0\0"sv,
          "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\4\0\1\0\0\0\6\0\0\0"sv})
        EXPECT_EQ(exif_orientation(bad), 1);
}

TEST(Idx, PicturesAndLabelsComeBack) {
    const TestFolder folder;
    const IdxFile pictures{{2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    write_idx(folder / "images", pictures);
    EXPECT_TRUE(is_idx(folder / "images"));
    const IdxFile read = read_idx(folder / "images");
    EXPECT_TRUE(read.holds_pictures());
    EXPECT_EQ(read.picture(1), (Picture{2, 3, 1, {7, 8, 9, 10, 11, 12}}));
    const std::string bytes = read_file(folder / "images");
    const gzFile zipped = gzopen((folder / "images.gz").c_str(), "wb");
    gzwrite(zipped, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(zipped);
    EXPECT_TRUE(is_idx(folder / "images.gz"));
    EXPECT_EQ(read_idx(folder / "images.gz").bytes, pictures.bytes);
}

TEST(Idx, BadFilesAreRefused) {
    using namespace std::string_view_literals;
    const TestFolder folder;
    const std::pair<std::string_view, const char*> table[] = {
        {""sv, "does not begin"},
        {"\0\0\x08"sv, "does not begin"},
        {"\1\0\x08\1\0\0\0\1x"sv, "does not begin"},
        {"\0\0\x0D\1\0\0\0\1x"sv, "kind 13"},
        {"\0\0\x08\0"sv, "0 dimensions"},
        {"\0\0\x08\x05"sv, "5 dimensions"},
        {"\0\0\x08\1\0\0"sv, "within its header"},
        {"\0\0\x08\1\0\0\0\0"sv, "size 0"},
        {"\0\0\x08\2\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv, "two gigabytes"},
        {"\0\0\x08\3\0\0\0\1\0\0\x40\0\0\0\0\1"sv, "at most 8192"},
        {"\0\0\x08\4\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\x09"sv, "9 channels"},
        {"\0\0\x08\1\x70\0\0\0abc"sv, "ends after 3"},
        {"\0\0\x08\1\0\0\0\2abc"sv, "goes on"},
    };
    for (const auto& [bytes, words] : table) {
        put_file(folder / "bad", bytes);
        const std::string said = complaint([&] { read_idx(folder / "bad"); });
        EXPECT_NE(said.find(words), std::string::npos) << said << " / " << words;
    }
    EXPECT_FALSE(is_idx(folder / "none"));
    EXPECT_FALSE(is_idx(folder.path()));
}

}  // namespace
}  // namespace fovea
