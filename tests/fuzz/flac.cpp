#include "fovea/io/flac.h"

#include "check_wave.h"

namespace fovea {

void fuzz_flac(FuzzBytes data) { check_wave(data, parse_flac); }

}  // namespace fovea
