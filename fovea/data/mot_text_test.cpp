#include "fovea/data/mot_text.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(MotText, ReadsWhatItWrites) {
    const std::vector<TrackLine> lines = {{0, 3, 0, 4.5, 10, 11}, {7, 4, -2, 0, 1, 2.25}};
    const std::string text = mot_text(lines);
    EXPECT_TRUE(text.starts_with("1,3,1,5.5,10,11,1,-1,-1,-1\n")) << text;
    const auto again = parse_mot_text(text, "t");
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ(mot_text(again), text);
    EXPECT_EQ(again[1].frame, 7);
    EXPECT_DOUBLE_EQ(again[1].left, -2);
    EXPECT_EQ(parse_mot_text(" 1 , 2 , 3 , 4 , 5 , 6 \r\n\n", "t").size(), 1u);
    EXPECT_TRUE(parse_mot_text("", "t").empty());
}

TEST(MotText, SaysWhatIsWrongWhere) {
    const std::pair<const char*, const char*> table[] = {
        {"1,2,3,4,5", "t:1: is not a box"},
        {"1,1,1,1,1,1\nframe,id,x,y,w,h", "t:2: is not a box"},
        {"1,1,nan,1,1,1", "is not a box"},
        {"1,1,1e300,1,1,1", "is not a box"},
        {"1,1,1,1,1,1x", "is not a box"},
        {"0,1,1,1,1,1", "frames from 1"},
        {"1.5,1,1,1,1,1", "whole numbers"},
        {"9999999,1,1,1,1,1", "whole numbers"},
        {"1,1,1,1,0,1", "0 × 1 pixels"},
        {"1,1,1,1,1,-4", "-4 pixels"},
        {"1,1,1,1,1,1\n1,1,2,2,1,1", "t:2: track 1 is twice in frame 1"},
    };
    for (const auto& [text, words] : table) {
        try {
            parse_mot_text(text, "t");
            ADD_FAILURE() << text;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
    }
}

}  // namespace
}  // namespace fovea
