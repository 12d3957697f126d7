#include "fovea/kernels/gemm/pack.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <thread>

#include "fovea/kernels/bf16.h"
#include "fovea/kernels/gemm/gemm_oracle.h"
#include "fovea/kernels/gemm/pack_cache.h"

namespace fovea::kernels {
namespace {

using oracle::Matrix;
using oracle::random_matrix;

TEST(Bf16, RoundsToNearestEvenAndFlushesDenormals) {
    EXPECT_EQ(to_bf16(1.0f), 0x3f80);
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80) << "half way: down to even";
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82) << "half way: up to even";
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x007fffffu)), 0x0000) << "denormal";
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x807fffffu)), 0x8000) << "negative denormal";
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x7f7fffffu)), 0x7f80) << "rounds up to infinity";
    EXPECT_EQ(to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0) << "NaN becomes quiet";
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float x = from_bf16(static_cast<Bf16>(bits));
        if (x == 0 || std::isnormal(x) || std::isinf(x)) {
            EXPECT_EQ(to_bf16(x), bits);
        }
    }
}

TEST(Pack, HoldsEveryValueOnEveryLevel) {
    oracle::Restore restore;
    for (const std::int64_t k : {1, 3, 17, 33, 65, 300})
        for (const std::int64_t n : {1, 16, 17, 40}) {
            Matrix w = random_matrix(k, n, 1, 2);
            w.at(0, 0) = std::bit_cast<float>(0x7fc00001u);  // NaN
            if (n > 3) w.at(k / 2, 3) = 1e-41f;
            const Matrix wt = oracle::transposed(w);
            for (const Isa isa : oracle::levels())
                for (const Trans trans : {Trans::no, Trans::yes}) {
                    set_isa(isa);
                    const ConstView view = trans == Trans::yes ? wt : w;
                    const PackedMatrix f32 = pack(view, trans, Format::f32);
                    const PackedMatrix bf16 = pack(view, trans, Format::bf16);
                    const PackedMatrix int8 = pack(view, trans, Format::int8);
                    std::int64_t wrong = 0;
                    for (std::int64_t j = 0; j < n; ++j) {
                        std::vector<float> column;
                        for (std::int64_t i = 0; i < k; ++i) column.push_back(w.at(i, j));
                        const oracle::Quantised q = oracle::quantise(column);
                        std::int32_t sum = 0;
                        for (std::int64_t i = 0; i < k; ++i) {
                            const std::int32_t qi = q.q[static_cast<std::size_t>(i)];
                            sum += qi;
                            wrong += !oracle::same_bits(unpacked_value(f32, i, j), w.at(i, j));
                            wrong += !oracle::same_bits(unpacked_value(bf16, i, j),
                                                        round_to_bf16(w.at(i, j)));
                            wrong += !oracle::same_bits(unpacked_value(int8, i, j),
                                                        static_cast<float>(qi) * q.scale);
                        }
                        wrong += int8.column_sums()[j] != sum;
                    }
                    EXPECT_EQ(wrong, 0) << name_of(isa) << " " << k << "x" << n;
                }
        }
}

TEST(PackCache, KeepsOverwritesAndForgets) {
    const Matrix w = random_matrix(48, 20, 4), w2 = random_matrix(48, 20, 5);
    PackCache cache;
    const PackKey key{.id = 7, .version = 1, .trans = Trans::yes, .format = Format::f32};
    const PackedMatrix* first = cache.get(key, w).get();
    EXPECT_EQ(cache.get(key, w).get(), first);
    cache.get({.id = 7, .version = 1, .trans = Trans::no, .format = Format::bf16}, w);
    EXPECT_EQ(cache.entries(), 2u) << "both orientations live side by side";

    const auto again = cache.get({.id = 7, .version = 2, .trans = Trans::yes}, w2);
    EXPECT_EQ(again.get(), first) << "rewritten in place";
    EXPECT_EQ(unpacked_value(*again, 3, 5), w2.at(5, 3));
    const auto newest = cache.get({.id = 7, .version = 3, .trans = Trans::yes}, w);
    EXPECT_EQ(unpacked_value(*again, 3, 5), w2.at(5, 3)) << "a held matrix is left alone";
    EXPECT_EQ(unpacked_value(*newest, 3, 5), w.at(5, 3));
    cache.set_limit(1);
    cache.get({.id = 8}, w);
    EXPECT_EQ(cache.entries(), 1u) << "beyond the limit only the newest stays";
    cache.drop(8);
    EXPECT_EQ(cache.entries(), 0u);
    EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PackCache, ServesManyThreads) {
    PackCache cache;
    cache.set_limit(20000);
    const Matrix w = random_matrix(32, 16, 6);
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (std::uint64_t i = 0; i < 200; ++i) {
                const auto p = cache.get({.id = i % 13, .version = i / 50}, w);
                if (unpacked_value(*p, 3, 4) != w.at(3, 4)) ++wrong;
                if (i % 17 == 0) cache.get({.id = i % 13, .version = i / 50 + 1}, w);
                if (i % 31 == 0) cache.drop(i % 13);
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace fovea::kernels
