#include "fovea/tensor/visibility.h"

#include <gtest/gtest.h>

#include <functional>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

using Mask = std::function<bool(std::int64_t sequence, std::int64_t i, std::int64_t j)>;

const std::vector<std::vector<std::int64_t>> kLengths = {
    {}, {0}, {1}, {5}, {3, 0, 4}, {1, 17, 2, 33}, {0, 0, 6, 0}};

// Every pair of packed rows, asked one by one.
void expect_mask(const Visibility& v, const Segments& q, const Segments& k, const Mask& mask,
                 std::int64_t first_key = 0) {
    ASSERT_EQ(v.queries(), q.total());
    for (std::int64_t a = 0; a < q.count(); ++a)
        for (std::int64_t i = q.begin(a); i < q.end(a); ++i) {
            std::int64_t count = 0;
            for (std::int64_t b = 0; b < k.count(); ++b)
                for (std::int64_t j = k.begin(b); j < k.end(b); ++j) {
                    const bool want = a == b && mask(a, i - q.begin(a), j - k.begin(b));
                    count += want;
                    ASSERT_EQ(v.sees(i, first_key + j), want) << "row " << i << ", key " << j;
                }
            ASSERT_EQ(v.visible(i), count);
        }
}

// Intervals sorted, disjoint, not adjacent, within the list; groups in order and complete.
void expect_sound(const Visibility& visibility) {
    const VisibilityView v = visibility.view();
    std::int64_t next = 0;
    for (const VisibleGroup& g : v.groups) {
        EXPECT_EQ(g.q_begin, next);
        next = g.q_end;
        std::int64_t keys = 0;
        for (const KeyRun& r : v.runs_of(g)) keys += r.count;
        EXPECT_EQ(keys, g.keys);
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
            std::int64_t last = -1;
            for (const KeyInterval& x : v.of_row(i)) {
                EXPECT_GT(x.begin, last);
                EXPECT_LT(x.begin, x.end);
                EXPECT_LE(x.end, g.keys);
                last = x.end;
            }
        }
    }
    EXPECT_EQ(next, v.queries);
    EXPECT_EQ(v.cluster_groups.size(), v.groups.size());
}

void check_self(const std::function<Visibility(const Segments&)>& build, const Mask& mask) {
    for (const auto& lengths : kLengths) {
        const Segments s = Segments::of_lengths(lengths);
        const Visibility v = build(s);
        EXPECT_EQ(v.keys(), s.total());
        expect_sound(v);
        expect_mask(v, s, s, mask);
    }
}

TEST(Visibility, Everything) {
    check_self([](const Segments& s) { return everything(s, s); },
               [](auto, auto, auto) { return true; });
    const Segments q = Segments::of_lengths({2, 0, 5}), k = Segments::of_lengths({3, 4, 0});
    const Visibility v = everything(q, k);
    EXPECT_EQ(v.keys(), 7);
    expect_mask(v, q, k, [](auto, auto, auto) { return true; });
    EXPECT_THROW(everything(q, Segments::of_lengths({3, 4})), Error);
}

TEST(Visibility, PastAndBefore) {
    check_self([](const Segments& s) { return past(s); },
               [](auto, auto i, auto j) { return j <= i; });
    check_self([](const Segments& s) { return before(s); },
               [](auto, auto i, auto j) { return j < i; });
}

TEST(Visibility, Window) {
    for (const auto& sides :
         std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {0, 2}, {3, 4}, {99, 99}}) {
        const int l = sides.first, r = sides.second;  // clang 14 cannot capture bindings
        check_self([&](const Segments& s) { return window(s, l, r); },
                   [&](auto, auto i, auto j) { return j >= i - l && j <= i + r; });
    }
    EXPECT_THROW(window(Segments::uniform(1, 4), -1, 0), Error);
}

TEST(Visibility, Prefix) {
    for (const int p : {0, 1, 3, 99})
        check_self([&](const Segments& s) { return prefix(s, p); },
                   [&](auto, auto i, auto j) { return j < p || j <= i; });
    const Segments s = Segments::of_lengths({4, 6});
    const std::vector<std::int64_t> p{1, 5};
    expect_mask(prefix(s, p), s, s, [&](auto g, auto i, auto j) {
        return j < p[static_cast<std::size_t>(g)] || j <= i;
    });
    EXPECT_THROW(prefix(s, std::vector<std::int64_t>{1}), Error);
}

TEST(Visibility, ColumnsRowsAndUnite) {
    check_self(
        [](const Segments& s) {
            return columns(s, {2, 0});
        },
        [](auto, auto, auto j) { return j == 0 || j == 2; });
    check_self([](const Segments& s) { return global_rows(s, {1}); },
               [](auto, auto i, auto) { return i == 1; });
    check_self(
        [](const Segments& s) {
            return unite(unite(window(s, 1, 1), columns(s, {0})), global_rows(s, {0}));
        },
        [](auto, auto i, auto j) { return std::abs(i - j) <= 1 || j == 0 || i == 0; });
    const Segments s = Segments::uniform(2, 3);
    EXPECT_THROW(unite(past(s), past(Segments::of_lengths({2, 4}))), Error);
    EXPECT_THROW(unite(past(s), past(Segments::uniform(3, 2))), Error);
}

TEST(Visibility, Around) {
    const Segments q = Segments::of_lengths({3, 2}), k = Segments::of_lengths({7, 4});
    const std::vector<float> centres{0.0f, 3.4f, 100.0f, -2.5f, 1.5f};
    expect_mask(around(q, k, centres, 2), q, k, [&](auto g, auto i, auto j) {
        const double c = centres[static_cast<std::size_t>(q.begin(g) + i)];
        return std::abs(static_cast<double>(j) - c) <= 2;
    });
    EXPECT_THROW(around(q, k, std::vector<float>{1.0f}, 2), Error);
    EXPECT_THROW(around(q, k, std::vector<float>(5, std::nanf("")), 2), Error);
}

TEST(Visibility, Window2d) {
    for (const int images : {0, 1, 2})
        for (const int ry : {0, 1, 5})
            for (const int rx : {0, 2}) {
                const Segments s = Segments::uniform(images, 4 * 5);
                const Visibility v = window_2d(images, 4, 5, ry, rx);
                expect_sound(v);
                expect_mask(v, s, s, [&](auto, auto i, auto j) {
                    return std::abs(i / 5 - j / 5) <= ry && std::abs(i % 5 - j % 5) <= rx;
                });
            }
}

// Keys: all memories, then all rows of the segments.
TEST(Visibility, Memory) {
    const Segments m = Segments::of_lengths({2, 0, 3}), s = Segments::of_lengths({3, 4, 1});
    for (const bool strict : {false, true}) {
        const Visibility v = strict ? with_memory(m, before(s)) : past(m, s);
        EXPECT_EQ(v.keys(), m.total() + s.total());
        expect_sound(v);
        for (std::int64_t g = 0; g < s.count(); ++g)
            for (std::int64_t i = 0; i < s.length(g); ++i)
                for (std::int64_t key = 0; key < v.keys(); ++key) {
                    const bool in_memory = key >= m.begin(g) && key < m.end(g);
                    const std::int64_t j = key - m.total() - s.begin(g);
                    const bool in_segment = j >= 0 && (strict ? j < i : j <= i);
                    EXPECT_EQ(v.sees(s.begin(g) + i, key), in_memory || in_segment);
                }
        EXPECT_EQ(v.view().groups[2].position, 3);
    }
    EXPECT_THROW(past(Segments::uniform(1, 2), s), Error);
}

TEST(Visibility, CacheWithSharedPrefix) {
    // 40 rows of cache; two beams share rows 8..12 and own rows 20.. and 30..; a third is alone.
    const std::vector<KeyList> lists{{{8, 4}, {20, 2}}, {{8, 4}, {30, 3}}, {{0, 1}}};
    const Segments fresh = Segments::of_lengths({1, 2, 1});
    const Visibility v = past(lists, fresh, 40);
    expect_sound(v);
    for (std::int64_t g = 0; g < 3; ++g) {
        std::vector<std::int64_t> rows;
        for (const KeyRun& r : lists[static_cast<std::size_t>(g)])
            for (std::int64_t j = 0; j < r.count; ++j) rows.push_back(r.row + j);
        for (std::int64_t i = 0; i < fresh.length(g); ++i) {
            const auto seen = static_cast<std::int64_t>(rows.size()) - fresh.length(g) + i + 1;
            for (std::int64_t key = 0; key < 40; ++key) {
                const auto at = std::find(rows.begin(), rows.begin() + seen, key);
                EXPECT_EQ(v.sees(fresh.begin(g) + i, key), at != rows.begin() + seen);
            }
        }
    }
    EXPECT_EQ(v.view().clusters(), 2);  // the beams; the lone one
    EXPECT_THROW(past(lists, Segments::of_lengths({7, 2, 1}), 40), Error);
    EXPECT_THROW(past(lists, fresh, 32), Error);
}

TEST(Visibility, CrossAttentionOfBeams) {
    const std::vector<KeyList> lists{{{0, 4}}, {{0, 4}}, {{4, 3}}};
    const Segments q = Segments::of_lengths({1, 1, 2});
    const Visibility v = everything(q, lists, 7);
    expect_sound(v);
    EXPECT_EQ(v.view().clusters(), 2);
    EXPECT_TRUE(v.sees(1, 3));
    EXPECT_FALSE(v.sees(1, 4));
    EXPECT_TRUE(v.sees(3, 6));
}

// Expanded window: rows see their neighbours, and summary rows appended behind all keys.
TEST(Visibility, WindowAndSummaries) {
    const Segments s = Segments::of_lengths({5, 3}), summaries = Segments::of_lengths({2, 1});
    const Visibility v =
        unite(window(s, 1, 0), shift_keys(everything(s, summaries), s.total(), 11));
    EXPECT_EQ(v.keys(), 11);
    expect_sound(v);
    for (std::int64_t g = 0; g < 2; ++g)
        for (std::int64_t i = s.begin(g); i < s.end(g); ++i)
            for (std::int64_t key = 0; key < 11; ++key) {
                const bool near = key >= s.begin(g) && key < s.end(g) && (key == i || key == i - 1);
                const std::int64_t x = key - s.total();
                const bool summary = x >= summaries.begin(g) && x < summaries.end(g);
                EXPECT_EQ(v.sees(i, key), near || summary) << i << " " << key;
            }
    EXPECT_THROW(shift_keys(past(s), 4, 11), Error);
}

TEST(Visibility, ClustersAgreeWithBruteForce) {
    Rng rng(5);
    for (int round = 0; round < 200; ++round) {
        const std::int64_t groups = 1 + rng.below(8);
        VisibilityBuilder b(60);
        std::vector<KeyRun> runs;
        for (std::int64_t g = 0; g < groups; ++g) {
            runs.push_back({rng.below(50), rng.below(10)});
            b.group({.keys = {runs.back()}});
            b.row({{0, runs.back().count}});
        }
        std::vector<std::int64_t> label(static_cast<std::size_t>(groups));
        for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<std::int64_t>(i);
        for (int pass = 0; pass < 10; ++pass)
            for (std::size_t i = 0; i < label.size(); ++i)
                for (std::size_t j = 0; j < label.size(); ++j)
                    if (runs[i].count > 0 && runs[j].count > 0 &&
                        runs[i].row < runs[j].row + runs[j].count &&
                        runs[j].row < runs[i].row + runs[i].count)
                        label[i] = label[j] = std::min(label[i], label[j]);
        const Visibility v = b.build();
        const VisibilityView view = v.view();
        std::vector<std::int64_t> found(label.size());
        for (std::int64_t c = 0; c < view.clusters(); ++c) {
            const auto begin = view.cluster_offsets[static_cast<std::size_t>(c)];
            const auto end = view.cluster_offsets[static_cast<std::size_t>(c) + 1];
            for (std::int64_t x = begin; x < end; ++x)
                found[static_cast<std::size_t>(view.cluster_groups[static_cast<std::size_t>(x)])] =
                    view.cluster_groups[static_cast<std::size_t>(begin)];
        }
        EXPECT_EQ(found, label);
    }
}

TEST(Visibility, BadBuilding) {
    VisibilityBuilder b(10);
    EXPECT_THROW(b.row({{0, 1}}), Error);
    EXPECT_THROW(b.group({.keys = {{8, 3}}}), Error);
    EXPECT_THROW(b.group({.keys = {{0, 3}, {2, 2}}}), Error);
    b.group({.keys = {{0, 3}}});
    EXPECT_THROW(b.row({{0, 4}}), Error);
    b.row({{2, 3}, {0, 1}, {1, 2}});
    const Visibility v = b.build();
    EXPECT_EQ(v.view().intervals.size(), 1u);
    EXPECT_EQ(Visibility().queries(), 0);
}

}  // namespace
}  // namespace fovea
