#include "fovea/io/jpeg.h"
#include "fovea/io/test_pictures.h"

namespace fovea {
namespace {

using namespace std::string_literals;

std::string jpeg_file(const char* name) {
    return read_file(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/pictures/" + name);
}

// Where the segment of a marker begins (its 0xFF); the n-th of its kind.
std::size_t segment(const std::string& bytes, int marker, int n = 0) {
    const std::string mark{'\xFF', static_cast<char>(marker)};
    std::size_t at = bytes.find(mark);
    while (n-- > 0) at = bytes.find(mark, at + 2);
    EXPECT_NE(at, std::string::npos);
    return at;
}

constexpr int sof0 = 0xC0, sof2 = 0xC2, dht = 0xC4, sos = 0xDA, dqt = 0xDB;

// The good file with bytes of a segment changed: `at` counts from the segment's 0xFF.
std::string edited(int marker, std::size_t at, const std::string& bytes) {
    std::string file = jpeg_file("rgb.jpg");
    file.replace(segment(file, marker) + at, bytes.size(), bytes);
    return file;
}

std::string without(int marker) {
    std::string file = jpeg_file("rgb.jpg");
    for (std::size_t at = file.find({'\xFF', static_cast<char>(marker)}); at != std::string::npos;
         at = file.find({'\xFF', static_cast<char>(marker)}))
        file.erase(at, 2 + static_cast<std::size_t>(static_cast<unsigned char>(file[at + 2]) << 8 |
                                                    static_cast<unsigned char>(file[at + 3])));
    return file;
}

// A progressive file with more and more scans: its first one of single coefficients again, now said
// to be exact, which may stand behind any other.
std::string many_scans(int scans) {
    const std::string file = jpeg_file("progressive.jpg");
    std::size_t at = segment(file, sos);
    while (file[at + 7] == 0 || file[at + 9] != 1) at = file.find("\xFF\xDA", at + 2);
    const std::size_t table = file.rfind("\xFF\xC4", at), next = file.find("\xFF\xC4", at);
    std::string again = file.substr(table, next - table);
    again[at - table + 9] = 0;
    const std::size_t end = file.rfind("\xFF\xD9");
    std::string to = file.substr(0, end);
    for (int i = 0; i < scans; ++i) to += again;
    return to + file.substr(end);
}

std::string size_bytes(int height, int width) {
    return {static_cast<char>(height >> 8), static_cast<char>(height),
            static_cast<char>(width >> 8), static_cast<char>(width)};
}

// A frame header of other components: (number, sampling, table) each.
std::string with_components(int count) {
    std::string file = jpeg_file("rgb.jpg");
    const std::size_t at = segment(file, sof0), scan = segment(file, sos);
    std::string frame{'\xFF', '\xC0', 0,  static_cast<char>(8 + 3 * count), 8, 0,
                      11,     0,      14, static_cast<char>(count)};
    std::string scan_header{'\xFF', '\xDA', 0, static_cast<char>(6 + 2 * count),
                            static_cast<char>(count)};
    for (int c = 0; c < count; ++c) {
        frame += {static_cast<char>(c + 1), 0x11, 0};
        scan_header += {static_cast<char>(c + 1), 0};
    }
    scan_header += {0, 63, 0};
    file.replace(scan, 14, scan_header);
    return file.replace(at, 19, frame);
}

struct BadJpeg {
    const char* name;
    std::string bytes;
    const char* words;
};

std::vector<BadJpeg> bad_jpegs() {
    const std::string good = jpeg_file("rgb.jpg"), mark = "\xFF\xD8\xFF";
    return {
        {"mark only", mark, "Premature end"},
        {"end at once", mark + "\xD9", "no image"},
        {"noise behind the mark", mark + std::string(200, 'n'), ""},
        {"65535 x 65535", edited(sof0, 5, size_bytes(65535, 65535)), ""},
        {"60000 x 60000", edited(sof0, 5, size_bytes(60000, 60000)), "at most 8192"},
        {"8193 wide", edited(sof0, 5, size_bytes(8, 8193)), "8193 × 8"},
        {"67 million pixels", edited(sof0, 5, size_bytes(8192, 8192)), "40 million"},
        {"40 million pixels in 700 bytes", edited(sof0, 5, size_bytes(5000, 8000)), "too short"},
        {"500 x 500 of 14 x 11", edited(sof0, 5, size_bytes(500, 500)), "premature end"},
        {"height 0", edited(sof0, 5, size_bytes(0, 14)), "DNL"},
        {"width 0", edited(sof0, 5, size_bytes(11, 0)), "Empty"},
        {"0 components", edited(sof0, 9, "\0"s), "not a whole JPEG"},
        {"255 components", edited(sof0, 9, "\xFF"), "not a whole JPEG"},
        {"two components", with_components(2), "unknown colours"},
        {"four components (CMYK)", with_components(4), "CMYK"},
        {"12 bits", edited(sof0, 4, "\x0C"), "than 8 bits"},
        {"0 bits", edited(sof0, 4, "\0"s), ""},
        {"sampling 0", edited(sof0, 11, "\0"s), "sampling"},
        {"sampling 15", edited(sof0, 11, "\xFF"), "sampling"},
        {"table 9", edited(sof0, 12, "\x09"), "uantization"},
        {"lossless", edited(sof0, 1, "\xC3"), "SOF"},
        {"hierarchical", edited(sof0, 1, "\xC5"), "SOF"},
        {"two frames",
         good.substr(0, segment(good, sos)) + good.substr(segment(good, sof0), 19) +
             good.substr(segment(good, sos)),
         "SOF"},
        {"no frame", without(sof0), "SOF"},
        {"no quantisation", without(dqt), "uantization"},
        {"no scan", good.substr(0, segment(good, sos)) + "\xFF\xD9", ""},
        {"Huffman table of 17 codes in one bit", edited(dht, 5, "\xFF"), "Huffman"},
        {"Huffman table 9", edited(dht, 4, "\x09"), ""},
        {"segment of length 0", edited(dqt, 2, "\0\0"s), "length"},
        {"segment of length 65535", edited(dqt, 2, "\xFF\xFF"), ""},
        {"scan of a component that is none", edited(sos, 5, "\x09"), "component"},
        {"scan of 4 components", edited(sos, 4, "\4"), ""},
        {"end missing", good.substr(0, good.size() - 2), "Premature end"},
        {"101 scans", many_scans(101), "100 scans"},
        {"10,000 scans", many_scans(10'000), "100 scans"},
        {"40 million progressive pixels",
         [] {
             std::string file = jpeg_file("progressive.jpg");
             file.replace(segment(file, sof2) + 5, 4, size_bytes(5000, 8000));
             return file;
         }(),
         "too short"},
    };
}

TEST(BadJpeg, EachGivesOneClearErrorInTime) {
    const std::vector<BadJpeg> table = bad_jpegs();
    EXPECT_GE(table.size(), 30u);
    for (const BadJpeg& bad : table) expect_refused(bad.bytes, bad.words, bad.name);
}

TEST(BadJpeg, ManyScansAreReadAsLongAsThereAreNotTooMany) {
    EXPECT_EQ(decode_picture(many_scans(50), "p").width, 14u);
}

TEST(BadJpeg, CutAnywhereItIsRefused) {
    for (const char* name : {"rgb.jpg", "grey.jpg", "progressive.jpg", "turned6.jpg"}) {
        const std::string whole = jpeg_file(name);
        for (std::size_t n = 0; n < whole.size(); ++n)
            expect_refused(whole.substr(0, n), "", std::string(name) + " of " + std::to_string(n));
    }
}

TEST(BadJpeg, OneBitTurnedNeverHarms) {
    for (const char* name : {"rgb.jpg", "progressive.jpg"}) {
        const std::string whole = jpeg_file(name);
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
}

}  // namespace
}  // namespace fovea
