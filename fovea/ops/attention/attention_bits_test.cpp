// The same bits: attention packed, alone, cached or in full, at every level and precision, and what
// a row does not see cannot reach it.
#include <algorithm>
#include <limits>
#include <optional>

#include "fovea/base/precision.h"
#include "fovea/kernels/attention/attention_tiles.h"
#include "fovea/ops/attention/score_example.h"

namespace fovea {
namespace {

const ScoreSizes kSizes;

// A score at a precision; rows carry their numbers along.
struct Case {
    const ScoreExample& example;
    Precision precision;
};

// Every score at both precisions and every level of the machine.
template <class Test>
void for_cases(Test&& test) {
    at_every_level([&] {
        for_every_score([&](const ScoreExample& example) {
            for (const Precision precision : {Precision::f32, Precision::bf16}) {
                if (precision == Precision::bf16 && !example.rounds) continue;  // f32 again
                SCOPED_TRACE(name_of(precision));
                const PrecisionScope scope(precision);
                test(Case{example, precision});
            }
        });
    });
}

struct Qkv {
    Tensor q, k, v, dy;
    RowNumbers rows;
};

Qkv random_rows(std::int64_t nq, std::int64_t nk, Rng& rng) {
    Qkv x{random_tensor({nq, kSizes.heads * kSizes.dk}, rng),
          random_tensor({nk, kSizes.heads * kSizes.dk}, rng),
          random_tensor({nk, kSizes.heads * kSizes.dv}, rng),
          random_tensor({nq, kSizes.heads * kSizes.dv}, rng),
          {}};
    for (std::int64_t i = 0; i < nq; ++i) x.rows.q.push_back(i);
    for (std::int64_t i = 0; i < nk; ++i) x.rows.k.push_back(i);
    return x;
}

Tensor rows_of(const Tensor& x, std::int64_t begin, std::int64_t end) {
    return Tensor::of({end - begin, x.cols()},
                      x.span().subspan(static_cast<std::size_t>(begin * x.cols()),
                                       static_cast<std::size_t>((end - begin) * x.cols())));
}

std::vector<std::int64_t> rows_of(const std::vector<std::int64_t>& x, std::int64_t begin,
                                  std::int64_t end) {
    return {x.begin() + begin, x.begin() + end};
}

Qkv rows_of(const Qkv& x, std::int64_t b, std::int64_t e) {
    return {rows_of(x.q, b, e),
            rows_of(x.k, b, e),
            rows_of(x.v, b, e),
            rows_of(x.dy, b, e),
            {rows_of(x.rows.q, b, e), rows_of(x.rows.k, b, e)}};
}

AttentionOptions options_of(const Case& c, const RowNumbers& rows) {
    return c.example.options(c.example.parameters(kSizes, rows), kSizes, rows);
}

Tensor forward(const Case& c, const Qkv& x, const Visibility& sees) {
    return attention(x.q, x.k, x.v, kSizes.heads, sees, options_of(c, x.rows));
}

struct Result {
    Tensor y, dq, dk, dv;
    std::vector<Tensor> dparameters;
};

Result run(const Case& c, const Qkv& x, const Visibility& sees) {
    Tape tape;
    const Qkv in = rows_of(x, 0, x.q.rows());
    const Tensor q = tape.watch(in.q), k = tape.watch(in.k), v = tape.watch(in.v);
    std::vector<Tensor> parameters = c.example.parameters(kSizes, x.rows);
    for (Tensor& p : parameters) p = tape.watch(p);
    const Tensor y =
        attention(q, k, v, kSizes.heads, sees, c.example.options(parameters, kSizes, x.rows));
    const Gradients g = tape.gradients(y, x.dy);
    Result r{y, g[q], g[k], g[v], {}};
    for (const Tensor& p : parameters) r.dparameters.push_back(g[p]);
    return r;
}

// Rows [begin, end) of a, and all of b. The gradients of parameters where these are shared by all
// rows: nowhere but between whole results.
void expect_same_rows(const Result& a, std::int64_t begin, std::int64_t end, const Result& b) {
    EXPECT_TRUE(same_bits(rows_of(a.y, begin, end), b.y));
    EXPECT_TRUE(same_bits(rows_of(a.dq, begin, end), b.dq));
    EXPECT_TRUE(same_bits(rows_of(a.dk, begin, end), b.dk));
    EXPECT_TRUE(same_bits(rows_of(a.dv, begin, end), b.dv));
}

void expect_same(const Result& a, const Result& b) {
    expect_same_rows(a, 0, a.y.rows(), b);
    for (std::size_t i = 0; i < a.dparameters.size(); ++i)
        EXPECT_TRUE(same_bits(a.dparameters[i], b.dparameters[i])) << "parameter " << i;
}

TEST(AttentionBits, PackedIsAlone) {
    for_cases([&](const Case& c) {
        Rng rng(2);
        const Segments s = Segments::of_lengths({1, 130, 0, 49, 3, 200});
        const Qkv all = random_rows(s.total(), s.total(), rng);
        for (const bool causal : {false, true}) {
            const auto sees = [&](const Segments& of) {
                return causal ? past(of) : unite(window(of, 9, 9), columns(of, {0, 1}));
            };
            const Result packed = run(c, all, sees(s));
            for (std::int64_t g = 0; g < s.count(); ++g) {
                const std::int64_t b = s.begin(g), e = s.end(g);
                expect_same_rows(packed, b, e,
                                 run(c, rows_of(all, b, e), sees(Segments::of_lengths({e - b}))));
            }
        }
    });
}

// A cache of 256 rows, of which the sequence owns two runs with a seam in the middle of a tile;
// everything around is NaN. New rows come in chunks of any size.
TEST(AttentionBits, CachedIsFull) {
    constexpr std::int64_t n = 150, seam = 41;
    for_cases([&](const Case& c) {
        Rng rng(3);
        const Qkv x = random_rows(n, n, rng);
        const Tensor full = forward(c, x, past(Segments::uniform(1, n)));
        Qkv cached{{},
                   Tensor::full({256, x.k.cols()}, std::nanf("")),
                   Tensor::full({256, x.v.cols()}, std::nanf("")),
                   {},
                   {{}, std::vector<std::int64_t>(256)}};
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t place = i < seam ? 200 + i : i - seam + 7;
            std::copy_n(x.k.data() + i * x.k.cols(), x.k.cols(),
                        cached.k.write() + place * x.k.cols());
            std::copy_n(x.v.data() + i * x.v.cols(), x.v.cols(),
                        cached.v.write() + place * x.v.cols());
            cached.rows.k[static_cast<std::size_t>(place)] = i;
        }
        for (const std::int64_t chunk : {1, 3, 8, 9, 31, 64, 100})
            for (std::int64_t begin = 0; begin < n; begin += chunk) {
                const std::int64_t end = std::min(n, begin + chunk);
                const std::vector<KeyList> keys{
                    {{200, std::min(end, seam)}, {7, std::max<std::int64_t>(0, end - seam)}}};
                cached.q = rows_of(x.q, begin, end);
                cached.rows.q = rows_of(x.rows.q, begin, end);
                ASSERT_TRUE(same_bits(
                    forward(c, cached, past(keys, Segments::uniform(1, end - begin), 256)),
                    rows_of(full, begin, end)))
                    << "rows " << begin << " to " << end;
            }
    });
}

void spoil(Tensor& x, std::int64_t begin, std::int64_t end, float garbage) {
    std::fill_n(x.write() + begin * x.cols(), (end - begin) * x.cols(), garbage);
}

// Rows [0, i] of a causal sequence do not change, whatever comes later.
TEST(AttentionBits, NoLeak) {
    constexpr std::int64_t n = 150;
    for_cases([&](const Case& c) {
        Rng rng(4);
        const Qkv x = random_rows(n, n, rng);
        const Visibility sees = past(Segments::uniform(1, n));
        const Tensor before_change = forward(c, x, sees);
        for (const float garbage : {1e30f, std::numeric_limits<float>::infinity(), std::nanf("")})
            for (const std::int64_t i : {0, 17, 63, 64, 100}) {
                Qkv y = rows_of(x, 0, n);
                for (Tensor* t : {&y.q, &y.k, &y.v}) spoil(*t, i + 1, i + 2, garbage);
                EXPECT_TRUE(same_bits(rows_of(before_change, 0, i + 1),
                                      rows_of(forward(c, y, sees), 0, i + 1)))
                    << garbage << " behind row " << i;
            }
    });
}

// The gradient too: key rows that rows up to i alone see keep theirs when later rows are garbage.
TEST(AttentionBits, NoLeakBackwards) {
    constexpr std::int64_t n = 100, cut = 70;
    for_cases([&](const Case& c) {
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
        const Result clean = run(c, x, sees);
        for (Tensor* t : {&x.q, &x.v, &x.dy}) spoil(*t, cut, n, std::nanf(""));
        const Result dirty = run(c, x, sees);
        const Result kept{rows_of(dirty.y, 0, cut),
                          rows_of(dirty.dq, 0, cut),
                          rows_of(dirty.dk, 0, cut),
                          rows_of(dirty.dv, 0, cut),
                          {}};
        expect_same_rows(clean, 0, cut, kept);
    });
}

TEST(AttentionBits, RowThatSeesNothing) {
    for_cases([&](const Case& c) {
        Rng rng(6);
        const Segments s = Segments::of_lengths({1, 70});
        const Qkv x = random_rows(s.total(), s.total(), rng);
        const Result r = run(c, x, before(s));
        for (const std::int64_t row : {0, 1}) {  // the first of each sequence
            for (std::int64_t i = 0; i < r.y.cols(); ++i) EXPECT_EQ(r.y.at(row, i), 0.0f);
            for (std::int64_t i = 0; i < r.dq.cols(); ++i) EXPECT_EQ(r.dq.at(row, i), 0.0f);
        }
        for (std::int64_t i = 0; i < r.dk.cols(); ++i) {  // nobody sees the last ones
            EXPECT_EQ(r.dk.at(0, i), 0.0f);
            EXPECT_EQ(r.dk.at(70, i), 0.0f);
        }
        VisibilityBuilder none(s.total());
        none.group({});
        for (std::int64_t i = 0; i < s.total(); ++i) none.row({});
        const Result nothing = run(c, x, none.build());
        for (const float y : nothing.y.values()) EXPECT_EQ(y, 0.0f);
        for (const Tensor& p : nothing.dparameters)
            for (const float g : p.values()) EXPECT_EQ(g, 0.0f);
    });
}

TEST(AttentionBits, ThreadsAndRepetition) {
    for_cases([&](const Case& c) {
        Rng rng(7);
        const Segments s = Segments::of_lengths({5, 200, 0, 64, 33, 12, 1, 90});
        const Qkv x = random_rows(s.total(), s.total(), rng);
        set_thread_count(1);
        const Result first = run(c, x, past(s));
        for (const int threads : {1, 3, 8}) {
            set_thread_count(threads);
            SCOPED_TRACE(threads);
            expect_same(first, run(c, x, past(s)));
        }
        set_thread_count(0);
    });
}

// Lanes are query rows, so vectors of any length compute the same numbers; gradients too.
TEST(AttentionBits, LevelsAgree) {
    for_every_score([&](const ScoreExample& example) {
        for (const Precision precision : {Precision::f32, Precision::bf16}) {
            SCOPED_TRACE(name_of(precision));
            const PrecisionScope scope(precision);
            const Case c{example, precision};
            Rng rng(8);
            const Segments s = Segments::of_lengths({70, 3, 130});
            const Qkv x = random_rows(s.total(), s.total(), rng);
            std::optional<Result> first;
            at_every_level([&] {
                const Result here = run(c, x, past(s));
                if (first) expect_same(*first, here);
                first = here;
            });
        }
    });
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
    for_every_score([&](const ScoreExample& example) {
        const Result exact = run({example, Precision::f32}, x, past(s));
        const PrecisionScope scope(Precision::bf16);
        const Result rounded = run({example, Precision::bf16}, x, past(s));
        if (!example.rounds) {
            expect_same(exact, rounded);
            return;
        }
        for (const auto& [a, b] :
             {std::pair{rounded.y, exact.y}, std::pair{rounded.dq, exact.dq},
              std::pair{rounded.dk, exact.dk}, std::pair{rounded.dv, exact.dv}}) {
            EXPECT_LT(apart(a, b), 2e-2);
            EXPECT_GT(apart(a, b), 1e-5);
        }
        // Gradients of one segment and of two cancel: Σ ds = 0, and what is left is small.
        for (std::size_t i = 0; i < exact.dparameters.size(); ++i)
            EXPECT_LT(apart(rounded.dparameters[i], exact.dparameters[i]), 5e-2) << i;
    });
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
