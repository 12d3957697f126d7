#pragma once
// For tests of bad pictures: PNG files from their chunks, JPEG files from edits of a good one, and
// one rule for all of them: one clear error about the input, with a hint, in time.
#include <gtest/gtest.h>
#include <zlib.h>

#include <ctime>
#include <string>
#include <string_view>

#include "fovea/io/picture.h"
#include "fovea/io/test_folder.h"

namespace fovea {

inline std::string four_bytes(std::uint32_t n) {
    return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
            static_cast<char>(n)};
}

inline std::string png_chunk(const std::string& kind, const std::string& data) {
    const std::string body = kind + data;
    const auto crc = static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<unsigned>(body.size())));
    return four_bytes(static_cast<std::uint32_t>(data.size())) + body + four_bytes(crc);
}

inline const std::string png_mark("\x89PNG\r\n\x1a\n", 8);

struct PngFields {
    std::uint32_t width = 2, height = 2;
    int depth = 8, colour = 2, compression = 0, filter = 0, interlace = 0;
};

inline std::string ihdr(const PngFields& f) {
    std::string data = four_bytes(f.width) + four_bytes(f.height);
    for (const int n : {f.depth, f.colour, f.compression, f.filter, f.interlace})
        data += static_cast<char>(n);
    return png_chunk("IHDR", data);
}

inline std::string deflated(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::string to(size, '\0');
    compress(reinterpret_cast<Bytef*>(to.data()), &size,
             reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    to.resize(size);
    return to;
}

inline std::string idat(const std::string& raw) { return png_chunk("IDAT", deflated(raw)); }

// The largest time a bad file may take is 100 ms on a quiet machine; here others work too, so the
// processor's time is taken and not the clock's.
inline void expect_refused(const std::string& bytes, std::string_view words,
                           const std::string& name) {
    SCOPED_TRACE(name);
    const std::clock_t start = std::clock();
    try {
        decode_picture(bytes, "bad.file", {.channels = 0});
        ADD_FAILURE() << "was taken";
    } catch (const Error& e) {
        const std::string said = e.what();
        EXPECT_EQ(said.rfind("bad.file: ", 0), 0u) << said;
        EXPECT_NE(said.find(words), std::string::npos) << said << " / " << words;
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_FALSE(e.hint().empty());
    }
    EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.1);
}

}  // namespace fovea
