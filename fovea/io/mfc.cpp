#include "fovea/io/mfc.h"

#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

constexpr std::int64_t most_frames = 60000;

std::uint32_t word_at(std::string_view bytes, std::size_t at, bool swap) {
    std::uint32_t w;
    std::memcpy(&w, bytes.data() + at, 4);
    return swap ? __builtin_bswap32(w) : w;
}

}  // namespace

Tensor parse_mfc(std::string_view bytes, const std::string& where, int width) {
    constexpr const char* way_out = "features of CMU Sphinx begin with the number of their values";
    const auto broken = [&](const auto&... parts) {
        fail_with(ErrorKind::bad_input, way_out, where, ": ", parts...);
    };
    if (bytes.size() < 4) broken("the file has ", bytes.size(), " bytes, no header");
    const std::uint64_t there = (bytes.size() - 4) / 4;
    bool swap = false;
    if (word_at(bytes, 0, false) != there || bytes.size() % 4 != 0) {
        swap = true;
        if (word_at(bytes, 0, true) != there || bytes.size() % 4 != 0)
            broken("its header says ", word_at(bytes, 0, true), " values, but there are ",
                   bytes.size() - 4, " bytes of them");
    }
    const auto columns = static_cast<std::uint64_t>(width);
    if (there == 0) broken("there are no values in it");
    if (there % columns != 0) broken(there, " values do not make frames of ", width);
    if (there / columns > most_frames)
        broken(there / columns, " frames, but at most ", most_frames, " are read");
    Tensor rows({static_cast<std::int64_t>(there / columns), width});
    float* to = rows.write();
    for (std::size_t i = 0; i < there; ++i) {
        const std::uint32_t w = word_at(bytes, 4 + 4 * i, swap);
        std::memcpy(to + i, &w, 4);
        if (!std::isfinite(to[i]) || std::fabs(to[i]) > 1e6f)
            broken("value ", i, " is not a number that features have");
    }
    return rows;
}

Tensor read_mfc(const std::string& path, int width) {
    return parse_mfc(read_file(path, 4 + most_frames * width * 4), path, width);
}

}  // namespace fovea
