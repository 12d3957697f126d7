#include "fovea/infer/language_model_stepper.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/infer/beam_search.h"
#include "fovea/models/gpt2.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

struct SmallGpt2 {
    explicit SmallGpt2(const std::string& attention = "global") {
        EncoderChoice choice;
        choice.vocabulary = 37;
        choice.max_length = 24;
        choice.layers = 2;
        choice.width = 16;
        choice.heads = 2;
        Json config = Gpt2::new_config(choice);
        config["initializer_range"] = 0.5;
        config["attention"] = attention;
        Rng rng(4);
        model =
            text_encoder_named("gpt2").make(config, "config", {Head::words, 0}, Params(store, rng));
    }
    ParameterStore store;
    TextEncoder model;
};

const std::vector<Ids> prompts = {{4, 5, 6}, {9}, {3, 1, 12, 20, 28, 30, 11}};

std::vector<float> row_of(const Tensor& t, std::int64_t row) {
    return {t.data() + row * t.cols(), t.data() + (row + 1) * t.cols()};
}

std::vector<float> uncached(const TextEncoder& model, const Ids& tokens) {
    const Tensor logits = model.words(model.rows(pack({&tokens, 1})));
    return row_of(logits, logits.rows() - 1);
}

// Prompts of different lengths, hypotheses that fork, cross over and die.
void expect_cached_as_uncached(const SmallGpt2& small) {
    LanguageModelStepper stepper(small.model, {.end_tokens = {0}});
    std::vector<Ids> live = prompts;
    Tensor logits = stepper.start(prompts);
    Rng rng(8);
    for (int step = 0; step < 12; ++step) {
        for (std::size_t i = 0; i < live.size(); ++i)
            ASSERT_EQ(row_of(logits, static_cast<std::int64_t>(i)), uncached(small.model, live[i]))
                << step << " " << i;
        Ids tokens;
        std::vector<std::int64_t> parents;
        std::vector<Ids> next;
        for (int i = 0; i < 4; ++i) {
            parents.push_back(static_cast<std::int64_t>(rng.below(live.size())));
            tokens.push_back(static_cast<std::int32_t>(rng.below(37)));
            next.push_back(live[static_cast<std::size_t>(parents.back())]);
            next.back().push_back(tokens.back());
        }
        live = std::move(next);
        logits = stepper.step(tokens, parents);
    }
}

TEST(LanguageModelStepper, CachedEqualsUncachedBitForBit) {
    expect_cached_as_uncached(SmallGpt2());
}

// Layers that see a window of the past, and the first token with it.
TEST(LanguageModelStepper, CachedEqualsUncachedThroughWindows) {
    const SmallGpt2 windows("window:2,hybrid:3");
    expect_cached_as_uncached(windows);
    const Ids text{3, 1, 12, 20, 28, 30, 11};
    EXPECT_NE(uncached(windows.model, text), uncached(SmallGpt2().model, text));
    EXPECT_THROW(SmallGpt2("expanded:2,1"), Error);
    EXPECT_THROW(SmallGpt2("window:2,window:2,window:2"), Error);
}

std::vector<std::vector<Hypothesis>> found(const SmallGpt2& small, const SearchOptions& options,
                                           const std::vector<Ids>& from, std::uint64_t first = 0) {
    std::vector<DecodeRequest> requests;
    for (const Ids& prompt : from) {
        requests.push_back({.prompt = prompt, .limit = 10});
        requests.back().sample_id = first + requests.size() - 1;
    }
    LanguageModelStepper stepper(small.model, {.end_tokens = {0}});
    return search(stepper, options, requests);
}

TEST(LanguageModelStepper, ATextDoesNotChangeWithItsNeighboursOrThreads) {
    const SmallGpt2 small;
    SearchOptions sampling{.n_best = 3, .sample = true, .temperature = 1.5, .seed = 5};
    sampling.min_p = 0.02;
    for (const SearchOptions& options : {SearchOptions{}, SearchOptions{.beam = 3}, sampling}) {
        const auto all = found(small, options, prompts);
        for (const int threads : {1, 3}) {
            set_thread_count(threads);
            const SplitPieces pieces(threads);
            for (std::size_t i = 0; i < prompts.size(); ++i) {
                const auto alone = found(small, options, {prompts[i]}, i);
                ASSERT_EQ(alone[0].size(), all[i].size());
                for (std::size_t k = 0; k < alone[0].size(); ++k) {
                    EXPECT_EQ(alone[0][k].tokens, all[i][k].tokens);
                    EXPECT_EQ(alone[0][k].token_scores, all[i][k].token_scores);
                }
            }
        }
        set_thread_count(0);
    }
}

TEST(LanguageModelStepper, BadWordsLookAtThePromptWhereItCounts) {
    const SmallGpt2 small;
    const std::int32_t first = found(small, {}, {prompts[0]})[0][0].tokens[0];
    SearchOptions options;
    options.bad_words = {{prompts[0].back(), first}};
    EXPECT_EQ(found(small, options, {prompts[0]})[0][0].tokens[0], first);
    options.prompt_counts = true;
    EXPECT_NE(found(small, options, {prompts[0]})[0][0].tokens[0], first);
}

// Behind the context of 24 tokens the text is its newer half, read from the beginning: what a fresh
// stepper says of that half.
TEST(LanguageModelStepper, AFullContextLosesItsOldestHalf) {
    const SmallGpt2 small;
    LanguageModelStepper longer(small.model, {.end_tokens = {0}});
    const std::vector<Ids> too_long = {Ids(25, 3)};
    EXPECT_THROW(longer.start(too_long), Error);
    Rng rng(6);
    Ids text;
    for (int i = 0; i < 20; ++i) text.push_back(static_cast<std::int32_t>(rng.below(37)));
    const std::vector<Ids> from = {text, {5, 6}};
    LanguageModelStepper stepper(small.model, {.end_tokens = {0}});
    stepper.start(from);
    const std::int64_t parents[] = {0, 1};
    Ids view = text;
    for (int i = 0; i < 60; ++i) {  // it slides more than once
        const auto token = static_cast<std::int32_t>(rng.below(37));
        const Tensor logits = stepper.step({token, 4}, parents);
        if (view.size() == 24) view.erase(view.begin(), view.begin() + 12);
        view.push_back(token);
        LanguageModelStepper fresh(small.model, {.end_tokens = {0}});
        const Tensor want = fresh.start(std::vector<Ids>{view});
        ASSERT_EQ(std::memcmp(want.data(), logits.data(),
                              sizeof(float) * static_cast<std::size_t>(want.cols())),
                  0)
            << "step " << i;
    }
}

}  // namespace
}  // namespace fovea
