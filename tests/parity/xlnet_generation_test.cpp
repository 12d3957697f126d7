// Greedy generation of a tiny XLNet as Hugging Face transformers has it, with and without mems.
#include "fovea/infer/any_order_stepper.h"
#include "fovea/ops/rows/top_k.h"
#include "tests/parity/xlnet_golden.h"

namespace fovea::xlnet {
namespace {

Ids best_tokens(const Tensor& logits) {
    Ids best;
    for (const TokenScores& s : top_scores(logits, 1)) best.push_back(s.best[0]);
    return best;
}

// Greedy, all prompts in one batch; `last` gets the logits of the last step.
std::vector<Ids> generate(const TextEncoder& lm, const std::vector<Ids>& prompts, bool memory,
                          int tokens, Tensor& last) {
    const auto stepper = make_language_stepper(lm, {.keep_rows = memory});
    last = stepper->start(prompts);
    std::vector<std::int64_t> parents;
    for (std::size_t i = 0; i < prompts.size(); ++i)
        parents.push_back(static_cast<std::int64_t>(i));
    std::vector<Ids> texts(prompts.size());
    for (int t = 0; t < tokens; ++t) {
        const Ids best = best_tokens(last);
        for (std::size_t i = 0; i < texts.size(); ++i) texts[i].push_back(best[i]);
        if (t + 1 < tokens) last = stepper->step(best, parents);
    }
    return texts;
}

TEST(XlnetGeneration, GenerationWithAndWithoutMemory) {
    Golden g;
    const TextEncoder lm = g.encoder(Head::words, "words");
    const Segments lengths = Segments::of_lengths(g.file.read_integers("prompt_lengths"));
    const Ids tokens = g.ids("prompts");
    std::vector<Ids> prompts;
    for (std::int64_t i = 0; i < lengths.count(); ++i)
        prompts.emplace_back(tokens.begin() + lengths.begin(i), tokens.begin() + lengths.end(i));
    ASSERT_GE(prompts.size(), 20u);
    for (const bool memory : {false, true}) {
        const Ids want = g.ids(memory ? "generated_mems" : "generated");
        const int n = static_cast<int>(want.size() / prompts.size());
        Tensor last, alone;
        const std::vector<Ids> texts = generate(lm, prompts, memory, n, last);
        expect_near(last, g.file.read(memory ? "last_logits_mems" : "last_logits"), "logits");
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            const auto at = want.begin() + static_cast<std::ptrdiff_t>(i) * n;
            EXPECT_EQ(texts[i], Ids(at, at + n)) << "prompt " << i << ", memory " << memory;
            EXPECT_EQ(generate(lm, {prompts[i]}, memory, n, alone)[0], texts[i]);
            EXPECT_EQ(
                std::memcmp(alone.data(), last.data() + static_cast<std::int64_t>(i) * last.cols(),
                            sizeof(float) * static_cast<std::size_t>(last.cols())),
                0);
        }
    }
}

// Hypotheses that fork, are re-ordered and forgotten give what each gives alone.
TEST(XlnetGeneration, StepperFollowsParents) {
    Golden g(Json{{"mem_len", 5}});
    const TextEncoder lm = g.encoder(Head::words, "words");
    for (const bool memory : {false, true}) {
        const std::vector<Ids> prompts{{7, 8, 9, 10}, {11}};
        const auto both = make_language_stepper(lm, {.keep_rows = memory});
        both->start(prompts);
        both->step({20, 21, 22}, std::vector<std::int64_t>{1, 0, 0});
        const Tensor got = both->step({23, 24}, std::vector<std::int64_t>{2, 0});
        const auto check = [&](int row, const Ids& prompt, const Ids& tokens) {
            const auto one = make_language_stepper(lm, {.keep_rows = memory});
            const std::vector<std::int64_t> first{0};
            one->start(std::vector<Ids>{prompt});
            one->step({tokens[0]}, first);
            const Tensor want = one->step({tokens[1]}, first);
            EXPECT_EQ(std::memcmp(want.data(), got.data() + row * got.cols(),
                                  sizeof(float) * static_cast<std::size_t>(got.cols())),
                      0)
                << "row " << row << ", memory " << memory;
        };
        check(0, prompts[0], {22, 23});
        check(1, prompts[1], {20, 24});
    }
}

}  // namespace
}  // namespace fovea::xlnet
