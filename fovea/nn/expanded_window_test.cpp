#include "fovea/nn/expanded_window.h"

#include <algorithm>
#include <set>

#include "fovea/ops/attention/attention.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

// The rows of the sequence that a key of its list stands for.
std::vector<std::int64_t> rows_behind(std::int64_t key, std::int64_t n, std::int64_t w,
                                      std::int64_t m) {
    if (key < n) return {key};
    key -= n;
    for (std::int64_t level = 0, size = w; level < m; ++level, size *= 2) {
        const std::int64_t blocks = (n + size - 1) / size;
        if (key >= blocks) {
            key -= blocks;
            continue;
        }
        std::vector<std::int64_t> rows;
        for (std::int64_t r = key * size; r < std::min(n, (key + 1) * size); ++r) rows.push_back(r);
        return rows;
    }
    return {};
}

TEST(ExpandedWindow, SeesTheWindowAndGrowingSpansWithoutAGap) {
    const std::int64_t n = 37, w = 2, m = 3;
    const ExpandedWindow window(Segments::of_lengths({n}), w, m);
    for (std::int64_t p = 0; p < n; ++p) {
        std::set<std::int64_t> covered;
        std::int64_t keys = 0;
        for (const KeyInterval& x : window.sees(0, p))
            for (std::int64_t k = x.begin; k < x.end; ++k, ++keys)
                for (const std::int64_t r : rows_behind(k, n, w, m)) covered.insert(r);
        EXPECT_LE(keys, 2 * w + 1 + 2 * m);
        for (std::int64_t r = std::max<std::int64_t>(0, p - w); r <= std::min(n - 1, p + w); ++r)
            EXPECT_TRUE(covered.count(r)) << p;
        // One run of rows, which reaches at least one row further with each level.
        EXPECT_EQ(*covered.rbegin() - *covered.begin() + 1,
                  static_cast<std::int64_t>(covered.size()))
            << p;
        EXPECT_GE(*covered.rbegin(), std::min(n - 1, p + w + m)) << p;
        EXPECT_LE(*covered.begin(), std::max<std::int64_t>(0, p - w - m)) << p;
    }
}

// By hand: n = 9, w = 2, m = 2; row 4 sees 2 … 6, to the right the block 6 7 of level 1 and 8 of
// level 2, to the left 0 1, and nothing further.
TEST(ExpandedWindow, AnExampleByHand) {
    const ExpandedWindow window(Segments::of_lengths({9}), 2, 2);
    const std::vector<KeyInterval> expected{
        {2, 7}, {9 + 3, 9 + 4}, {9 + 0, 9 + 1}, {9 + 5 + 2, 9 + 5 + 3}};
    EXPECT_EQ(window.sees(0, 4), expected);
    EXPECT_EQ(window.keys(), 9 + 5 + 3);
    Tensor x({9, 1});
    for (int i = 0; i < 9; ++i) x.write()[i] = static_cast<float>(i);
    const Tensor all = window.appended(x);
    EXPECT_EQ(all.at(12, 0), 6.5f);  // rows 6 and 7
    EXPECT_EQ(all.at(14, 0), 1.5f);  // rows 0 … 3
    EXPECT_EQ(all.at(16, 0), 8.0f);  // row 8 alone
}

TEST(ExpandedWindow, SelfAttentionIsTheSamePackedAndAlone) {
    Rng rng(3);
    const Segments both = Segments::of_lengths({11, 23});
    const Tensor x = random_tensor({34, 8}, rng);
    const auto run = [](const Tensor& rows, const Segments& s) {
        const ExpandedWindow window(s, 2, 3);
        const Tensor keys = window.appended(rows);
        return attention(rows, keys, keys, 2, expanded_self(window, s));
    };
    const Tensor packed = run(x, both);
    for (std::int64_t s = 0; s < 2; ++s)
        EXPECT_TRUE(same_bits(
            run(slice_rows(x, both.begin(s), both.end(s)), Segments::of_lengths({both.length(s)})),
            slice_rows(packed, both.begin(s), both.end(s))));
}

TEST(ExpandedWindow, AWindowOfNothingIsAnError) {
    EXPECT_THROW(ExpandedWindow(Segments::of_lengths({9}), 0, 2), Error);
    EXPECT_THROW(ExpandedWindow(Segments::of_lengths({9}), 2, 0), Error);
}

}  // namespace
}  // namespace fovea
