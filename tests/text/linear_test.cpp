// A mebibyte of one thing and nothing else, through every kind of tokenizer: time stays linear in
// the text, and the stack does not grow with it.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "committed.h"

namespace fovea {
namespace {

// With sanitizers a frame is larger, and so is what the runtime itself needs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
#else
constexpr std::size_t stack_bytes = std::size_t{128} << 10;
#endif

// Runs work on a thread whose stack is an eighth of the text: recursion over it would crash.
void on_a_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
    pthread_t thread;
    ASSERT_EQ(pthread_create(
                  &thread, &attributes,
                  [](void* w) -> void* {
                      (*static_cast<std::function<void()>*>(w))();
                      return nullptr;
                  },
                  &work),
              0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

std::string repeated(const char* unit, std::size_t size) {
    std::string s;
    while (s.size() < size) s += unit;
    return s;
}

double now() {  // of this thread: the machine may have other things to do
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double seconds(const Tokenizer& t, const std::string& text) {
    const double before = now();
    const Encoding e = t.encode(text);
    EXPECT_LE(t.decode(e.ids).size(), 8 * text.size());
    EXPECT_LE(e.size(), text.size() + 2);
    return now() - before;
}

class LongRuns : public testing::TestWithParam<const char*> {};

// The line through (0, 0) and the time of 64 KiB, the better of two; a step that is quadratic would
// take 16 times what the line says for 1 MiB.
TEST_P(LongRuns, TakeLinearTimeAndNoStack) {
    const Tokenizer t = load_committed(GetParam());
    constexpr std::size_t small = 1 << 16, large = 1 << 20;
    for (const char* unit : {"a", " ", "\n", "\u0301", "\u4E2D", "\u200D"}) {
        on_a_small_stack([&] {
            const std::string few = repeated(unit, small), many = repeated(unit, large);
            const double one = std::max(std::min(seconds(t, few), seconds(t, few)), 5e-4);
            const double allowed = 4 * one * static_cast<double>(large / small);
            double took = seconds(t, many);
            for (int again = 0; again < 2 && took > allowed; ++again)
                took = std::min(took, seconds(t, many));
            EXPECT_LE(took, allowed) << "1 MiB of U+" << std::hex << int(unit[0]);
        });
    }
}

// One of each model; the others differ in their templates.
INSTANTIATE_TEST_SUITE_P(All, LongRuns,
                         testing::Values("bert-uncased.json", "gpt2.json", "gpt.json", "t5.json",
                                         "llama.json", "word.json", "t5.model", "llama.model"));

}  // namespace
}  // namespace fovea
