// What a segmenter looks at, for `fovea inspect`: its last stage, where every cell sees every
// other. (The stages before it look from finer cells at the same coarse ones, thousands of rows
// each.)
#include <fmt/core.h>

#include "fovea/io/png.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/tasks/segment.h"

namespace fovea {

ForwardPass look_at_cells(const SegmentModel& model, const std::string& path) {
    const PrecisionScope scope(model.precision);
    const Picture picture = read_picture(path);
    const Segformer& network = *model.network;
    std::vector<FeatureMap> maps{model.pixels(picture)};
    {
        const Probe unseen;
        for (std::size_t s = 0; s + 1 < network.stages.size(); ++s)
            maps.push_back(network.stages[s](maps.back()));
    }
    maps.push_back(network.stages.back()(maps.back()));
    const Grid cells = maps.back().grid;
    maps.erase(maps.begin());
    const Tensor logits = network.enlarged(network.decoder(maps), picture.height, picture.width);
    const SegmentedPicture found = segmented(logits, picture);

    ForwardPass pass;
    pass.input = path;
    for (std::size_t i = 0; i < found.shares.size(); ++i)
        pass.output += fmt::format("{}{} {:.1f} %", i ? ", " : "", model.folder.labels[i],
                                   100 * found.shares[i]);
    for (std::int64_t y = 0; y < cells.height; ++y)
        for (std::int64_t x = 0; x < cells.width; ++x)
            pass.tokens["cells"].push_back(fmt::format("{},{}", y, x));
    pass.sides = {{"", "cells", "cells"}};
    pass.seen = {.png = encode_png(draw_masks(picture, found)),
                 .side = "cells",
                 .height = static_cast<int>(cells.height),
                 .width = static_cast<int>(cells.width)};
    return pass;
}

}  // namespace fovea
