#include "fovea/io/wav.h"

#include "check_wave.h"

namespace fovea {

void fuzz_wav(FuzzBytes data) { check_wave(data, parse_wav); }

}  // namespace fovea
