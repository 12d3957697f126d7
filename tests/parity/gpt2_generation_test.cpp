// Generation and scoring of the tiny GPT-2 against transformers: greedy and beam search token by
// token, the filters of sampling against its logits processors, perplexity by sliding windows.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/infer/beam_search.h"
#include "fovea/infer/candidates.h"
#include "fovea/infer/language_model_stepper.h"
#include "fovea/ops/rows/top_k.h"
#include "fovea/tasks/generate.h"
#include "tests/parity/gpt2_golden.h"

namespace fovea {
namespace {

constexpr std::int32_t end = 60;
constexpr int context = 40;

// Everything produced, the end token included, as the golden has it.
Ids with_end(const Hypothesis& h) {
    Ids all = h.tokens;
    if (h.finished) all.push_back(h.end_token);
    return all;
}

std::vector<Ids> outputs(const Gpt2Golden& g, const std::vector<Ids>& prompts,
                         const SearchOptions& options, const std::vector<Ids>& wanted) {
    std::vector<DecodeRequest> requests;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        // Texts that were cut have the limit as their length; a few were given the whole context.
        const bool whole = wanted[i].size() > static_cast<std::size_t>(options.max_length);
        const auto room = context - static_cast<std::int64_t>(prompts[i].size());
        requests.push_back({.prompt = prompts[i], .limit = whole ? room : options.max_length});
    }
    LanguageModelStepper stepper(g.encoder, {.end_tokens = {end}});
    std::vector<Ids> out;
    for (const auto& found : search(stepper, options, requests)) out.push_back(with_end(found[0]));
    return out;
}

void expect_same_outputs(const std::string& name, const SearchOptions& options) {
    const Gpt2Golden g("words");
    const auto prompts = golden_sequences(g.file, name + ".prompts"),
               wanted = golden_sequences(g.file, name + ".outputs");
    const auto got = outputs(g, prompts, options, wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(got[i], wanted[i]) << name << i;
}

TEST(Gpt2Generation, GreedyOver200Prompts) {
    expect_same_outputs("greedy", {.max_length = 12});
    EXPECT_EQ(golden_sequences(Gpt2Golden("words").file, "greedy.prompts").size(), 200u);
}

TEST(Gpt2Generation, PenaltiesAndBadWordsCountThePrompt) {
    SearchOptions o{.max_length = 16, .repetition_penalty = 1.4, .no_repeat_ngram = 2};
    o.bad_words = {{3}, {5, 7}, {20, 21, 22}};
    o.prompt_counts = true;
    expect_same_outputs("controlled", o);
}

TEST(Gpt2Generation, BeamSearch) {
    expect_same_outputs(
        "beam", {.beam = 4, .max_length = 10, .penalty = LengthPenalty::hf, .early_stop = true});
}

Ids seen_by(const Gpt2Golden& g, std::int64_t row) {
    const Ids all = golden_ids(g.file, "filter.ids");
    return Ids(all.begin() + row * 14, all.begin() + (row + 1) * 14);
}

// softmax of the processed scores, against the masses that are drawn from.
TEST(Gpt2Generation, SamplingFilters) {
    const Gpt2Golden g("words");
    const std::pair<const char*, SamplingCuts> filters[] = {
        {"temperature", {.temperature = 0.7}},
        {"top_k", {.top_k = 5}},
        {"top_p", {.top_p = 0.8}},
        {"min_p", {.min_p = 0.1}},
        {"all", {.temperature = 1.3, .top_k = 20, .top_p = 0.9, .min_p = 0.05}}};
    const Tensor scores = g.file.read("filter.scores");
    const auto rows = top_scores(scores, 0);
    for (const auto& [name, cuts] : filters) {
        const Tensor want = g.file.read(std::string("filter.") + name);
        for (std::int64_t r = 0; r < want.rows(); ++r) {
            double total = 0;
            for (std::int64_t c = 0; c < want.cols(); ++c) total += std::exp(want.at(r, c));
            std::vector<double> got(static_cast<std::size_t>(want.cols()), 0.0);
            const TokenMasses kept = rows[static_cast<std::size_t>(r)].kept(cuts);
            for (std::size_t k = 0; k < kept.tokens.size(); ++k)
                got[static_cast<std::size_t>(kept.tokens[k])] = kept.masses[k] / kept.total;
            for (std::int64_t c = 0; c < want.cols(); ++c)
                ASSERT_NEAR(got[static_cast<std::size_t>(c)], std::exp(want.at(r, c)) / total, 1e-6)
                    << name << " " << r << " " << c;
        }
    }
}

TEST(Gpt2Generation, ControlsOfLogits) {
    const Gpt2Golden g("words");
    std::vector<std::pair<const char*, SearchOptions>> controls(4);
    controls[0] = {"repetition", {.repetition_penalty = 1.3}};
    controls[1] = {"ngram", {.no_repeat_ngram = 2}};
    controls[2].first = "bad_words";
    controls[2].second.bad_words = {{3}, {5, 7}, {1, 2, 4}, {1, 2}};
    controls[3] = {"controls", {.repetition_penalty = 0.8, .no_repeat_ngram = 1}};
    controls[3].second.bad_words = {{30}};
    for (const auto& [name, options] : controls) {
        const Tensor want = g.file.read(std::string("filter.") + name);
        Tensor got = g.file.read("filter.scores");
        for (std::int64_t r = 0; r < want.rows(); ++r) {
            const Ids seen = seen_by(g, r);
            const auto cols = static_cast<std::size_t>(got.cols());
            LogitControls{options, {}}.apply(
                {got.write() + static_cast<std::size_t>(r) * cols, cols}, seen, seen.size());
            for (std::int64_t c = 0; c < want.cols(); ++c) {
                if (std::isinf(want.at(r, c)))
                    ASSERT_EQ(got.at(r, c), want.at(r, c)) << name << " " << r << " " << c;
                else
                    ASSERT_NEAR(got.at(r, c), want.at(r, c), 1e-5) << name << " " << r << " " << c;
            }
        }
    }
}

TEST(Gpt2Generation, PerplexityBySlidingWindows) {
    const Gpt2Golden g("words");
    GenerateModel model;
    model.network = std::make_shared<const TextEncoder>(g.encoder);
    const Ids stream = golden_ids(g.file, "stream");
    for (const auto& [size, stride] : {std::pair{40, 40}, {40, 16}, {25, 7}, {40, 1}}) {
        const Tensor want =
            g.file.read("perplexity." + std::to_string(size) + "." + std::to_string(stride));
        const ForetoldText got = foretell(model, stream, {.context = size, .stride = stride});
        EXPECT_EQ(got.scored, static_cast<std::int64_t>(want.data()[1])) << size << " " << stride;
        EXPECT_NEAR(got.nats / want.data()[0], 1, 1e-6) << size << " " << stride;
        const ForetoldText alone =
            foretell(model, stream, {.context = size, .stride = stride, .batch_tokens = 1});
        EXPECT_EQ(alone.nats, got.nats);  // whatever the batch
    }
}

}  // namespace
}  // namespace fovea
