#pragma once
// Pictures made by rule, with boxes: the discs, squares and triangles of made_shapes.h, as a PASCAL
// VOC folder. To see that detection works, and for tests.
// Thread-safety: pure functions, safe from any thread.
#include <string>
#include <vector>

#include "fovea/data/boxes.h"
#include "fovea/data/made_shapes.h"

namespace fovea {

struct BoxesPicture {
    Picture picture;  // three channels
    std::vector<BoxedThing> things;
};

// Picture i depends on (seed, i) alone. Boxes hold what is seen of a shape; one of which little is
// seen behind others has none.
BoxesPicture made_boxes(const MadeShapes& options, std::int64_t i);

// All of them, as FOLDER/JPEGImages/00000.png and FOLDER/Annotations/00000.xml.
void write_made_boxes(const MadeShapes& options, const std::string& folder);

}  // namespace fovea
