// libFuzzer calls this; FOVEA_FUZZ_TARGET is the target's function.
#include "fuzz_targets.h"

// What a target makes once (small tokenizers) is made here, where no time limit runs.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    const std::uint8_t zero = 0;
    fovea::FOVEA_FUZZ_TARGET(fovea::FuzzBytes(&zero, 1));
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fovea::FOVEA_FUZZ_TARGET(fovea::FuzzBytes(data, size));
    return 0;
}
