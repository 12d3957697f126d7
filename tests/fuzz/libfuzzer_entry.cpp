// libFuzzer calls this; FOVEA_FUZZ_TARGET is the target's function.
#include "fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fovea::FOVEA_FUZZ_TARGET(fovea::FuzzBytes(data, size));
    return 0;
}
