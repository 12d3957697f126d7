// The same bits: attention packed, alone, cached or in full, at every level and precision, and what
// a row does not see cannot reach it.
#include <algorithm>
#include <limits>

#include "fovea/kernels/attention/attention.h"
#include "fovea/kernels/attention/attention_tiles.h"
#include "fovea/kernels/isa.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

constexpr int kHeads = 2;
constexpr std::int64_t kDk = 20, kDv = 12, kLongest = 200;

struct Case {
    const char* name;
    Precision precision;
    Score score;
};

// All scores with parameters long enough for kLongest rows.
std::vector<Case> cases() {
    Rng rng(1);
    const RelativeDot relative{.u = random_tensor({kHeads * kDk}, rng),
                               .v = random_tensor({kHeads * kDk}, rng),
                               .r = random_tensor({2 * kLongest, kHeads * kDk}, rng),
                               .first = -kLongest};
    const BiasedDot biased = BiasedDot::t5(random_tensor({16, kHeads}, rng), true, 100);
    return {{"ScaledDot", Precision::f32, ScaledDot{}},
            {"RelativeDot", Precision::f32, relative},
            {"BiasedDot", Precision::f32, biased},
            {"Additive", Precision::f32, Additive{.w = random_tensor({kHeads * kDk}, rng)}},
            {"ScaledDot bf16", Precision::bf16, ScaledDot{}},
            {"RelativeDot bf16", Precision::bf16, relative},
            {"BiasedDot bf16", Precision::bf16, biased}};
}

// Every case at every level of the machine.
template <class Test>
void for_cases(Test&& test) {
    const kernels::Isa best = kernels::best_isa();
    for (int level = 0; level <= static_cast<int>(best); ++level) {
        kernels::set_isa(static_cast<kernels::Isa>(level));
        for (const Case& c : cases()) {
            SCOPED_TRACE(std::string(c.name) + " on " + name_of(static_cast<kernels::Isa>(level)));
            const PrecisionScope scope(c.precision);
            test(AttentionOptions{.score = c.score});
        }
    }
    kernels::set_isa(best);
}

struct Qkv {
    Tensor q, k, v, dy;
};

Qkv random_rows(std::int64_t nq, std::int64_t nk, Rng& rng) {
    return {random_tensor({nq, kHeads * kDk}, rng), random_tensor({nk, kHeads * kDk}, rng),
            random_tensor({nk, kHeads * kDv}, rng), random_tensor({nq, kHeads * kDv}, rng)};
}

Tensor rows_of(const Tensor& x, std::int64_t begin, std::int64_t end) {
    return Tensor::of({end - begin, x.cols()},
                      x.span().subspan(static_cast<std::size_t>(begin * x.cols()),
                                       static_cast<std::size_t>((end - begin) * x.cols())));
}

struct Result {
    Tensor y, dq, dk, dv;
};

Result run(const Qkv& x, const Visibility& sees, const AttentionOptions& options) {
    Tape tape;
    const Tensor q = tape.watch(rows_of(x.q, 0, x.q.rows()));
    const Tensor k = tape.watch(rows_of(x.k, 0, x.k.rows()));
    const Tensor v = tape.watch(rows_of(x.v, 0, x.v.rows()));
    const Tensor y = attention(q, k, v, kHeads, sees, options);
    const Gradients g = tape.gradients(y, x.dy);
    return {y, g[q], g[k], g[v]};
}

TEST(AttentionBits, PackedIsAlone) {
    for_cases([&](const AttentionOptions& options) {
        Rng rng(2);
        const Segments s = Segments::of_lengths({1, 130, 0, 49, 3, 200});
        const Qkv all = random_rows(s.total(), s.total(), rng);
        for (const bool causal : {false, true}) {
            const Result packed =
                run(all, causal ? past(s) : unite(window(s, 9, 9), columns(s, {0, 1})), options);
            for (std::int64_t g = 0; g < s.count(); ++g) {
                const std::int64_t b = s.begin(g), e = s.end(g);
                const Segments one = Segments::of_lengths({e - b});
                const Result alone = run(
                    {rows_of(all.q, b, e), rows_of(all.k, b, e), rows_of(all.v, b, e),
                     rows_of(all.dy, b, e)},
                    causal ? past(one) : unite(window(one, 9, 9), columns(one, {0, 1})), options);
                EXPECT_TRUE(same_bits(rows_of(packed.y, b, e), alone.y));
                EXPECT_TRUE(same_bits(rows_of(packed.dq, b, e), alone.dq));
                EXPECT_TRUE(same_bits(rows_of(packed.dk, b, e), alone.dk));
                EXPECT_TRUE(same_bits(rows_of(packed.dv, b, e), alone.dv));
            }
        }
    });
}

// A cache of 256 rows, of which the sequence owns two runs with a seam in the middle of a tile;
// everything around is NaN. New rows come in chunks of any size.
TEST(AttentionBits, CachedIsFull) {
    constexpr std::int64_t n = 150, seam = 41;
    for_cases([&](const AttentionOptions& options) {
        Rng rng(3);
        const Qkv x = random_rows(n, n, rng);
        const Tensor full =
            attention(x.q, x.k, x.v, kHeads, past(Segments::uniform(1, n)), options);
        Tensor cache_k = Tensor::full({256, kHeads * kDk}, std::nanf(""));
        Tensor cache_v = Tensor::full({256, kHeads * kDv}, std::nanf(""));
        const auto place = [&](std::int64_t i) { return i < seam ? 200 + i : i - seam + 7; };
        for (std::int64_t i = 0; i < n; ++i) {
            std::copy_n(x.k.data() + i * x.k.cols(), x.k.cols(),
                        cache_k.write() + place(i) * x.k.cols());
            std::copy_n(x.v.data() + i * x.v.cols(), x.v.cols(),
                        cache_v.write() + place(i) * x.v.cols());
        }
        for (const std::int64_t chunk : {1, 2, 3, 7, 8, 9, 16, 31, 64, 100, 150})
            for (std::int64_t begin = 0; begin < n; begin += chunk) {
                const std::int64_t end = std::min(n, begin + chunk);
                const std::vector<KeyList> keys{
                    {{200, std::min(end, seam)}, {7, std::max<std::int64_t>(0, end - seam)}}};
                const Visibility sees = past(keys, Segments::uniform(1, end - begin), 256);
                const Tensor y =
                    attention(rows_of(x.q, begin, end), cache_k, cache_v, kHeads, sees, options);
                ASSERT_TRUE(same_bits(y, rows_of(full, begin, end)))
                    << "rows " << begin << " to " << end;
            }
    });
}

// Rows [0, i] of a causal sequence do not change, whatever comes later.
TEST(AttentionBits, NoLeak) {
    constexpr std::int64_t n = 150;
    for_cases([&](const AttentionOptions& options) {
        Rng rng(4);
        const Qkv x = random_rows(n, n, rng);
        const Visibility sees = past(Segments::uniform(1, n));
        const Tensor before_change = attention(x.q, x.k, x.v, kHeads, sees, options);
        for (const float garbage : {1e30f, std::numeric_limits<float>::infinity(), std::nanf("")})
            for (const std::int64_t i : {0, 17, 63, 64, 100}) {
                Qkv y{rows_of(x.q, 0, n), rows_of(x.k, 0, n), rows_of(x.v, 0, n), x.dy};
                std::fill_n(y.q.write() + (i + 1) * x.q.cols(), x.q.cols(), garbage);
                std::fill_n(y.k.write() + (i + 1) * x.k.cols(), x.k.cols(), garbage);
                std::fill_n(y.v.write() + (i + 1) * x.v.cols(), x.v.cols(), garbage);
                const Tensor after = attention(y.q, y.k, y.v, kHeads, sees, options);
                EXPECT_TRUE(same_bits(rows_of(before_change, 0, i + 1), rows_of(after, 0, i + 1)))
                    << garbage << " behind row " << i;
            }
    });
}

// The gradient too: key rows that rows up to i alone see keep theirs when later rows are garbage.
TEST(AttentionBits, NoLeakBackwards) {
    constexpr std::int64_t n = 100, cut = 70;
    for_cases([&](const AttentionOptions& options) {
        if (std::holds_alternative<RelativeDot>(options.score)) return;  // r is shared by all rows
        Rng rng(5);
        Qkv x = random_rows(n, n, rng);
        // Rows before the cut see only each other; later ones only themselves.
        VisibilityBuilder b(n);
        b.group({.keys = {{0, n}}});
        for (std::int64_t i = 0; i < n; ++i) {
            if (i < cut)
                b.row({{0, cut}});
            else
                b.row({{i, i + 1}});
        }
        const Visibility sees = b.build();
        const Result clean = run(x, sees, options);
        std::fill_n(x.q.write() + cut * x.q.cols(), (n - cut) * x.q.cols(), std::nanf(""));
        std::fill_n(x.v.write() + cut * x.v.cols(), (n - cut) * x.v.cols(), std::nanf(""));
        std::fill_n(x.dy.write() + cut * x.dy.cols(), (n - cut) * x.dy.cols(), std::nanf(""));
        const Result dirty = run(x, sees, options);
        EXPECT_TRUE(same_bits(rows_of(clean.y, 0, cut), rows_of(dirty.y, 0, cut)));
        EXPECT_TRUE(same_bits(rows_of(clean.dq, 0, cut), rows_of(dirty.dq, 0, cut)));
        EXPECT_TRUE(same_bits(rows_of(clean.dk, 0, cut), rows_of(dirty.dk, 0, cut)));
        EXPECT_TRUE(same_bits(rows_of(clean.dv, 0, cut), rows_of(dirty.dv, 0, cut)));
    });
}

TEST(AttentionBits, RowThatSeesNothing) {
    for_cases([&](const AttentionOptions& options) {
        Rng rng(6);
        const Segments s = Segments::of_lengths({1, 70});
        const Qkv x = random_rows(s.total(), s.total(), rng);
        const Result r = run(x, before(s), options);
        for (const std::int64_t row : {0, 1}) {  // the first of each sequence
            for (std::int64_t c = 0; c < r.y.cols(); ++c) EXPECT_EQ(r.y.at(row, c), 0.0f);
            for (std::int64_t c = 0; c < r.dq.cols(); ++c) EXPECT_EQ(r.dq.at(row, c), 0.0f);
        }
        for (std::int64_t c = 0; c < r.dk.cols(); ++c) {  // nobody sees the last ones
            EXPECT_EQ(r.dk.at(0, c), 0.0f);
            EXPECT_EQ(r.dk.at(70, c), 0.0f);
        }
        VisibilityBuilder none(s.total());
        none.group({});
        for (std::int64_t i = 0; i < s.total(); ++i) none.row({});
        if (std::holds_alternative<BiasedDot>(options.score)) return;
        for (const float y : run(x, none.build(), options).y.values()) EXPECT_EQ(y, 0.0f);
    });
}

TEST(AttentionBits, ThreadsAndRepetition) {
    for_cases([&](const AttentionOptions& options) {
        Rng rng(7);
        const Segments s = Segments::of_lengths({5, 200, 0, 64, 33, 12, 1, 90});
        const Qkv x = random_rows(s.total(), s.total(), rng);
        const Visibility sees = past(s);
        set_thread_count(1);
        const Result first = run(x, sees, options);
        for (const int threads : {1, 2, 3, 5, 8}) {
            set_thread_count(threads);
            const Result again = run(x, sees, options);
            EXPECT_TRUE(same_bits(first.y, again.y)) << threads;
            EXPECT_TRUE(same_bits(first.dq, again.dq)) << threads;
            EXPECT_TRUE(same_bits(first.dk, again.dk)) << threads;
            EXPECT_TRUE(same_bits(first.dv, again.dv)) << threads;
        }
        set_thread_count(0);
    });
}

// Lanes are query rows, so vectors of any length compute the same numbers. (Gradients too, but for
// Additive's keys, which are summed across lanes.)
TEST(AttentionBits, LevelsAgree) {
    const kernels::Isa best = kernels::best_isa();
    for (const Case& c : cases()) {
        SCOPED_TRACE(c.name);
        const PrecisionScope scope(c.precision);
        Rng rng(8);
        const Segments s = Segments::of_lengths({70, 3, 130});
        const Qkv x = random_rows(s.total(), s.total(), rng);
        kernels::set_isa(kernels::Isa::scalar);
        const Result scalar = run(x, past(s), {.score = c.score});
        for (int level = 1; level <= static_cast<int>(best); ++level) {
            kernels::set_isa(static_cast<kernels::Isa>(level));
            const Result here = run(x, past(s), {.score = c.score});
            EXPECT_TRUE(same_bits(scalar.y, here.y)) << level;
            EXPECT_TRUE(same_bits(scalar.dq, here.dq)) << level;
            EXPECT_TRUE(same_bits(scalar.dv, here.dv)) << level;
            if (!std::holds_alternative<Additive>(c.score)) {
                EXPECT_TRUE(same_bits(scalar.dk, here.dk)) << level;
            }
        }
    }
    kernels::set_isa(best);
}

// bf16 rounds operands to 8 bits: near f32, never equal to it. (Reliability P26: 2e-2.)
TEST(AttentionBits, Bf16IsNearF32) {
    Rng rng(10);
    const Segments s = Segments::of_lengths({70, 3, 130});
    const Qkv x = random_rows(s.total(), s.total(), rng);
    const auto apart = [](const Tensor& a, const Tensor& b) {
        double difference = 0, norm = 0;
        for (std::int64_t i = 0; i < a.size(); ++i) {
            difference += std::pow(a.data()[i] - b.data()[i], 2);
            norm += std::pow(b.data()[i], 2);
        }
        return std::sqrt(difference / norm);
    };
    for (const Case& c : cases()) {
        if (c.precision != Precision::bf16) continue;
        SCOPED_TRACE(c.name);
        const Result exact = run(x, past(s), {.score = c.score});
        const PrecisionScope scope(Precision::bf16);
        const Result rounded = run(x, past(s), {.score = c.score});
        for (const auto& [a, b] :
             {std::pair{rounded.y, exact.y}, std::pair{rounded.dq, exact.dq},
              std::pair{rounded.dk, exact.dk}, std::pair{rounded.dv, exact.dv}}) {
            EXPECT_LT(apart(a, b), 2e-2);
            EXPECT_GT(apart(a, b), 1e-5);
        }
    }
}

// Twice the rows, twice the tiles: a window costs n·w, also with a global key at the far end.
TEST(AttentionBits, WindowCostsGrowLinearly) {
    Rng rng(9);
    std::vector<std::int64_t> visited;
    for (const std::int64_t n : {4096, 8192, 16384}) {
        const Segments s = Segments::uniform(1, n);
        const Tensor x = random_tensor({n, 8}, rng);
        const std::int64_t start = kernels::attention_tiles_visited();
        attention(x, x, x, 1, unite(window(s, 32, 32), columns(s, {0})));
        visited.push_back(kernels::attention_tiles_visited() - start);
    }
    EXPECT_LT(visited[0], 4096 / 48 * 5);
    EXPECT_LE(visited[1], 2 * visited[0] + 4);
    EXPECT_LE(visited[2], 2 * visited[1] + 4);
}

}  // namespace
}  // namespace fovea
