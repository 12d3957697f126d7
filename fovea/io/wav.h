#pragma once
// WAV files (RIFF/WAVE): PCM of 8, 16, 24 and 32 bits and float of 32 and 64, also in the
// "extensible" form, 1 to 8 channels. Compressed ones (ADPCM, A-law, MP3 …) are refused by name.
// A file whose sizes do not agree with its length is refused: it was cut off, or lies.
// Thread-safety: calls for different files may run at once.
#include <string>
#include <string_view>

#include "fovea/io/wave.h"

namespace fovea {

Wave parse_wav(std::string_view bytes, const std::string& where);

// As 16-bit PCM: samples are rounded to the nearest, those beyond ±1 are cut.
std::string wav_bytes(const Wave& wave);
void write_wav(const std::string& path, const Wave& wave);

}  // namespace fovea
