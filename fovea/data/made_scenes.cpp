#include "fovea/data/made_scenes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/data/pictures.h"
#include "fovea/io/png.h"
#include "fovea/io/resize.h"

namespace fovea {
namespace {

constexpr std::uint32_t drawn_scenes = 0x7363656e;
constexpr double usual_canvas = 96;  // pixels, to which scales refer
constexpr int transparent = 12;      // grey levels up to it are the ground of a picture

void expect_scene_sizes(const MadeScenes& o) {
    expect(o.size >= 16 && o.size <= 4096, "scenes: canvases of ", o.size,
           " pixels but 16 to 4096 are known");
    expect(o.fewest >= 1 && o.fewest <= o.most && o.most <= 100, "scenes: ", o.fewest, " to ",
           o.most, " pictures on a canvas");
    expect(o.least > 0 && o.least <= o.largest && o.largest <= 64, "scenes: scales from ", o.least,
           " to ", o.largest);
    if (o.pictures.empty())
        fail_with(ErrorKind::usage,
                  "--pictures train-images-idx3-ubyte.gz, or a folder of pictures for each label; "
                  "Fashion-MNIST's are in Debian's dataset-fashion-mnist; fovea data make shapes "
                  "needs none",
                  "data make scenes: wants --pictures, which are set on a canvas");
}

}  // namespace

SceneMaker::SceneMaker(const MadeScenes& options) : options_(options) {
    expect_scene_sizes(options_);
    const std::vector<LabelledText> records = read_labelled_pictures({.paths = {options.pictures}});
    std::map<std::string, std::uint8_t> numbers;
    for (const LabelledText& r : records) numbers[r.labels.at(0)] = 0;
    expect_input(numbers.size() <= 60, options.pictures, ": ", numbers.size(),
                 " labels, but masks have at most 60");
    for (auto& [label, value] : numbers) {
        labels_.push_back(label);
        value = static_cast<std::uint8_t>(labels_.size());
    }
    const PictureReader reader;
    for (const LabelledText& r : records) {
        pictures_.push_back(reader.read(std::span(r.texts).first(1), 1));
        values_.push_back(numbers.at(r.labels.at(0)));
    }
}

ShapesPicture SceneMaker::scene(std::int64_t i) const {
    const MadeScenes& o = options_;
    Rng rng(o.seed, drawn_scenes);
    rng.seek(static_cast<std::uint64_t>(i) << 32);
    ShapesPicture made{blank_picture(o.size, o.size, 1, "scenes"),
                       blank_picture(o.size, o.size, 1, "scenes")};
    const std::int64_t ground = rng.below(80);
    for (std::uint8_t& v : made.picture.pixels)
        v = static_cast<std::uint8_t>(ground + rng.below(24));
    for (std::int64_t n = o.fewest + rng.below(o.most - o.fewest + 1); n > 0; --n) {
        const auto which =
            static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(pictures_.size())));
        const double scale = rng.uniform(o.least, o.largest) * o.size / usual_canvas;
        const auto side = [&](std::uint32_t own) {
            return std::clamp(static_cast<std::uint32_t>(std::lround(scale * own)), 1u, o.size);
        };
        const Picture p =
            resize(pictures_[which], side(pictures_[which].height), side(pictures_[which].width));
        const auto top = static_cast<std::uint32_t>(rng.below(o.size - p.height + 1)),
                   left = static_cast<std::uint32_t>(rng.below(o.size - p.width + 1));
        for (std::uint32_t y = 0; y < p.height; ++y)
            for (std::uint32_t x = 0; x < p.width; ++x) {
                if (*p.at(y, x) <= transparent) continue;
                *made.picture.at(top + y, left + x) = *p.at(y, x);
                *made.mask.at(top + y, left + x) = values_[which];
            }
    }
    return made;
}

void write_made_scenes(const MadeScenes& options, const std::string& folder) {
    const SceneMaker maker(options);
    make_folders(join_path(folder, "images"));
    make_folders(join_path(folder, "masks"));
    for (std::int64_t i = 0; i < options.count; ++i) {
        const ShapesPicture made = maker.scene(i);
        const std::string name = fmt::format("{:05}.png", i);
        write_png(join_path(folder, "images/" + name), made.picture);
        write_png(join_path(folder, "masks/" + name), made.mask);
    }
}

}  // namespace fovea
