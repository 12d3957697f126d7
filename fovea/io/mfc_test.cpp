#include "fovea/io/mfc.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string mfc(std::uint32_t count, const std::vector<float>& values, bool big) {
    std::string out;
    const auto put = [&](std::uint32_t w) {
        if (big) w = __builtin_bswap32(w);
        out.append(reinterpret_cast<const char*>(&w), 4);
    };
    put(count);
    for (const float v : values) {
        std::uint32_t w;
        std::memcpy(&w, &v, 4);
        put(w);
    }
    return out;
}

TEST(Mfc, BothByteOrdersAreRead) {
    std::vector<float> values(26);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 7.5f;
    for (const bool big : {true, false}) {
        const Tensor t = parse_mfc(mfc(26, values, big), "a.mfc");
        EXPECT_EQ(t.shape(), Shape({2, 13}));
        EXPECT_EQ(t.values(), values);
    }
}

TEST(Mfc, BadFilesAreRefused) {
    const std::vector<float> one(13, 1.0f);
    std::vector<float> odd = one;
    odd[3] = std::numeric_limits<float>::infinity();
    struct Case {
        std::string bytes, says;
    };
    const Case cases[] = {
        {"", "no header"},
        {"abc", "no header"},
        {mfc(14, one, true), "says 14 values"},
        {mfc(12, one, false), "values, but there are 52 bytes"},
        {mfc(13, one, true).substr(0, 54), "but there are 50 bytes"},
        {mfc(0, {}, true), "no values"},
        {mfc(12, std::vector<float>(12, 1), true), "12 values do not make frames of 13"},
        {mfc(13, odd, true), "value 3 is not a number"},
        {mfc(13 * 60001, std::vector<float>(13 * 60001), true), "60001 frames"},
    };
    for (const Case& c : cases) try {
            parse_mfc(c.bytes, "a.mfc");
            ADD_FAILURE() << c.says;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(c.says), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
}

}  // namespace
}  // namespace fovea
