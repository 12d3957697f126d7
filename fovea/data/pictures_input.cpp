#include "fovea/data/pictures_input.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"

namespace fovea {
namespace {

constexpr NumberRange picture_side{1, 8192};

// {"height": 224, "width": 224}, or the older 224.
bool read_size(JsonFields& f, const char* name, std::uint32_t& height, std::uint32_t& width) {
    if (!f.has(name)) return false;
    int h = 0, w = 0;
    if (f.json()[name].is_object()) {
        JsonFields both(f.json()[name], f.where() + ": \"" + name + "\"");
        if (both.has("shortest_edge") || both.has("longest_edge"))
            fail_with(ErrorKind::bad_input, "only \"height\" and \"width\" are known", f.where(),
                      ": \"", name, "\" is by an edge");
        both.require("height", h, picture_side);
        both.require("width", w, picture_side);
    } else {
        f.read(name, h, picture_side);
        w = h;
    }
    height = static_cast<std::uint32_t>(h);
    width = static_cast<std::uint32_t>(w);
    return true;
}

void read_numbers(JsonFields& f, const char* name, std::vector<double>& to, double least) {
    if (!f.has(name)) return;
    const Json& list = f.json()[name];
    if (!list.is_array() || list.empty() || list.size() > 16)
        f.fail_field(name, "must be a list of 1 to 16 numbers");
    to.clear();
    for (const Json& x : list) {
        if (!x.is_number() || !(x.get<double>() >= least) || !(x.get<double>() <= 1e6))
            f.fail_field(name, "has " + x.dump());
        to.push_back(x.get<double>());
    }
}

void put_size(Json& j, const char* name, std::uint32_t height, std::uint32_t width) {
    j[name] = {{"height", height}, {"width", width}};
}

}  // namespace

PictureInput PictureInput::of_json(const Json& json, const std::string& where) {
    expect_input(json.is_object(), where, ": is not a JSON object");
    PictureInput in;
    JsonFields f(json, where);
    bool resizes = true, rescales = true, normalises = true, cuts = false;
    f.read("do_resize", resizes);
    f.read("do_rescale", rescales);
    f.read("do_normalize", normalises);
    f.read("do_center_crop", cuts);
    if (!resizes) f.fail_field("do_resize", "must be true: a model takes one size");
    read_size(f, "size", in.height, in.width);
    if (cuts) {
        in.resized_height = in.height;
        in.resized_width = in.width;
        read_size(f, "crop_size", in.height, in.width);
    }
    int resample = static_cast<int>(in.resample);
    f.read("resample", resample, {0, 5});
    in.resample = static_cast<Resample>(resample);
    f.read("rescale_factor", in.rescale, {1e-12, 1e6});
    if (!rescales) in.rescale = 1;
    read_numbers(f, "image_mean", in.mean, -1e6);
    read_numbers(f, "image_std", in.deviation, 1e-12);
    if (!normalises) {
        in.mean.assign(in.mean.size(), 0);
        in.deviation.assign(in.mean.size(), 1);
    }
    expect_input(in.mean.size() == in.deviation.size(), where, ": \"image_mean\" has ",
                 in.mean.size(), " numbers but \"image_std\" has ", in.deviation.size());
    return in;
}

Json PictureInput::to_json() const {
    Json j;
    j["image_processor_type"] = resized_height > 0 ? "DeiTImageProcessor" : "ViTImageProcessor";
    j["do_resize"] = j["do_rescale"] = j["do_normalize"] = true;
    if (resized_height > 0) {
        j["do_center_crop"] = true;
        put_size(j, "size", resized_height, resized_width);
        put_size(j, "crop_size", height, width);
    } else {
        put_size(j, "size", height, width);
    }
    j["resample"] = static_cast<int>(resample);
    j["rescale_factor"] = rescale;
    j["image_mean"] = mean;
    j["image_std"] = deviation;
    if (channels() != 3) j["do_convert_rgb"] = false;
    return j;
}

Picture PictureInput::fitted(const Picture& picture) const {
    if (resized_height == 0) return resize(picture, height, width, resample);
    const Picture whole = resize(picture, resized_height, resized_width, resample);
    // The middle; where it is smaller than what is wanted, zeros around it.
    return crop(whole, {.top = (std::int64_t{resized_height} - height) / 2,
                        .left = (std::int64_t{resized_width} - width) / 2,
                        .height = height,
                        .width = width});
}

void PictureInput::put_pixels(const Picture& p, float* to) const {
    expect(p.height == height && p.width == width && p.channels == channels(), "pixels: ", p.width,
           " × ", p.height, " with ", p.channels, " channels, but ", width, " × ", height, " with ",
           channels(), " are wanted");
    const std::size_t n = std::size_t{height} * width, c = channels();
    for (std::size_t k = 0; k < c; ++k) {
        float of_byte[256];
        for (int b = 0; b < 256; ++b)
            of_byte[b] = static_cast<float>((b * rescale - mean[k]) / deviation[k]);
        for (std::size_t i = 0; i < n; ++i) *to++ = of_byte[p.pixels[i * c + k]];
    }
}

Tensor PictureInput::pixels(std::span<const Picture> pictures) const {
    Tensor t({static_cast<std::int64_t>(pictures.size()), channels(), height, width});
    const std::size_t each = std::size_t{channels()} * height * width;
    float* to = t.write();
    for (std::size_t i = 0; i < pictures.size(); ++i) put_pixels(pictures[i], to + i * each);
    return t;
}

}  // namespace fovea
