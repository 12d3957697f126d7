#include "fovea/data/made_shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/io/png.h"

namespace fovea {
namespace {

constexpr std::uint32_t drawn_shapes = 0x73686170;

enum class ShapeKind { disc, square, triangle };

struct PlacedShape {
    ShapeKind kind;
    double y, x, radius;
    int colour[3];

    bool holds(double py, double px) const {
        const double dy = py - y, dx = px - x;
        switch (kind) {
            case ShapeKind::disc:
                return dy * dy + dx * dx <= radius * radius;
            case ShapeKind::square:
                return std::max(std::fabs(dy), std::fabs(dx)) <= 0.85 * radius;
            case ShapeKind::triangle:
                return dy <= 0.8 * radius && dy >= 2 * std::fabs(dx) - radius;
        }
        return false;
    }
};

void see_pixel(SeenShape& s, std::uint32_t y, std::uint32_t x) {
    s.left = std::min(s.left, x);
    s.top = std::min(s.top, y);
    s.right = std::max(s.right, x + 1);
    s.bottom = std::max(s.bottom, y + 1);
    ++s.seen;
}

PlacedShape drawn_shape(const MadeShapes& o, Rng& rng) {
    const double side = o.size;
    PlacedShape s{static_cast<ShapeKind>(rng.below(o.kinds)), 0, 0, 0, {}};
    s.radius = rng.uniform(0.1, 0.22) * side;
    s.y = rng.uniform(0.1, 0.9) * side;
    s.x = rng.uniform(0.1, 0.9) * side;
    for (int& c : s.colour) c = 110 + static_cast<int>(rng.below(110));
    return s;
}

}  // namespace

ShapesPicture made_shapes(const MadeShapes& o, std::int64_t i) {
    expect(o.kinds >= 1 && o.kinds <= 3, "shapes: ", o.kinds, " kinds but 1 to 3 are known");
    expect(o.size >= 16 && o.size <= 4096, "shapes: pictures of ", o.size,
           " pixels but 16 to 4096 are known");
    Rng rng(o.seed, drawn_shapes);
    rng.seek(static_cast<std::uint64_t>(i) << 32);
    ShapesPicture made{blank_picture(o.size, o.size, 3, "shapes"),
                       blank_picture(o.size, o.size, 1, "shapes")};
    const int ground = 20 + static_cast<int>(rng.below(50));
    std::vector<PlacedShape> shapes;
    for (std::int64_t n = 1 + rng.below(4); n > 0; --n) {
        shapes.push_back(drawn_shape(o, rng));
        made.shapes.emplace_back().kind = static_cast<int>(shapes.back().kind);
    }
    for (std::uint32_t y = 0; y < o.size; ++y)
        for (std::uint32_t x = 0; x < o.size; ++x) {
            int colour[3] = {ground, ground, ground};
            SeenShape* last = nullptr;
            for (std::size_t k = 0; k < shapes.size(); ++k) {
                const PlacedShape& s = shapes[k];
                if (!s.holds(y + 0.5, x + 0.5)) continue;
                std::copy_n(s.colour, 3, colour);
                *made.mask.at(y, x) =
                    o.kinds == 1 ? 255 : static_cast<std::uint8_t>(1 + static_cast<int>(s.kind));
                last = &made.shapes[k];
                ++last->whole;
            }
            if (last) see_pixel(*last, y, x);
            for (int c = 0; c < 3; ++c)
                made.picture.at(y, x)[c] =
                    static_cast<std::uint8_t>(colour[c] + static_cast<int>(rng.below(36)));
        }
    return made;
}

void write_made_shapes(const MadeShapes& o, const std::string& folder) {
    make_folders(join_path(folder, "images"));
    make_folders(join_path(folder, "masks"));
    for (std::int64_t i = 0; i < o.count; ++i) {
        const ShapesPicture made = made_shapes(o, i);
        const std::string name = fmt::format("{:05}.png", i);
        write_png(join_path(folder, "images/" + name), made.picture);
        write_png(join_path(folder, "masks/" + name), made.mask);
    }
}

}  // namespace fovea
