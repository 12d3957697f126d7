// P7 of reliability.md: running out of memory anywhere in loading or saving is an exception, never
// a crash, and old checkpoints stay whole. Allocation number N fails, for N = 1, 2, … until the
// work succeeds; once with that one failing, once with all after it failing too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "fovea/io/model_weights.h"
#include "fovea/io/test_checkpoint.h"

namespace {

// Allocations left before one fails; negative: none will.
thread_local std::int64_t allowance = -1;
thread_local bool keep_failing = false;

void* allocate_or_null(std::size_t bytes) noexcept {
    if (allowance == 0) {
        if (!keep_failing) allowance = -1;
        return nullptr;
    }
    if (allowance > 0) --allowance;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void* allocate_or_throw(std::size_t bytes) {
    if (void* p = allocate_or_null(bytes)) return p;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate_or_null(bytes);
}
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace fovea {
namespace {

// Runs the work with the n-th allocation failing. True: it succeeded without reaching the n-th.
template <class Work>
bool survives(std::int64_t n, bool for_ever, const Work& work) {
    keep_failing = for_ever;
    allowance = n;
    bool reached = false;
    try {
        work();
        reached = allowance < 0 || allowance == 0;
    } catch (const std::bad_alloc&) {
        reached = true;
    } catch (const Error&) {
        reached = true;  // an error message was still affordable
    }
    const bool done = !reached;
    allowance = -1;
    return done;
}

TEST(OutOfMemory, LoadingThrowsAndNothingElse) {
    const TestFolder folder;
    const Checkpoint c = small_checkpoint(1);
    write_safetensors(folder / "model.safetensors", c.model);
    std::int64_t points = 0;
    for (const bool for_ever : {false, true})
        for (std::int64_t n = 0;; ++n) {
            const std::string& path = folder.path();
            if (survives(n, for_ever, [&] {
                    const ModelWeights weights(path);
                    for (const std::string& name : weights.names()) weights.read(name);
                }))
                break;
            ++points;
            ASSERT_LT(n, 100'000);
        }
    EXPECT_GT(points, 50);
    expect_same_tensors(TensorFile(folder / "model.safetensors"), c.model);
}

TEST(OutOfMemory, SavingLeavesOldCheckpointsWhole) {
    std::int64_t points = 0;
    const Checkpoint c = small_checkpoint(3);
    for (const bool for_ever : {false, true})
        for (std::int64_t n = 0;; n += n < 40 ? 1 : 9) {  // hundreds of points; all would take long
            const TestFolder folder;
            CheckpointFolder run(folder.path(), {.keep_last = 2});
            run.save(small_checkpoint(1));
            run.save(small_checkpoint(2));
            if (survives(n, for_ever, [&] { run.save(c); })) break;
            ++points;
            const auto found = run.resume();
            ASSERT_TRUE(found);
            ASSERT_TRUE(run.rejected().empty()) << run.rejected()[0].reason;
            EXPECT_GE(found->step(), 2);
            expect_same_tensors(found->model(), small_checkpoint(found->step()).model);
            for (const std::string& name : list_folder(folder.path()))
                EXPECT_EQ(name.rfind(".tmp", 0), std::string::npos);
            ASSERT_LT(n, 100'000);
        }
    EXPECT_GT(points, 80);
}

}  // namespace
}  // namespace fovea
