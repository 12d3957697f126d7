#include "fovea/infer/constraints.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Constraints, ProgressAndStartingOver) {
    const std::vector<Ids> phrases = {{1, 2, 3}, {9}};
    ConstraintState s(&phrases);
    EXPECT_FALSE(s.all_met());
    s = s.after(1).after(2);
    EXPECT_EQ(s.progress(), 2);
    s = s.after(7);  // left half-way
    EXPECT_EQ(s.progress(), 0);
    s = s.after(1).after(2).after(3);
    EXPECT_EQ(s.progress(), 3);
    EXPECT_EQ(s.wanted(), (std::vector<std::int32_t>{9}));
    EXPECT_TRUE(s.after(9).all_met());
    const std::vector<Ids> nothing = {{}};
    EXPECT_TRUE(ConstraintState(&nothing).all_met());
}

}  // namespace
}  // namespace fovea
