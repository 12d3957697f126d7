#pragma once
// What holds of a reader of sound files whatever the bytes are.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/io/wave.h"
#include "fuzz_targets.h"

namespace fovea {

inline void check_wave(FuzzBytes data, Wave (*parse)(std::string_view, const std::string&)) {
    const std::string where = "sound";
    try {
        const Wave w = parse(text_of_bytes(data), where);
        property(w.channels >= 1 && w.channels <= WaveLimits::most_channels, "channels");
        property(
            w.sample_rate >= WaveLimits::lowest_rate && w.sample_rate <= WaveLimits::highest_rate,
            "rate");
        property(!w.samples.empty() &&
                     static_cast<std::int64_t>(w.samples.size()) <= WaveLimits::most_samples,
                 "samples");
        property(w.samples.size() % static_cast<std::size_t>(w.channels) == 0, "whole instants");
        for (const float x : w.samples) property(std::isfinite(x), "samples are finite");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
