#include "fovea/train/tensorboard.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/base/files.h"

namespace fovea {
namespace {

TEST(TensorBoard, Crc32cKnownAnswer) {
    EXPECT_EQ(crc32c("123456789"), 0xe3069283u);  // the check value of CRC-32C
}

TEST(TensorBoard, RecordsAreWholeAndChecked) {
    const std::string folder = testing::TempDir() + "/fovea_events";
    std::string path;
    {
        TensorBoard tb(folder);
        tb.scalar("loss", 1.5, 300);
        path = tb.path();
    }
    const std::string bytes = read_file(path);
    std::size_t at = 0;
    int records = 0;
    std::string last;
    while (at < bytes.size()) {
        std::uint64_t n = 0;
        std::uint32_t sum = 0;
        std::memcpy(&n, bytes.data() + at, 8);
        std::memcpy(&sum, bytes.data() + at + 12 + n, 4);
        last = bytes.substr(at + 12, n);
        const std::uint32_t c = crc32c(last);
        EXPECT_EQ(sum, ((c >> 15) | (c << 17)) + 0xa282ead8u);
        at += 16 + n;
        ++records;
    }
    EXPECT_EQ(at, bytes.size());
    EXPECT_EQ(records, 2);
    EXPECT_NE(last.find("loss"), std::string::npos);
    EXPECT_NE(last.find(std::string("\x10\xac\x02", 3)), std::string::npos);  // step 300
    std::remove(path.c_str());
}

}  // namespace
}  // namespace fovea
