#pragma once
// The search for one sentence: its live hypotheses, what is finished, and which tokens are certain.
// It sees rows of scores and no model; beam_search.cpp runs many of them over one Stepper.
// Not thread-safe: it belongs to one search.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/infer/constraints.h"
#include "fovea/infer/search_options.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {

struct LiveHypothesis {  // one that may go on
    Ids tokens;
    std::vector<float> token_scores;
    double sum = 0;
    std::int64_t row = 0;  // of the stepper's last logits
    int sample = 0;
    ConstraintState constraints;
    std::vector<double> coverage;  // attention each source token has received
};

// What all sentences of a search share.
struct SearchSetting {
    const SearchOptions& options;
    const SearchHooks& hooks;
    std::span<const std::int32_t> end_tokens;

    bool is_end(std::int32_t token) const;
};

class SentenceSearch {
public:
    // `request` outlives the search; `index` is its place in the batch, and the row of its prompt.
    SentenceSearch(const SearchSetting& setting, const DecodeRequest& request, std::int64_t index);

    bool done() const { return live.empty(); }
    // Adds the attention that hypothesis i pays to the source when it chooses its next token.
    void cover(std::size_t i, std::span<const float> weights);
    // Takes the scores of the next token, those of hypothesis i in row live[i].row, and moves on.
    void advance(std::span<const TokenScores> rows);
    void stop();                               // ends here: what lives is returned as not finished
    Ids with_prompt(const Ids& tokens) const;  // behind the request's prompt
    std::vector<Hypothesis> result();          // best first; once, when done

    std::vector<LiveHypothesis> live;

private:
    struct Candidate {
        std::size_t live = 0;  // which hypothesis
        std::int32_t token = 0;
        float score = 0;  // log-probability of the token
        double sum = 0;
        int bank = 0;       // constraint tokens produced
        bool ends = false;  // an end token, or the text is complete with it
    };
    static bool better(const Candidate& a, const Candidate& b);
    bool completes(const Candidate& c) const;

    void cut();
    void force(std::int32_t token, std::span<const TokenScores> rows);
    void draw(std::span<const TokenScores> rows);
    void search(std::span<const TokenScores> rows);
    void add(std::vector<Candidate>& all, std::size_t i, std::int32_t token, float score) const;
    std::vector<Candidate> best_of(const std::vector<Candidate>& sorted) const;
    std::vector<Candidate> best_of_banks(const std::vector<Candidate>& sorted) const;
    void finish(const LiveHypothesis& l, const Candidate* end = nullptr);  // null: cut
    void settle(std::vector<LiveHypothesis> next);
    void commit();
    void conclude();
    std::size_t wanted_results() const;
    bool can_still_win() const;
    bool emit_sample(const LiveHypothesis& l, std::int32_t token, float score) const;
    bool emit_certain();
    void emit_best();

    SearchSetting setting_;
    const SearchOptions& options_;
    const DecodeRequest& request_;
    std::int64_t index_, limit_;
    Rng rng_;
    std::vector<Hypothesis> finished_;
    std::size_t emitted_ = 0;  // tokens of the best hypothesis handed out so far
    bool muted_ = false;       // no more events: the listener or the stop flag ended the search
};

}  // namespace fovea
