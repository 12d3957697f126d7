#pragma once
// FLAC files, by libFLAC. A file must say how long it is (STREAMINFO), decode without a fault to
// exactly that length, and have the checksum that it states: half a file is refused.
// Thread-safety: calls for different files may run at once.
#include <string>
#include <string_view>

#include "fovea/io/wave.h"

namespace fovea {

Wave parse_flac(std::string_view bytes, const std::string& where);

}  // namespace fovea
