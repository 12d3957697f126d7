#include "fovea/base/precision.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"

namespace fovea {
namespace {

TEST(Precision, ScopesNestAndEnd) {
    EXPECT_EQ(current_precision(), Precision::f32);
    {
        const PrecisionScope outer(Precision::bf16);
        EXPECT_EQ(current_precision(), Precision::bf16);
        {
            const PrecisionScope inner(Precision::f32);
            EXPECT_EQ(current_precision(), Precision::f32);
        }
        EXPECT_EQ(current_precision(), Precision::bf16);
        std::thread([] { EXPECT_EQ(current_precision(), Precision::f32); }).join();
    }
    EXPECT_EQ(current_precision(), Precision::f32);
}

TEST(Precision, WorkersSeeTheirCallersScope) {
    set_thread_count(4);
    const auto wrong = [](Precision wanted) {
        std::atomic<int> n{0};
        parallel_for(256, 1,
                     [&](std::int64_t, std::int64_t) { n += current_precision() != wanted; });
        return n.load();
    };
    for (int turn = 0; turn < 50; ++turn) {
        EXPECT_EQ(wrong(Precision::f32), 0);
        const PrecisionScope scope(Precision::bf16);
        EXPECT_EQ(wrong(Precision::bf16), 0);
    }
    set_thread_count(0);
}

TEST(Precision, NamesThereAndBack) {
    for (const NamedPrecision& p : precisions) {
        EXPECT_STREQ(name_of(p.value), p.name);
        EXPECT_EQ(precision_of(p.name), p.value);
    }
    try {
        precision_of("f16");
        FAIL() << "no error";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
    }
}

}  // namespace
}  // namespace fovea
