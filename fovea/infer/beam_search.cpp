#include "fovea/infer/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "fovea/base/rng.h"
#include "fovea/infer/candidates.h"
#include "fovea/infer/constraints.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct Live {  // a hypothesis that may go on
    Ids tokens;
    std::vector<float> token_scores;
    double sum = 0;
    std::int64_t row = 0;  // of the stepper's last step
    ConstraintState constraints;
    std::vector<double> coverage;  // attention each source token has received
};

struct Candidate {
    std::size_t live = 0;  // which hypothesis
    std::int32_t token = 0;
    float score = 0;  // log-probability of the token
    double sum = 0;
    int bank = 0;  // constraint tokens produced
};

bool better(const Candidate& a, const Candidate& b) {
    if (a.sum != b.sum) return a.sum > b.sum;
    if (a.live != b.live) return a.live < b.live;
    return a.token < b.token;
}

// Wu et al. 2016, eq. 14:  cp = β Σ_j log min(Σ_i p_ij, 1)
double coverage_bonus(const std::vector<double>& coverage, double beta) {
    double sum = 0;
    for (const double c : coverage) sum += std::log(std::max(1e-9, std::min(c, 1.0)));
    return beta * sum;
}

class Sentence {
public:
    Sentence(const SearchOptions& o, const DecodeRequest* request, std::int64_t source_length,
             std::uint64_t sample_id, std::int32_t end)
        : options_(o), request_(request), end_(end), rng_(o.seed, 0x5a5au) {
        rng_.seek(sample_id << 24);
        limit_ = std::min<std::int64_t>(
            o.max_length,
            static_cast<std::int64_t>(o.max_length_factor * static_cast<double>(source_length)) +
                10);
        const int width = o.sample ? o.n_best : 1;
        for (int i = 0; i < width; ++i) {
            Live first;
            if (request_) first.constraints = ConstraintState(&request_->constraints);
            live.push_back(first);
        }
    }

    bool done() const { return live.empty(); }

    void cover(std::size_t i, std::span<const float> weights) {
        std::vector<double>& c = live[i].coverage;
        c.resize(weights.size(), 0.0);
        for (std::size_t j = 0; j < weights.size(); ++j) c[j] += weights[j];
    }

    // Takes the scores of the next token of each live hypothesis and moves on.
    void advance(const std::vector<TokenScores>& scores) {
        const std::size_t at = live[0].tokens.size();
        if (request_ && at < request_->prefix.size()) return force(request_->prefix[at], scores);
        if (options_.sample) return draw(scores);
        std::vector<Candidate> all;
        for (std::size_t i = 0; i < live.size(); ++i) {
            for (std::size_t k = 0; k < scores[i].best.size(); ++k)
                add(all, i, scores[i].best[k], scores[i].log_probs[k]);
            for (const std::int32_t t : live[i].constraints.wanted())
                if (std::find(scores[i].best.begin(), scores[i].best.end(), t) ==
                    scores[i].best.end())
                    add(all, i, t, scores[i].log_prob(t));
        }
        std::sort(all.begin(), all.end(), better);
        choose(all);
    }

    std::vector<Hypothesis> result() {
        std::stable_sort(
            finished_.begin(), finished_.end(),
            [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
        if (static_cast<int>(finished_.size()) > options_.n_best)
            finished_.resize(static_cast<std::size_t>(options_.n_best));
        return std::move(finished_);
    }

    std::vector<Live> live;

private:
    void add(std::vector<Candidate>& all, std::size_t i, std::int32_t token, float score) const {
        if (score == -std::numeric_limits<float>::infinity()) return;
        if (std::find(options_.banned.begin(), options_.banned.end(), token) !=
            options_.banned.end())
            return;
        if (token == end_ && !live[i].constraints.all_met()) return;
        const int bank = live[i].constraints.empty() || token == end_
                             ? 0
                             : live[i].constraints.after(token).progress();
        all.push_back({i, token, score, live[i].sum + score, bank});
    }

    // The best `beam` places: an </s> among them finishes its hypothesis, the others live on. With
    // constraints the places are shared out among banks of equal progress, so that a hypothesis
    // that has begun a costly phrase is not crowded out at once.
    void choose(const std::vector<Candidate>& sorted) {
        const auto beam = static_cast<std::size_t>(options_.beam);
        std::vector<Live> next;
        std::vector<Candidate> taken;
        const bool banks = !live[0].constraints.empty();
        if (banks) {
            std::vector<Candidate> rest = sorted;
            while (taken.size() < beam && !rest.empty()) {
                std::vector<int> served;
                std::vector<Candidate> later;
                for (const Candidate& c : rest) {
                    const bool first =
                        std::find(served.begin(), served.end(), c.bank) == served.end();
                    if (first && taken.size() < beam) {
                        served.push_back(c.bank);
                        taken.push_back(c);
                    } else {
                        later.push_back(c);
                    }
                }
                rest = std::move(later);
            }
            std::sort(taken.begin(), taken.end(), better);
        } else {
            // </s> counts only among the first `beam`; live ones are filled up from the rest.
            std::size_t lives = 0;
            for (std::size_t k = 0; k < sorted.size() && lives < beam; ++k) {
                if (sorted[k].token == end_ && k >= beam) continue;
                if (sorted[k].token != end_) ++lives;
                taken.push_back(sorted[k]);
            }
        }
        for (const Candidate& c : taken) {
            if (c.token == end_)
                finish(live[c.live], c.score, true);
            else
                next.push_back(extended(live[c.live], c.token, c.score));
        }
        settle(std::move(next));
    }

    void force(std::int32_t token, const std::vector<TokenScores>& scores) {
        std::vector<Live> next;
        for (std::size_t i = 0; i < live.size(); ++i)
            next.push_back(extended(live[i], token, scores[i].log_prob(token)));
        settle(std::move(next));
    }

    void draw(const std::vector<TokenScores>& scores) {
        std::vector<Live> next;
        for (std::size_t i = 0; i < live.size(); ++i) {
            const auto [token, score] = scores[i].sample(rng_.uniform(), options_.temperature,
                                                         options_.top_k, options_.top_p);
            if (token == end_)
                finish(live[i], score, true);
            else
                next.push_back(extended(live[i], token, score));
        }
        settle(std::move(next));
    }

    static Live extended(const Live& from, std::int32_t token, float score) {
        Live l = from;
        l.tokens.push_back(token);
        l.token_scores.push_back(score);
        l.sum += score;
        l.constraints = from.constraints.after(token);
        return l;
    }

    void finish(const Live& l, std::optional<float> end_score, bool finished) {
        Hypothesis h;
        h.tokens = l.tokens;
        h.token_scores = l.token_scores;
        h.sum = l.sum;
        h.finished = finished;
        if (end_score) {
            h.token_scores.push_back(*end_score);
            h.sum += *end_score;
        }
        h.score = ranked_score(h.sum, static_cast<std::int64_t>(h.token_scores.size()),
                               options_.penalty, options_.penalty_strength, options_.word_penalty);
        if (options_.coverage_penalty > 0)
            h.score += coverage_bonus(l.coverage, options_.coverage_penalty);
        finished_.push_back(std::move(h));
    }

    void settle(std::vector<Live> next) {
        live = std::move(next);
        if (live.empty()) return;
        const auto enough =
            static_cast<std::size_t>(options_.sample ? options_.n_best : options_.beam);
        if (static_cast<std::int64_t>(live[0].tokens.size()) >= limit_) {
            for (const Live& l : live)
                if (finished_.size() < enough || options_.sample) finish(l, std::nullopt, false);
            live.clear();
        } else if (!options_.sample && finished_.size() >= enough) {
            if (options_.early_stop || !can_still_win()) live.clear();
        }
    }

    // Without early stop: could the best live one, at its most favourable length, enter the list?
    bool can_still_win() const {
        double worst = -minus_infinity, best = minus_infinity;
        for (const Hypothesis& h : finished_) worst = std::min(worst, h.score);
        for (const Live& l : live)
            best = std::max(
                best,
                std::max(ranked_score(l.sum, limit_, options_.penalty, options_.penalty_strength),
                         ranked_score(l.sum, static_cast<std::int64_t>(l.tokens.size()) + 1,
                                      options_.penalty, options_.penalty_strength)));
        return best > worst;
    }

    const SearchOptions& options_;
    const DecodeRequest* request_;
    std::int32_t end_;
    Rng rng_;
    std::int64_t limit_;
    std::vector<Hypothesis> finished_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search(Stepper& stepper, const SearchOptions& options,
                                            const std::vector<DecodeRequest>& requests,
                                            const std::vector<std::uint64_t>& sample_ids) {
    options.check();
    const auto count = static_cast<std::size_t>(stepper.sentences());
    expect(requests.empty() || requests.size() == count, "search: ", requests.size(),
           " requests for ", count, " sentences");
    expect(sample_ids.empty() || sample_ids.size() == count, "search: ", sample_ids.size(),
           " sample ids for ", count, " sentences");
    std::vector<Sentence> sentences;
    sentences.reserve(count);
    for (std::size_t s = 0; s < count; ++s)
        sentences.emplace_back(options, requests.empty() ? nullptr : &requests[s],
                               stepper.source_length(static_cast<std::int64_t>(s)),
                               sample_ids.empty() ? s : sample_ids[s], stepper.end_token());
    stepper.want_source_weights(options.coverage_penalty > 0);
    // Searching, a banned token is passed over and the others keep their probabilities, so that a
    // hypothesis has the score that score_pairs gives it; to be drawn from, they must sum to one.
    SearchOptions controlled_by = options;
    if (!options.sample) controlled_by.banned.clear();
    const LogitControls controls{controlled_by, stepper.end_token()};
    const bool controlled = options.repetition_penalty != 1.0 || options.no_repeat_ngram > 0 ||
                            !controlled_by.banned.empty() || options.min_length > 0;

    for (bool first = true;; first = false) {
        Ids tokens;
        std::vector<std::int64_t> parents;
        std::vector<Live*> rows;
        for (std::size_t s = 0; s < count; ++s)
            for (Live& l : sentences[s].live) {
                tokens.push_back(first ? stepper.start_token() : l.tokens.back());
                parents.push_back(first ? static_cast<std::int64_t>(s) : l.row);
                rows.push_back(&l);
            }
        if (tokens.empty()) break;
        Tensor logits = stepper.step(tokens, parents);
        const auto vocabulary = static_cast<std::size_t>(logits.cols());
        if (controlled) {
            float* data = logits.write();
            for (std::size_t r = 0; r < rows.size(); ++r)
                controls.apply({data + r * vocabulary, vocabulary}, rows[r]->tokens);
        }
        // One more than the places: an </s> may stand among the best and finish.
        const int wanted =
            options.sample ? 0 : 2 * options.beam + static_cast<int>(options.banned.size());
        const std::vector<TokenScores> scores = top_scores(logits, wanted);
        for (std::size_t r = 0, s = 0; s < count; ++s) {
            const std::size_t n = sentences[s].live.size();
            if (n == 0) continue;
            for (std::size_t i = 0; i < n; ++i) {
                sentences[s].live[i].row = static_cast<std::int64_t>(r + i);
                if (options.coverage_penalty > 0)
                    sentences[s].cover(i, stepper.source_weights(static_cast<std::int64_t>(r + i)));
            }
            sentences[s].advance({scores.begin() + static_cast<std::ptrdiff_t>(r),
                                  scores.begin() + static_cast<std::ptrdiff_t>(r + n)});
            r += n;
        }
    }
    std::vector<std::vector<Hypothesis>> out;
    for (Sentence& s : sentences) out.push_back(s.result());
    return out;
}

}  // namespace fovea
