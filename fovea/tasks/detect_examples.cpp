#include "fovea/tasks/detect_examples.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/threads.h"

namespace fovea {
namespace {

// Less than this share of a thing's box: it is not to be found in the part.
constexpr double seen_share = 0.3;

// Where the upper left of what is shown lies in the whole picture as the model would read it.
std::array<float, 2> corner_of(const Cut& cut, const BoxedPicture& p) {
    const bool on_its_side = cut.placement.quarter_turns % 2 == 1;
    const auto corner = [&](std::uint32_t side, std::uint32_t shown, double place) {
        return static_cast<float>(place * std::max(0.0, side * cut.scale - shown));
    };
    return {corner(on_its_side ? p.width : p.height, cut.placement.height, cut.down),
            corner(on_its_side ? p.height : p.width, cut.placement.width, cut.right)};
}

}  // namespace

DetectExamples::Shown DetectExamples::shown(std::size_t sample, std::int64_t epoch) const {
    const BoxedPicture& record = records[sample];
    const DrawName name{seed, epoch, sample};
    const auto read = reads.sides(record.height, record.width, 1);
    const Cut part = draw_cut(augment,
                              {.height = record.height,
                               .width = record.width,
                               .out_height = sides.height,
                               .out_width = sides.width,
                               .share = static_cast<double>(read.height) / record.height},
                              name);
    Shown s;
    s.corner = corner_of(part, record);
    s.picture = placed(load_boxed(record, static_cast<int>(scaling.channels())), part.placement);
    change_light(s.picture, augment, name);
    for (const BoxedThing& t : record.things) {
        if (t.crowd) continue;
        const auto box = placed(t.box, part.placement, seen_share);
        if (!box) continue;
        const double high = sides.height, wide = sides.width;
        Thing thing;
        thing.box = {static_cast<float>((box->left + box->right) / 2 / wide),
                     static_cast<float>((box->top + box->bottom) / 2 / high),
                     static_cast<float>((box->right - box->left) / wide),
                     static_cast<float>((box->bottom - box->top) / high)};
        thing.label = label_of_thing(t, labels, record.path);
        s.things.push_back(thing);
    }
    return s;
}

DetectExamples::Batch DetectExamples::batch(std::span<const std::int64_t> samples,
                                            std::int64_t epoch) const {
    const auto channels = static_cast<std::int64_t>(scaling.channels());
    const std::int64_t count = static_cast<std::int64_t>(samples.size());
    Batch b;
    DetectionPictures& p = b.pictures;
    p.grid = {count, sides.height, sides.width};
    p.rows = Tensor({p.grid.rows(), channels});
    b.things.resize(samples.size());
    p.corners.resize(samples.size());
    for (const std::int64_t sample : samples)
        p.samples.push_back(static_cast<std::uint64_t>(sample));
    float* rows = p.rows.write();
    std::vector<std::exception_ptr> wrong(samples.size());
    parallel_for(count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            try {
                const Shown s = shown(static_cast<std::size_t>(samples[i]), epoch);
                scaling.put_rows(s.picture,
                                 rows + static_cast<std::int64_t>(i) * p.grid.area() * channels);
                b.things[i] = s.things;
                p.corners[i] = s.corner;
            } catch (const Error&) {  // the first in order is told, whichever thread met it
                wrong[i] = std::current_exception();
            }
        }
    });
    for (const std::exception_ptr& error : wrong)
        if (error) std::rethrow_exception(error);
    return b;
}

}  // namespace fovea
