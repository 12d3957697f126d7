#include "fovea/data/pictures_input.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"

namespace fovea {
namespace {

constexpr NumberRange picture_side{1, 8192};

struct ReadSize {
    std::uint32_t height = 0, width = 0, shortest = 0;
};

// {"height": 224, "width": 224}, the older 224, or {"shortest_edge": 224} of what is cut
// afterwards.
void read_size(JsonFields& f, const char* name, bool by_edge, ReadSize& to) {
    if (!f.has(name)) return;
    int h = 0, w = 0, edge = 0;
    if (f.json()[name].is_object()) {
        JsonFields both(f.json()[name], f.where() + ": \"" + name + "\"");
        if (by_edge && both.has("shortest_edge") && !both.has("longest_edge")) {
            both.require("shortest_edge", edge, picture_side);
        } else {
            if (both.has("shortest_edge") || both.has("longest_edge"))
                fail_with(ErrorKind::bad_input, "only \"height\" and \"width\" are known",
                          f.where(), ": \"", name,
                          "\" is by an edge, and nothing is cut afterwards");
            both.require("height", h, picture_side);
            both.require("width", w, picture_side);
        }
    } else {
        f.read(name, h, picture_side);
        w = h;
    }
    to = {static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(w),
          static_cast<std::uint32_t>(edge)};
}

void put_size(Json& j, const char* name, std::uint32_t height, std::uint32_t width) {
    j[name] = {{"height", height}, {"width", width}};
}

}  // namespace

PictureInput PictureInput::of_json(const Json& json, const std::string& where) {
    expect_input(json.is_object(), where, ": is not a JSON object");
    PictureInput in;
    JsonFields f(json, where);
    bool resizes = true, cuts = false;
    f.read("do_resize", resizes);
    f.read("do_center_crop", cuts);
    if (!resizes) f.fail_field("do_resize", "must be true: a model takes one size");
    ReadSize size{in.height, in.width};
    read_size(f, "size", cuts, size);
    if (cuts) {
        in.resized_height = size.height;
        in.resized_width = size.width;
        in.shortest = size.shortest;
        size = {in.height, in.width};
        read_size(f, "crop_size", false, size);
    }
    in.height = size.height;
    in.width = size.width;
    int resample = static_cast<int>(in.resample);
    f.read("resample", resample, {0, 5});
    in.resample = static_cast<Resample>(resample);
    in.read(f);
    return in;
}

Json PictureInput::to_json() const {
    Json j;
    const bool cuts = resized_height > 0 || shortest > 0;
    j["image_processor_type"] = frames > 1 ? "VideoMAEImageProcessor"
                                : cuts     ? "DeiTImageProcessor"
                                           : "ViTImageProcessor";
    j["do_resize"] = true;
    PixelScaling one = *this;
    one.mean.resize(channels() / frames);
    one.deviation.resize(channels() / frames);
    one.put(j);
    if (cuts || frames > 1) j["do_center_crop"] = cuts;
    if (cuts) put_size(j, "crop_size", height, width);
    if (shortest > 0)
        j["size"] = {{"shortest_edge", shortest}};
    else if (cuts)
        put_size(j, "size", resized_height, resized_width);
    else
        put_size(j, "size", height, width);
    j["resample"] = static_cast<int>(resample);
    if (one.channels() != 3) j["do_convert_rgb"] = false;
    return j;
}

void PictureInput::repeat_for(std::uint32_t frames_of_clip) {
    frames = frames_of_clip;
    const std::size_t one = mean.size();
    for (std::size_t i = one; i < one * frames; ++i) {
        mean.push_back(mean[i - one]);
        deviation.push_back(deviation[i - one]);
    }
}

Picture PictureInput::fitted(const Picture& picture) const {
    if (resized_height == 0 && shortest == 0) return resize(picture, height, width, resample);
    std::uint32_t high = resized_height, wide = resized_width;
    if (shortest > 0) {  // the longer side is rounded down, as Hugging Face has it
        const std::uint64_t low = std::min(picture.height, picture.width),
                            longer = std::max(picture.height, picture.width);
        const auto other = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            longer * shortest / low, static_cast<std::uint64_t>(picture_side.max)));
        high = picture.height <= picture.width ? shortest : other;
        wide = picture.height <= picture.width ? other : shortest;
    }
    const Picture whole = resize(picture, high, wide, resample);
    // The middle; where it is smaller than what is wanted, zeros around it.
    return crop(whole, {.top = (std::int64_t{high} - height) / 2,
                        .left = (std::int64_t{wide} - width) / 2,
                        .height = height,
                        .width = width});
}

void PictureInput::put_pixels(const Picture& p, float* to) const {
    expect(p.height == height && p.width == width && p.channels == channels(), "pixels: ", p.width,
           " × ", p.height, " with ", p.channels, " channels, but ", width, " × ", height, " with ",
           channels(), " are wanted");
    put_planes(p, to);
}

Tensor PictureInput::pixels(std::span<const Picture> pictures) const {
    Tensor t({static_cast<std::int64_t>(pictures.size()), channels(), height, width});
    const std::size_t each = std::size_t{channels()} * height * width;
    float* to = t.write();
    for (std::size_t i = 0; i < pictures.size(); ++i) put_pixels(pictures[i], to + i * each);
    return t;
}

}  // namespace fovea
