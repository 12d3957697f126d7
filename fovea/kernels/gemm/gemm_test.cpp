#include "fovea/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/kernels/gemm/gemm_block.h"
#include "fovea/kernels/gemm/gemm_oracle.h"
#include "fovea/kernels/gemm/gemm_plan.h"

namespace fovea::kernels {
namespace {

using oracle::differences;
using oracle::Matrix;
using oracle::random_matrix;
using oracle::transposed;

const Format all_formats[] = {Format::f32, Format::bf16, Format::int8, Format::int7};

GemmOptions with_precision(Format format, GemmOptions o = {}) {
    o.precision = format == Format::bf16 ? Precision::bf16 : Precision::f32;
    return o;
}

struct Sizes {
    std::int64_t m, k, n;
};

// Odd sizes around every edge: strips, panels, groups of 32 k, pieces of k.
std::vector<Sizes> odd_sizes() {
    std::vector<Sizes> all = {{1, 1, 1},     {1, 3, 17},   {3, 1, 1},     {17, 33, 65},
                              {33, 65, 100}, {65, 100, 3}, {100, 17, 33}, {6, 16, 16},
                              {12, 32, 32},  {13, 64, 48}, {5, 257, 31},  {7, 513, 40},
                              {2, 800, 70},  {4, 1030, 9}, {130, 40, 20}, {1, 600, 300},
                              {260, 70, 35}, {31, 31, 33}, {32, 96, 64},  {47, 130, 95}};
    for (std::int64_t m : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 23})
        all.push_back({m, 35, 18 + 16 * (m % 3)});
    return all;
}

TEST(Gemm, HasThePromisedBitsOnEveryLevel) {
    oracle::Restore restore;
    for (const Sizes s : odd_sizes()) {
        const Matrix a = random_matrix(s.m, s.k, 1, 3), b = random_matrix(s.k, s.n, 2, 1);
        const Matrix at = transposed(a), bt = transposed(b);
        const Matrix bias = random_matrix(1, s.n, 3), before = random_matrix(s.m, s.n, 4, 2);
        for (const Format format : {Format::f32, Format::bf16}) {
            Matrix plain(s.m, s.n), rich = before;
            oracle::product(a, b, plain, format);
            oracle::product(a, b, rich, format, bias.values, true);
            for (const Isa isa : oracle::levels()) {
                set_isa(isa);
                for (const Trans ta : {Trans::no, Trans::yes})
                    for (const Trans tb : {Trans::no, Trans::yes}) {
                        Matrix c(s.m, s.n, 5), d = before;
                        const Matrix& left = ta == Trans::yes ? at : a;
                        const Matrix& right = tb == Trans::yes ? bt : b;
                        gemm(ta, tb, left, right, c, with_precision(format));
                        EXPECT_EQ(differences(c, plain), 0)
                            << name_of(format) << " " << name_of(isa) << " " << s.m << "x" << s.k
                            << "x" << s.n << " ta " << int(ta) << " tb " << int(tb);
                        EXPECT_TRUE(c.guards_hold());
                        gemm(ta, tb, left, right, d,
                             with_precision(format, {.bias = bias, .accumulate = true}));
                        EXPECT_EQ(differences(d, rich), 0) << name_of(format) << " with bias";
                        EXPECT_TRUE(d.guards_hold());
                    }
            }
        }
    }
}

// Where AVX512-BF16 is, dot products of pairs do what f32 arithmetic does elsewhere: both are
// tried.
TEST(Gemm, Bf16ByFloatsHasThePromisedBitsToo) {
    oracle::Restore restore;
    for (const Sizes s : odd_sizes()) {
        const Matrix a = random_matrix(s.m, s.k, 1, 3), b = random_matrix(s.k, s.n, 2, 1);
        const Matrix at = transposed(a);
        Matrix expected(s.m, s.n);
        oracle::product(a, b, expected, Format::bf16);
        const PackedMatrix packed = pack(b, Trans::no, Format::bf16);
        for (const Isa isa : oracle::levels()) {
            if (isa == Isa::amx) continue;
            set_isa(isa);
            for (const std::int64_t rows : {std::int64_t{1}, s.m})  // one row: by floats
                for (const bool transposed_a : {false, true}) {
                    Matrix c(s.m, s.n, 5);
                    multiply_by_blocks(transposed_a ? at : a, transposed_a, packed, c, {},
                                       bf16_kernels(rows, packed.padded_k()));
                    EXPECT_EQ(differences(c, expected), 0)
                        << name_of(isa) << " " << s.m << "x" << s.k << "x" << s.n;
                    EXPECT_TRUE(c.guards_hold());
                }
        }
    }
}

TEST(Gemm, PackedHasTheSameBits) {
    oracle::Restore restore;
    for (const Sizes s : odd_sizes()) {
        const Matrix a = random_matrix(s.m, s.k, 5, 1), b = random_matrix(s.k, s.n, 6);
        const Matrix bt = transposed(b), bias = random_matrix(1, s.n, 7);
        for (const Format format : all_formats) {
            Matrix expected(s.m, s.n);
            oracle::product(a, b, expected, format, bias.values);
            for (const Isa isa : oracle::levels()) {
                set_isa(isa);
                for (const Trans tb : {Trans::no, Trans::yes}) {
                    Matrix c(s.m, s.n, 3);
                    const PackedMatrix w = pack(tb == Trans::yes ? bt : b, tb, format);
                    gemm_packed(a, w, c, {.bias = bias});
                    EXPECT_EQ(differences(c, expected), 0)
                        << name_of(format) << " " << name_of(isa) << " " << s.m << "x" << s.k << "x"
                        << s.n << " tb " << int(tb);
                    EXPECT_TRUE(c.guards_hold());
                }
            }
        }
    }
}

TEST(Gemm, IsNearTheDoubleProduct) {
    const Matrix a = random_matrix(33, 300, 8), b = random_matrix(300, 65, 9);
    Matrix c32(33, 65), c16(33, 65), c8(33, 65), c7(33, 65);
    gemm(Trans::no, Trans::no, a, b, c32);
    gemm(Trans::no, Trans::no, a, b, c16, {.precision = Precision::bf16});
    gemm_packed(a, pack(b, Trans::no, Format::int8), c8);
    gemm_packed(a, pack(b, Trans::no, Format::int7), c7);
    for (std::int64_t i = 0; i < 33; ++i)
        for (std::int64_t j = 0; j < 65; ++j) {
            double sum = 0, size = 0;
            for (std::int64_t k = 0; k < 300; ++k) {
                sum += double{a.at(i, k)} * b.at(k, j);
                size += std::fabs(double{a.at(i, k)} * b.at(k, j));
            }
            EXPECT_NEAR(c32.at(i, j), sum, 1e-6 * size);
            EXPECT_NEAR(c16.at(i, j), sum, 2e-3 * size);  // two roundings of 2^-9 a product
            EXPECT_NEAR(c8.at(i, j), sum, 1e-2 * size);
            EXPECT_NEAR(c7.at(i, j), sum, 2e-2 * size);
        }
}

TEST(Gemm, DoesNotDependOnTheThreads) {
    oracle::Restore restore;
    const Matrix x = random_matrix(300, 200, 10), w = random_matrix(430, 200, 11);
    for (const Format format : all_formats) {
        const PackedMatrix packed = pack(w, Trans::yes, format);
        Matrix one(300, 430);
        set_thread_count(1);
        gemm_packed(x, packed, one, {.act = Act::gelu});
        for (const int threads : {2, 3, 8}) {
            set_thread_count(threads);
            Matrix c(300, 430);
            gemm_packed(x, packed, c, {.act = Act::gelu});
            EXPECT_EQ(differences(c, one), 0) << name_of(format) << ", " << threads << " threads";
        }
    }
    Matrix dw(430, 200), dw1(430, 200);
    const Matrix dy = random_matrix(300, 430, 12);
    set_thread_count(1);
    gemm(Trans::yes, Trans::no, dy, x, dw1);
    set_thread_count(8);
    gemm(Trans::yes, Trans::no, dy, x, dw);
    EXPECT_EQ(differences(dw, dw1), 0);
}

TEST(Gemm, ARowAloneEqualsTheRowInAnyBatch) {
    oracle::Restore restore;
    const Matrix x = random_matrix(271, 321, 13), w = random_matrix(321, 77, 14);
    for (const Isa isa : oracle::levels()) {
        if (isa == Isa::scalar) continue;
        set_isa(isa);
        for (const Format format : all_formats) {
            const PackedMatrix packed = pack(w, Trans::no, format);
            Matrix all(271, 77);
            gemm_packed(x, packed, all, {.act = Act::swish});
            for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 13, 40}) {
                const std::int64_t first = 271 - rows;
                Matrix some(rows, 77);
                gemm_packed(ConstView(x).block(first, 271, 0, 321), packed, some,
                            {.act = Act::swish});
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < rows; ++i)
                    for (std::int64_t j = 0; j < 77; ++j)
                        wrong += !oracle::same_bits(some.at(i, j), all.at(first + i, j));
                EXPECT_EQ(wrong, 0) << name_of(format) << " " << rows << " rows";
            }
        }
    }
}

TEST(Gemm, AccumulatedPiecesHaveTheBitsOfTheWhole) {
    const Matrix dy = random_matrix(256, 50, 15), x = random_matrix(256, 70, 16);
    for (const Precision precision : {Precision::f32, Precision::bf16}) {
        Matrix whole(50, 70), pieces(50, 70);
        gemm(Trans::yes, Trans::no, dy, x, whole, {.precision = precision});
        for (std::int64_t r = 0; r < 256; r += 64)
            gemm(Trans::yes, Trans::no, ConstView(dy).block(r, r + 64, 0, 50),
                 ConstView(x).block(r, r + 64, 0, 70), pieces,
                 {.accumulate = r > 0, .precision = precision});
        EXPECT_EQ(differences(pieces, whole), 0) << name_of(precision);
    }
}

double act_in_double(Act act, double x) {
    switch (act) {
        case Act::none:
            return x;
        case Act::relu:
            return x > 0 ? x : 0;
        case Act::gelu:
            return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
        case Act::gelu_tanh:
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Act::tanh:
            return std::tanh(x);
        case Act::swish:
            return x / (1 + std::exp(-x));
    }
    return NAN;
}

TEST(Gemm, TakesTheActivationAlong) {
    oracle::Restore restore;
    const Matrix x = random_matrix(19, 40, 17), w = random_matrix(40, 53, 18);
    const Matrix bias = random_matrix(53, 1, 19);
    for (const Isa isa : oracle::levels())
        for (const Format format : all_formats) {
            set_isa(isa);
            const PackedMatrix packed = pack(w, Trans::no, format);
            Matrix sum(19, 53);
            gemm_packed(x, packed, sum, {.bias = bias});
            for (const Act act :
                 {Act::none, Act::relu, Act::gelu, Act::gelu_tanh, Act::tanh, Act::swish}) {
                Matrix y(19, 53, 2), pre(19, 53, 4);
                gemm_packed(x, packed, y, {.bias = bias, .act = act, .pre = pre});
                EXPECT_EQ(differences(pre, sum), 0) << name_of(act);
                EXPECT_TRUE(y.guards_hold() && pre.guards_hold());
                for (std::int64_t i = 0; i < 19; ++i)
                    for (std::int64_t j = 0; j < 53; ++j) {
                        const double want = act_in_double(act, sum.at(i, j));
                        EXPECT_NEAR(y.at(i, j), want, 1e-6 + 4e-7 * std::fabs(want))
                            << name_of(act) << " of " << sum.at(i, j);
                    }
            }
        }
}

// Huge, denormal and non-finite values: bits as promised, and each row keeps its own to itself.
TEST(Gemm, StrangeValuesStayInTheirRow) {
    oracle::Restore restore;
    constexpr float inf = std::numeric_limits<float>::infinity();
    Matrix a = random_matrix(20, 70, 20);
    const Matrix b = random_matrix(70, 40, 21);
    std::vector<Matrix> clean(std::size(all_formats), Matrix(20, 40));
    for (const Format f : all_formats) oracle::product(a, b, clean[static_cast<std::size_t>(f)], f);
    for (std::int64_t k = 0; k < 70; ++k) {
        a.at(3, k) = k == 40 ? NAN : 1.0f;
        a.at(5, k) = k == 0 ? inf : 0.5f;
        a.at(7, k) = 3e38f;
        a.at(9, k) = 1e-41f;                         // denormal: counts as zero
        a.at(11, k) = k % 2 ? 1.2e-38f : -1.3e-38f;  // products flush to zero
        a.at(13, k) = k % 7 ? -0.0f : 0.0f;
        a.at(15, k) = k % 3 ? 1e-20f : 1e20f;
    }
    for (const Format format : all_formats) {
        Matrix expected(20, 40);
        oracle::product(a, b, expected, format);
        for (const Isa isa : oracle::levels()) {
            set_isa(isa);
            Matrix c(20, 40);
            gemm_packed(a, pack(b, Trans::no, format), c);
            EXPECT_EQ(differences(c, expected), 0) << name_of(format) << " " << name_of(isa);
            for (std::int64_t i = 0; i < 20; ++i) {
                const bool strange = i % 2 == 1 && i >= 3 && i <= 15;
                for (std::int64_t j = 0; j < 40; ++j) {
                    EXPECT_TRUE(strange ||
                                oracle::same_bits(
                                    c.at(i, j), clean[static_cast<std::size_t>(format)].at(i, j)));
                    EXPECT_TRUE(i != 3 || std::isnan(c.at(i, j)));
                    EXPECT_TRUE(i != 9 || c.at(i, j) == 0);
                }
            }
        }
    }
}

TEST(Gemm, TakesEmptySizes) {
    oracle::Restore restore;
    for (const Isa isa : oracle::levels())
        for (const Format format : all_formats) {
            set_isa(isa);
            const Matrix bias = random_matrix(1, 20, 22);
            Matrix c(5, 20);
            const Matrix a0(5, 0), b0(0, 20);
            gemm_packed(a0, pack(b0, Trans::no, format), c, {.bias = bias, .act = Act::relu});
            for (std::int64_t i = 0; i < 5; ++i)
                for (std::int64_t j = 0; j < 20; ++j)
                    EXPECT_EQ(c.at(i, j), std::max(0.0f, bias.at(0, j)));
            Matrix none(0, 20), thin(5, 0);
            const Matrix a(0, 7), b = random_matrix(7, 20, 23), a5 = random_matrix(5, 7, 24),
                                  bthin(7, 0);
            gemm_packed(a, pack(b, Trans::no, format), none);
            gemm_packed(a5, pack(bthin, Trans::no, format), thin);
            EXPECT_TRUE(c.guards_hold());
        }
}

TEST(GemmPlan, CoversEveryElementOnce) {
    for (const std::int64_t rows : {1, 2, 3, 12, 13, 100, 256, 257, 300, 4096, 100003})
        for (const std::int64_t panels : {1, 2, 3, 5, 48, 192, 3140})
            for (const std::int64_t k : {0, 1, 64, 768, 4096, 100000}) {
                const GemmPlan p = plan_gemm(rows, panels, k, 4);
                EXPECT_GE(p.rows_per_task * p.row_tasks, rows);
                EXPECT_LT(p.rows_per_task * (p.row_tasks - 1), rows);
                EXPECT_GE(p.panels_per_task * p.col_tasks, panels);
                EXPECT_LT(p.panels_per_task * (p.col_tasks - 1), panels);
            }
}

}  // namespace
}  // namespace fovea::kernels
