#include "fovea/data/voc.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_voc(FuzzBytes data) {
    constexpr const char* where = "boxes.xml";
    try {
        const VocPicture p = parse_voc(text_of_bytes(data), where);
        property(p.height >= 0 && p.height <= 8192 && p.width >= 0 && p.width <= 8192,
                 "a picture's sides are possible");
        for (const VocThing& t : p.things) {
            property(!t.label.empty() && is_utf8(t.label), "a label is a text");
            for (const double c : {t.xmin, t.ymin, t.xmax, t.ymax})
                property(std::isfinite(c) && std::fabs(c) <= 1e6, "a corner is a number");
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
