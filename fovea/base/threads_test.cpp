#include "fovea/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Threads, SplitPiecesCutsSmallWork) {
    const auto pieces = [](std::int64_t n, std::int64_t grain) {
        std::atomic<int> count{0};
        std::atomic<std::int64_t> total{0};
        parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
            ++count;
            total += end - begin;
        });
        EXPECT_EQ(total, n);
        return count.load();
    };
    EXPECT_EQ(pieces(10, 100), 1);
    {
        const SplitPieces split(5);
        EXPECT_EQ(pieces(10, 100), 5);
        EXPECT_EQ(pieces(3, 100), 3);
        EXPECT_EQ(pieces(100, 1), 100);
    }
    EXPECT_EQ(pieces(10, 100), 1);
}

TEST(Threads, EveryIndexOnceForAnyThreadCount) {
    for (const int threads : {1, 2, 3, 8}) {
        set_thread_count(threads);
        for (const std::int64_t n : {0, 1, 7, 1000}) {
            std::vector<int> hits(static_cast<std::size_t>(n), 0);
            parallel_for(n, 3, [&](std::int64_t b, std::int64_t e) {
                for (auto i = b; i < e; ++i) ++hits[static_cast<std::size_t>(i)];
            });
            for (const int h : hits) EXPECT_EQ(h, 1);
        }
    }
    set_thread_count(0);
}

TEST(Threads, PiecesDependOnTheGrainAlone) {
    for (const int threads : {1, 4}) {
        set_thread_count(threads);
        std::atomic<int> pieces{0};
        parallel_for(100, 30, [&](std::int64_t b, std::int64_t e) {
            EXPECT_EQ(b % 30, 0);
            EXPECT_EQ(e, std::min<std::int64_t>(100, b + 30));
            ++pieces;
        });
        EXPECT_EQ(pieces, 4);
    }
    set_thread_count(0);
}

TEST(Threads, ExceptionReachesTheCallerAndThePoolLives) {
    set_thread_count(4);
    EXPECT_THROW(
        parallel_for(64, 1, [](std::int64_t b, std::int64_t) { expect(b != 17, "no 17"); }), Error);
    std::atomic<int> sum{0};
    parallel_for(64, 1, [&](std::int64_t, std::int64_t) { ++sum; });
    EXPECT_EQ(sum, 64);
    set_thread_count(0);
}

TEST(Threads, ResizingBetweenJobsWakesNoStaleJob) {
    for (int round = 0; round < 200; ++round) {
        set_thread_count(2 + round % 3);
        std::atomic<int> sum{0};
        parallel_for(16, 1, [&](std::int64_t, std::int64_t) { ++sum; });
        EXPECT_EQ(sum, 16);
    }
    set_thread_count(0);
}

TEST(Threads, NestedAndConcurrentCallsRunInPlace) {
    set_thread_count(3);
    std::atomic<int> sum{0};
    const auto work = [&] {
        for (int round = 0; round < 50; ++round)
            parallel_for(8, 1, [&](std::int64_t, std::int64_t) {
                parallel_for(4, 1, [&](std::int64_t, std::int64_t) { ++sum; });
            });
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(sum, 2 * 50 * 8 * 4);
    set_thread_count(0);
}

TEST(Threads, DenormalsAreFlushedInsideAndRestoredOutside) {
    volatile float tiny = 1e-38f;
    parallel_for(1, 1, [&](std::int64_t, std::int64_t) { EXPECT_EQ(tiny * 0.01f, 0.0f); });
    EXPECT_NE(tiny * 0.01f, 0.0f);
}

}  // namespace
}  // namespace fovea
