#include "fovea/data/made_boxes.h"

#include <fmt/core.h>

#include "fovea/base/files.h"
#include "fovea/io/png.h"

namespace fovea {
namespace {

constexpr const char* shape_names[] = {"disc", "square", "triangle"};
constexpr double seen_enough = 0.3;  // share of a shape that is not behind others

std::string voc_text(const std::string& file, const BoxesPicture& made) {
    std::string text = fmt::format(
        "<annotation>\n  <filename>{}</filename>\n  <size><width>{}</width><height>{}</height>"
        "<depth>3</depth></size>\n",
        file, made.picture.width, made.picture.height);
    for (const BoxedThing& t : made.things)  // corners count from 1 and lie inside
        text += fmt::format(
            "  <object><name>{}</name><difficult>0</difficult><bndbox><xmin>{}</xmin>"
            "<ymin>{}</ymin><xmax>{}</xmax><ymax>{}</ymax></bndbox></object>\n",
            t.label, t.box.left + 1, t.box.top + 1, t.box.right, t.box.bottom);
    return text + "</annotation>\n";
}

}  // namespace

BoxesPicture made_boxes(const MadeShapes& options, std::int64_t i) {
    ShapesPicture made = made_shapes(options, i);
    BoxesPicture boxes{std::move(made.picture), {}};
    for (const SeenShape& s : made.shapes) {
        if (s.seen == 0 || static_cast<double>(s.seen) < seen_enough * static_cast<double>(s.whole))
            continue;
        const PictureBox box{double{1} * s.left, double{1} * s.top, double{1} * s.right,
                             double{1} * s.bottom};
        if (s.right - s.left < 2 || s.bottom - s.top < 2) continue;
        boxes.things.push_back({box, shape_names[s.kind], static_cast<double>(s.seen)});
    }
    return boxes;
}

void write_made_boxes(const MadeShapes& options, const std::string& folder) {
    make_folders(join_path(folder, "JPEGImages"));
    make_folders(join_path(folder, "Annotations"));
    for (std::int64_t i = 0; i < options.count; ++i) {
        const BoxesPicture made = made_boxes(options, i);
        const std::string name = fmt::format("{:05}", i);
        write_png(join_path(folder, "JPEGImages/" + name + ".png"), made.picture);
        write_file_atomically(join_path(folder, "Annotations/" + name + ".xml"),
                              voc_text(name + ".png", made));
    }
}

}  // namespace fovea
