#include "fovea/base/act.h"

namespace fovea {

const char* name_of(Act act) {
    switch (act) {
        case Act::none:
            return "none";
        case Act::relu:
            return "relu";
        case Act::gelu:
            return "gelu";
        case Act::gelu_tanh:
            return "gelu_tanh";
        case Act::tanh:
            return "tanh";
        case Act::swish:
            return "swish";
    }
    return "?";
}

}  // namespace fovea
