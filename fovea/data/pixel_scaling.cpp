#include "fovea/data/pixel_scaling.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"

namespace fovea {
namespace {

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

}  // namespace

void PixelScaling::read(JsonFields& f) {
    bool rescales = true, normalises = true;
    f.read("do_rescale", rescales);
    f.read("do_normalize", normalises);
    f.read("rescale_factor", rescale, {1e-12, 1e6});
    if (!rescales) rescale = 1;
    read_numbers(f, "image_mean", mean, -1e6);
    read_numbers(f, "image_std", deviation, 1e-12);
    if (!normalises) {
        mean.assign(mean.size(), 0);
        deviation.assign(mean.size(), 1);
    }
    expect_input(mean.size() == deviation.size(), f.where(), ": \"image_mean\" has ", mean.size(),
                 " numbers but \"image_std\" has ", deviation.size());
}

PixelScaling PixelScaling::of(const Json& preprocessor, const std::string& where, int channels) {
    PixelScaling s;
    JsonFields f(preprocessor.is_object() ? preprocessor : Json::object(), where);
    s.read(f);
    const auto n = static_cast<std::size_t>(channels);
    expect_input(s.mean.size() >= n, where, ": \"image_mean\" has ", s.mean.size(),
                 " numbers, but the model takes ", n, " channels");
    s.mean.resize(n);
    s.deviation.resize(n);
    return s;
}

void PixelScaling::put(Json& j) const {
    j["do_rescale"] = j["do_normalize"] = true;
    j["rescale_factor"] = rescale;
    j["image_mean"] = mean;
    j["image_std"] = deviation;
}

std::array<float, 256> PixelScaling::of_byte(std::size_t channel) const {
    std::array<float, 256> table{};
    for (std::size_t b = 0; b < table.size(); ++b)
        table[b] = static_cast<float>((static_cast<double>(b) * rescale - mean[channel]) /
                                      deviation[channel]);
    return table;
}

void PixelScaling::put_rows(const Picture& p, float* to) const {
    const std::size_t n = channels();
    expect(p.channels == n, "pixels: ", p.channels, " channels, but ", n, " are wanted");
    for (std::size_t c = 0; c < n; ++c) {
        const auto table = of_byte(c);
        for (std::size_t i = c; i < p.pixels.size(); i += n) to[i] = table[p.pixels[i]];
    }
}

void PixelScaling::put_planes(const Picture& p, float* to) const {
    const std::size_t n = channels();
    expect(p.channels == n, "pixels: ", p.channels, " channels, but ", n, " are wanted");
    for (std::size_t c = 0; c < n; ++c) {
        const auto table = of_byte(c);
        for (std::size_t i = c; i < p.pixels.size(); i += n) *to++ = table[p.pixels[i]];
    }
}

}  // namespace fovea
