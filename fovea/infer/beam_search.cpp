#include "fovea/infer/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/infer/candidates.h"
#include "fovea/infer/sentence_search.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

std::vector<Ids> prompts_of(const Stepper& stepper, std::span<const DecodeRequest> requests) {
    std::vector<Ids> prompts;
    for (const DecodeRequest& r : requests) {
        prompts.push_back(r.prompt.empty() ? stepper.default_prompt() : r.prompt);
        if (prompts.back().empty())
            fail_with(ErrorKind::usage, "give it at least one token to go on from",
                      "search: request ", prompts.size() - 1, " has no prompt");
        expect(r.limit >= 0, "search: request ", prompts.size() - 1, " has the limit ", r.limit);
    }
    return prompts;
}

// A token outside would be read from beyond the row of scores.
void expect_in_vocabulary(const Ids& tokens, std::int64_t vocabulary, const char* what) {
    for (const std::int32_t t : tokens)
        if (t < 0 || t >= vocabulary)
            fail_with(ErrorKind::usage, "use the tokens of the model's own tokenizer",
                      "search: ", what, " token ", t, " is not one of the model's ", vocabulary);
}

void expect_tokens_exist(std::span<const DecodeRequest> requests,
                         std::span<const std::int32_t> end_tokens, std::int64_t vocabulary) {
    expect_in_vocabulary(Ids(end_tokens.begin(), end_tokens.end()), vocabulary, "end");
    for (const DecodeRequest& r : requests) {
        expect_in_vocabulary(r.prompt, vocabulary, "prompt");
        expect_in_vocabulary(r.prefix, vocabulary, "prefix");
        for (const Ids& phrase : r.constraints)
            expect_in_vocabulary(phrase, vocabulary, "constraint");
    }
}

SourceAttention* source_for_coverage(Stepper& stepper, const SearchOptions& options) {
    SourceAttention* source = stepper.source();
    const bool wanted = options.coverage_penalty > 0;
    if (wanted && !source)
        fail_with(ErrorKind::usage, "leave the coverage penalty at 0",
                  "search: a coverage penalty, but the model has no source to cover");
    if (source) source->keep_weights(wanted);
    return wanted ? source : nullptr;
}

// The sum over a row in which everything is forbidden is not a number but -infinity; any other sum
// that is no number comes from the model.
void settle_dead_end(TokenScores& row) {
    if (std::isfinite(row.log_sum_exp)) return;
    row.log_sum_exp = -std::numeric_limits<float>::infinity();
    if (std::any_of(row.logits, row.logits + row.vocabulary,
                    [&](float x) { return x != row.log_sum_exp; }))
        fail_with(ErrorKind::bad_input,
                  "its weights are damaged, or its training went astray: load another checkpoint, "
                  "or train again with a lower rate",
                  "search: the model gives scores that are not numbers");
}

// The search of a whole batch: one step of the model serves the live hypotheses of all sentences.
class BatchSearch {
public:
    BatchSearch(Stepper& stepper, const SearchOptions& options,
                std::span<const DecodeRequest> requests, const SearchHooks& hooks)
        : stepper_(stepper),
          options_(options),
          hooks_(hooks),
          source_(source_for_coverage(stepper, options)),
          controlled_by_(options) {
        // Searching, a banned token is passed over and the others keep their probabilities, so that
        // a hypothesis has the score that score_pairs gives it; to be drawn from, they must sum to
        // one.
        if (!options.sample) controlled_by_.banned.clear();
        controlled_ = options.repetition_penalty != 1.0 || options.no_repeat_ngram > 0 ||
                      !controlled_by_.banned.empty() || !options.bad_words.empty() ||
                      options.min_length > 0;
        const SearchSetting setting{options, hooks, stepper.end_tokens()};
        sentences_.reserve(requests.size());
        for (std::size_t s = 0; s < requests.size(); ++s)
            sentences_.emplace_back(setting, requests[s], static_cast<std::int64_t>(s));
    }

    bool stopped() const { return hooks_.stop && hooks_.stop->load(std::memory_order_relaxed); }

    std::vector<std::vector<Hypothesis>> run(Tensor logits) {
        while (true) {
            advance(logits);
            Ids tokens;
            std::vector<std::int64_t> parents;
            for (SentenceSearch& s : sentences_)
                for (LiveHypothesis& l : s.live) {
                    parents.push_back(l.row);
                    l.row = static_cast<std::int64_t>(tokens.size());
                    tokens.push_back(l.tokens.back());
                }
            if (tokens.empty() || stopped()) return results();
            logits = stepper_.step(tokens, parents);
        }
    }

    std::vector<std::vector<Hypothesis>> results() {
        std::vector<std::vector<Hypothesis>> out;
        for (SentenceSearch& s : sentences_) {
            if (!s.done()) s.stop();
            out.push_back(s.result());
        }
        return out;
    }

private:
    void advance(Tensor& logits) {
        if (controlled_) control(logits);
        std::vector<TokenScores> rows = top_scores(logits, candidates());
        for (TokenScores& row : rows) settle_dead_end(row);
        for (SentenceSearch& s : sentences_) {
            if (s.done()) continue;
            for (std::size_t i = 0; source_ && i < s.live.size(); ++i)
                s.cover(i, source_->weights(s.live[i].row));
            s.advance(rows);
        }
    }

    void control(Tensor& logits) const {
        const LogitControls controls{controlled_by_, stepper_.end_tokens()};
        const auto vocabulary = static_cast<std::size_t>(logits.cols());
        float* data = logits.write();
        std::int64_t done = -1;  // at first all samples of a sentence share a row
        for (const SentenceSearch& s : sentences_)
            for (const LiveHypothesis& l : s.live) {
                if (l.row == done) continue;
                done = l.row;
                controls.apply({data + static_cast<std::size_t>(done) * vocabulary, vocabulary},
                               options_.prompt_counts ? s.with_prompt(l.tokens) : l.tokens,
                               l.tokens.size());
            }
    }

    // How many tokens of each hypothesis can matter: `beam` that go on, and the end tokens, which
    // only finish; banned ones are passed over. (Constraints use the others up to twice the beam.)
    int candidates() const {
        if (options_.sample) return 0;
        const int ends = static_cast<int>(stepper_.end_tokens().size());
        return options_.beam + std::max(options_.beam, ends) +
               static_cast<int>(options_.banned.size());
    }

    Stepper& stepper_;
    const SearchOptions& options_;
    const SearchHooks& hooks_;
    SourceAttention* source_;  // null unless coverage counts
    SearchOptions controlled_by_;
    bool controlled_ = false;
    std::vector<SentenceSearch> sentences_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, const SearchOptions& options,
                                            std::span<const DecodeRequest> requests,
                                            const SearchHooks& hooks) {
    options.check();
    if (requests.empty()) return {};
    const std::vector<Ids> prompts = prompts_of(stepper, requests);
    BatchSearch batch(stepper, options, requests, hooks);
    if (batch.stopped()) return batch.results();
    Tensor logits = stepper.start(prompts);
    expect_tokens_exist(requests, stepper.end_tokens(), logits.cols());
    return batch.run(std::move(logits));
}

}  // namespace fovea
