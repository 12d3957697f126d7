#include "fovea/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "fovea/base/rng.h"
#include "fovea/tensor/memory.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/tensor/ragged.h"

namespace fovea {
namespace {

TEST(Tensor, HandlesShareAndNewOnesDoNot) {
    Tensor a = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6});
    const Tensor b = a;
    EXPECT_EQ(a.id(), b.id());
    a.write()[0] = 9;
    EXPECT_EQ(b.at(0, 0), 9);
    EXPECT_EQ(b.version(), a.version());
    EXPECT_NE(Tensor({2}).id(), Tensor({2}).id());
    EXPECT_EQ(a.reshaped({3, 2}).at(2, 1), 6);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Tensor({1}).data()) % 64, 0u);
}

TEST(Tensor, BadCallsAreClearErrors) {
    EXPECT_THROW(Tensor::of({2, 2}, {1, 2, 3}), Error);
    EXPECT_THROW(Tensor({3}).item(), Error);
    EXPECT_THROW(Tensor({3}).reshaped({4}), Error);
    EXPECT_THROW(Shape({-1}), Error);
    EXPECT_THROW(Shape({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
    EXPECT_THROW(Tensor({2}).to(Format::bf16).data(), Error);
    try {
        Tensor huge({std::int64_t{1} << 20, std::int64_t{1} << 20});
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("out of memory"), std::string::npos) << e.what();
    }
}

TEST(Tensor, StorageFormatsRound) {
    Rng rng(3);
    Tensor t({5, 70});
    float* p = t.write();
    for (int i = 0; i < 350; ++i) p[i] = static_cast<float>(rng.normal());
    const Tensor b = t.to(Format::bf16), q = t.to(Format::int8);
    for (int i = 0; i < 350; ++i) {
        const auto bits = static_cast<std::uint32_t>(b.bf16_data()[i]) << 16;
        float back = 0;
        std::memcpy(&back, &bits, 4);
        EXPECT_NEAR(back, p[i], std::abs(p[i]) / 256);
        EXPECT_NEAR(q.int8_data()[i] * q.int8_scales()[static_cast<std::size_t>(i / 70)], p[i],
                    q.int8_scales()[static_cast<std::size_t>(i / 70)] * 0.5001);
    }
    Tensor weights = b;
    EXPECT_THROW(weights.set_trainable(true), Error);
}

TEST(Memory, BlocksAreReusedWithoutAskingTheSystem) {
    const auto work = [] {
        std::vector<Tensor> many;
        for (int i = 1; i < 60; ++i) many.emplace_back(Shape{i * 37, 513});
    };
    work();
    const MemoryStats first = memory_stats();
    for (int i = 0; i < 10; ++i) work();
    EXPECT_EQ(memory_stats().system_calls, first.system_calls);
    EXPECT_EQ(memory_stats().in_use, first.in_use);
}

TEST(Memory, ALargeIdleBlockServesASmallerBatch) {
    const auto batch = [](std::int64_t rows) {
        std::vector<Tensor> many;
        for (int i = 0; i < 8; ++i) many.push_back(Tensor::full({rows, 1024}, 1.0f));
    };
    batch(4000);
    const MemoryStats first = memory_stats();
    for (const std::int64_t rows : {3900, 3300, 2700, 2300, 4000}) batch(rows);
    EXPECT_EQ(memory_stats().from_system, first.from_system);
    EXPECT_EQ(memory_stats().in_use, first.in_use);
}

TEST(Memory, BlocksNeverOverlapAcrossThreads) {
    const auto work = [](float mark) {
        Rng rng(static_cast<std::uint64_t>(mark));
        std::vector<Tensor> live;
        for (int i = 0; i < 400; ++i) {
            live.push_back(Tensor::full({1 + rng.below(3000)}, mark));
            if (live.size() > 20) live.erase(live.begin() + rng.below(20));
            for (const Tensor& t : live)
                for (const float v : t.span()) ASSERT_EQ(v, mark);
        }
    };
    std::thread a(work, 1.0f), b(work, 2.0f);
    a.join();
    b.join();
}

TEST(ParameterStore, CreateLoadTieAndReport) {
    ParameterStore fresh;
    const auto ones = [](Tensor& t) { std::fill_n(t.write(), t.size(), 1.0f); };
    const Tensor w = fresh.get("a.weight", {2, 3}, ones);
    EXPECT_TRUE(w.trainable());
    EXPECT_EQ(fresh.get("a.weight", {2, 3}, ones).id(), w.id());
    EXPECT_THROW(fresh.get("a.weight", {3, 2}, ones), Error);
    EXPECT_EQ(fresh.count(), 6);
    fresh.finish("t");

    ParameterStore file(ParameterStore::Mode::load);
    file.put("a.weight", Tensor::full({2, 3}, 4));
    file.put("extra", Tensor::full({1}, 4));
    EXPECT_THROW(file.put("extra", Tensor::full({1}, 4)), Error);
    EXPECT_EQ(file.get("a.weight", {2, 3}, ones).at(0, 0), 4);
    file.get("b.bias", {7}, ones);
    try {
        file.finish("model");
        FAIL();
    } catch (const Error& e) {
        const std::string m = e.what();
        EXPECT_NE(m.find("missing: b.bias [7]"), std::string::npos) << m;
        EXPECT_NE(m.find("not used: extra [1]"), std::string::npos) << m;
    }
}

TEST(Segments, OffsetsAndErrors) {
    const Segments s = Segments::of_lengths({2, 0, 3});
    EXPECT_EQ(s.count(), 3);
    EXPECT_EQ(s.total(), 5);
    EXPECT_EQ(s.length(1), 0);
    EXPECT_EQ(s.sample(2), 2u);
    EXPECT_THROW(Segments::of_offsets({0, 3, 2}), Error);
    EXPECT_THROW(Segments::of_offsets({1, 3}), Error);
    EXPECT_THROW(Segments::of_lengths({-1}), Error);
    const Ragged r{Tensor::of({5}, {1, 2, 3, 4, 5}), s};
    EXPECT_EQ(r.row(2)[0], 3);
}

}  // namespace
}  // namespace fovea
