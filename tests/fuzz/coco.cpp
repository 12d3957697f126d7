#include "fovea/data/coco.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_coco(FuzzBytes data) {
    constexpr const char* where = "boxes.json";
    try {
        const CocoFile f = parse_coco(text_of_bytes(data), where);
        for (const CocoPicture& p : f.pictures)
            property(!p.file.empty() && p.file.find("..") == std::string::npos && p.file[0] != '/',
                     "a picture lies in its folder");
        for (const CocoThing& t : f.things) {
            property(t.picture < f.pictures.size() && t.category < f.categories.size(),
                     "an annotation names what is there");
            property(t.area >= 0 || t.box[2] < 0 || t.box[3] < 0, "an area is possible");
            for (const double c : t.box)
                property(std::isfinite(c) && std::fabs(c) <= 1e6, "a corner is a number");
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
