#include "fovea/base/format.h"

namespace fovea {

const char* name_of(Format format) {
    switch (format) {
        case Format::f32:
            return "f32";
        case Format::bf16:
            return "bf16";
        case Format::int8:
            return "int8";
        case Format::int7:
            return "int7";
    }
    return "?";
}

}  // namespace fovea
