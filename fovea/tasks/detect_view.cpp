// What a detector looks at, for `fovea inspect`.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/io/png.h"
#include "fovea/tasks/detect.h"

namespace fovea {
namespace {

constexpr float shown_score = 0.3f;  // things less sure than this are neither drawn nor named

bool has_decoder(const DetectionModel& m) {
    return std::find(m.heads.begin(), m.heads.end(), "decoder") != m.heads.end();
}

std::int64_t cells_of(std::int64_t pixels, int stride) { return (pixels + stride - 1) / stride; }

// Surest first: what a query said first is what it says.
void put_things(const std::vector<FoundThing>& things, const std::vector<std::string>& labels,
                ForwardPass& pass) {
    std::vector<std::string>& names = pass.tokens["things"];
    SeenPicture& seen = *pass.seen;
    seen.box_side = "things";
    for (const FoundThing& t : things) {
        const auto query = static_cast<std::size_t>(t.query);
        if (query >= names.size()) {
            names.resize(query + 1, "-");
            seen.boxes.resize(query + 1);
        }
        if (names[query] != "-" || t.score < shown_score) continue;
        names[query] = fmt::format("{} {:.2f}", labels[static_cast<std::size_t>(t.label)], t.score);
        seen.boxes[query] = {t.box[0] - t.box[2] / 2, t.box[1] - t.box[3] / 2, t.box[2], t.box[3]};
        pass.output += (pass.output.empty() ? "" : ", ") + names[query];
    }
    if (pass.output.empty()) pass.output = "nothing";
}

}  // namespace

ForwardPass look_for_things(const DetectModel& model, const std::string& path) {
    const DetectionModel& network = *model.network;
    const Picture picture = model.resized(read_picture(path));
    ForwardPass pass;
    pass.input = path;
    pass.sides = {{"encoder_attn", "things", "cells"},
                  {"decoder", "things", "things"},
                  {"", "cells", "cells"}};
    pass.seen = {.png = encode_png(picture),
                 .side = "cells",
                 .height = static_cast<int>(cells_of(picture.height, network.stride)),
                 .width = static_cast<int>(cells_of(picture.width, network.stride))};
    for (int y = 0; y < pass.seen->height; ++y)
        for (int x = 0; x < pass.seen->width; ++x)
            pass.tokens["cells"].push_back(fmt::format("{},{}", y, x));
    const PrecisionScope scope(model.precision);
    constexpr int every_one = 1 << 20;
    const auto found = network.find(
        model.numbers(picture),
        {.head = has_decoder(network) ? "decoder" : "", .most = every_one, .least = 0});
    if (has_decoder(network)) put_things(found.at(0), model.folder.labels, pass);
    return pass;
}

}  // namespace fovea
