#include "fovea/io/png.h"

#include "fovea/base/error.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_png(FuzzBytes data) {
    constexpr const char* where = "picture.png";
    try {
        const Picture p = decode_png(text_of_bytes(data), where);
        property(p.pixels.size() == std::size_t{p.height} * p.width * p.channels,
                 "a picture has the pixels of its size");
        property(p.channels >= 1 && p.channels <= 4, "a PNG has one to four channels");
        if (p.pixels.size() <= 1 << 16)
            property(decode_png(encode_png(p), where) == p, "what is written is read again");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
