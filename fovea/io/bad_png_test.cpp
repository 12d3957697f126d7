#include "fovea/io/png.h"
#include "fovea/io/test_pictures.h"

namespace fovea {
namespace {

using namespace std::string_literals;

const std::string rows_2x2 = "\0abcdef\0ghijkl"s;  // filter byte, two pixels of three bytes; twice
const std::string end_chunk = png_chunk("IEND", "");

std::string good_png() { return png_mark + ihdr({}) + idat(rows_2x2) + end_chunk; }

std::string with_header(const PngFields& fields) {
    return png_mark + ihdr(fields) + idat(rows_2x2) + end_chunk;
}

std::string with_byte(std::string bytes, std::size_t at, char value) {
    bytes[at] = value;
    return bytes;
}

// A hundred kilobytes that stand for a hundred megabytes of zeros.
std::string zlib_bomb() {
    static const std::string bomb = deflated(std::string(100'000'000, '\0'));
    return bomb;
}

struct BadPng {
    const char* name;
    std::string bytes;
    const char* words;
};

std::vector<BadPng> bad_headers() {
    const std::string mark = png_mark;
    return {
        {"mark only", mark, "IHDR is missing"},
        {"half a header", (mark + ihdr({})).substr(0, 20), "IHDR is missing"},
        {"first chunk is IDAT", mark + idat(rows_2x2) + ihdr({}), "IHDR is missing"},
        {"first chunk is text", mark + png_chunk("tEXt", "a\0b"s) + ihdr({}), "IHDR is missing"},
        {"width 0", with_header({.width = 0}), "no pixels"},
        {"height 0", with_header({.height = 0}), "no pixels"},
        {"1 x (2^31-1)", with_header({.width = 1, .height = 0x7FFFFFFF}), "at most 8192"},
        {"(2^31-1) x 1", with_header({.width = 0x7FFFFFFF, .height = 1}), "at most 8192"},
        {"2^32-1 a side", with_header({.width = 0xFFFFFFFF, .height = 0xFFFFFFFF}), "at most 8192"},
        {"8193 wide", with_header({.width = 8193, .height = 1}), "8193 × 1 pixels"},
        {"67 million pixels", with_header({.width = 8192, .height = 8192}), "40 million"},
        {"40 million pixels in 80 bytes", with_header({.width = 8000, .height = 5000}),
         "too short"},
        {"depth 3", with_header({.depth = 3}), "depth"},
        {"depth 0", with_header({.depth = 0}), "depth"},
        {"depth 255", with_header({.depth = 255}), "depth"},
        {"colour kind 1", with_header({.colour = 1}), "color type"},
        {"colour kind 9", with_header({.colour = 9}), "color type"},
        {"two bits in colours", with_header({.depth = 2}), "olor type/bit depth"},
        {"16 bits in a palette", with_header({.depth = 16, .colour = 3}), "olor type/bit depth"},
        {"compression 1", with_header({.compression = 1}), "compression"},
        {"filter method 1", with_header({.filter = 1}), "filter"},
        {"interlace 2", with_header({.interlace = 2}), "interlace"},
        {"header's checksum", with_byte(good_png(), 29, 'x'), "CRC"},
        {"header of 12 bytes", mark + png_chunk("IHDR", std::string(12, '\1')), "IHDR is missing"},
        {"header of 14 bytes", mark + png_chunk("IHDR", std::string(14, '\1')), "IHDR is missing"},
        {"two headers", mark + ihdr({}) + ihdr({}) + idat(rows_2x2) + end_chunk, "out of place"},
    };
}

std::vector<BadPng> bad_pixels() {
    const std::string start = png_mark + ihdr({}), whole = deflated(rows_2x2);
    const std::string palette = png_mark + ihdr({.colour = 3});
    const std::string three_colours = png_chunk("PLTE", std::string(9, 'c'));
    return {
        {"no pixels", start + end_chunk, "out of place"},
        {"empty IDAT", start + png_chunk("IDAT", "") + end_chunk, "not a whole PNG"},
        {"IDAT is noise", start + png_chunk("IDAT", "this is no deflate") + end_chunk,
         "not a whole"},
        {"too few pixels", start + idat("\0abcdef"s) + end_chunk, "Not enough"},
        {"too many pixels", start + idat(rows_2x2 + rows_2x2) + end_chunk, "Too much"},
        {"a bomb behind 2 x 2 pixels", start + png_chunk("IDAT", zlib_bomb()) + end_chunk,
         "more data than"},
        {"row filter 7", start + idat("\7abcdef\0ghijkl"s) + end_chunk, "filter"},
        {"pixels' checksum", with_byte(good_png(), good_png().size() - 13, 'x'), "CRC"},
        {"IDAT longer than the file", start + four_bytes(500) + "IDAT" + whole, "ends too early"},
        {"chunk of 4 gigabytes", start + four_bytes(0xFFFFFFFF) + "IDAT" + whole,
         "not a whole PNG"},
        {"no end", start + idat(rows_2x2), "ends too early"},
        {"unknown critical chunk", start + png_chunk("ABCD", "x") + idat(rows_2x2) + end_chunk,
         "critical"},
        {"chunk name of noise", start + png_chunk("\x01\x02\x03\x04", "") + idat(rows_2x2),
         "not a whole PNG"},
        {"palette missing", palette + idat("\0ab\0cd"s) + end_chunk, "PLTE"},
        {"palette of 10 bytes",
         palette + png_chunk("PLTE", std::string(10, 'c')) + idat("\0\0\0\0\0\0"s) + end_chunk,
         "PLTE"},
        {"palette of 257 colours",
         palette + png_chunk("PLTE", std::string(771, 'c')) + idat("\0\0\0\0\0\0"s) + end_chunk,
         "PLTE"},
        {"colour 5 of 3", palette + three_colours + idat("\0\5\5\0\5\5"s) + end_chunk, "colour 5"},
        {"two palettes",
         palette + three_colours + three_colours + idat("\0\0\0\0\0\0"s) + end_chunk, "duplicate"},
    };
}

TEST(BadPng, EachGivesOneClearErrorInTime) {
    int count = 0;
    for (const auto& table : {bad_headers(), bad_pixels()})
        for (const BadPng& bad : table) {
            expect_refused(bad.bytes, bad.words, bad.name);
            ++count;
        }
    EXPECT_GE(count, 40);
}

TEST(BadPng, CutAnywhereItIsRefused) {
    for (const char* name : {"rgb.png", "palette.png", "interlaced.png", "transparent.png"}) {
        const std::string whole =
            read_file(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/pictures/" + name);
        for (std::size_t n = 0; n < whole.size(); ++n)
            expect_refused(whole.substr(0, n), "", std::string(name) + " of " + std::to_string(n));
    }
}

TEST(BadPng, OneBitTurnedNeverHarms) {
    const std::string whole = good_png();
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        std::string bytes = whole;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
        try {
            const Picture p = decode_picture(bytes, "bad.file");
            EXPECT_EQ(p.pixels.size(), std::size_t{p.height} * p.width * 3);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        }
    }
}

TEST(BadPng, CompressedTextsAndProfilesAreSkippedUnread) {
    std::string extra;
    for (const char* kind : {"zTXt", "iTXt", "iCCP", "tEXt", "sPLT", "eXIf", "gAMA", "abCd"})
        extra += png_chunk(kind, std::string("key\0\0", 5) + zlib_bomb());
    const Picture p = decode_picture(png_mark + ihdr({}) + extra + idat(rows_2x2) + end_chunk, "p");
    EXPECT_EQ(std::string(p.pixels.begin(), p.pixels.end()), "abcdefghijkl");
}

}  // namespace
}  // namespace fovea
