#include "fovea/io/jpeg.h"

#include "fovea/base/error.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_jpeg(FuzzBytes data) {
    constexpr const char* where = "picture.jpg";
    try {
        const Picture p = decode_jpeg(text_of_bytes(data), where);
        property(p.pixels.size() == std::size_t{p.height} * p.width * p.channels,
                 "a picture has the pixels of its size");
        property(p.channels == 1 || p.channels == 3, "a JPEG has one or three channels");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
