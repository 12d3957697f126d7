#include "fovea/infer/sentence_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace fovea {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

LiveHypothesis extended(const LiveHypothesis& from, std::int32_t token, float score) {
    LiveHypothesis l = from;
    l.tokens.push_back(token);
    l.token_scores.push_back(score);
    l.sum += score;
    l.constraints = from.constraints.after(token);
    return l;
}

// Every token is forbidden, by the controls or the model itself.
bool is_dead_end(const TokenScores& row) { return std::isinf(row.log_sum_exp); }

}  // namespace

bool SearchSetting::is_end(std::int32_t token) const {
    return std::find(end_tokens.begin(), end_tokens.end(), token) != end_tokens.end();
}

SentenceSearch::SentenceSearch(const SearchSetting& setting, const DecodeRequest& request,
                               std::int64_t index)
    : setting_(setting),
      options_(setting.options),
      request_(request),
      index_(index),
      limit_(request.limit > 0 ? request.limit : setting.options.max_length),
      rng_(setting.options.seed, 0x5a5au) {
    rng_.seek(request.sample_id.value_or(static_cast<std::uint64_t>(index)) << 24);
    const int width = options_.sample ? options_.n_best : 1;
    for (int i = 0; i < width; ++i) {
        LiveHypothesis first;
        first.row = index;
        first.sample = i;
        first.constraints = ConstraintState(&request.constraints);
        live.push_back(std::move(first));
    }
}

Ids SentenceSearch::with_prompt(const Ids& tokens) const {
    Ids all = request_.prompt;
    all.insert(all.end(), tokens.begin(), tokens.end());
    return all;
}

void SentenceSearch::cover(std::size_t i, std::span<const float> weights) {
    std::vector<double>& c = live[i].coverage;
    c.resize(weights.size(), 0.0);
    for (std::size_t j = 0; j < weights.size(); ++j) c[j] += weights[j];
}

void SentenceSearch::advance(std::span<const TokenScores> rows) {
    const std::size_t at = live[0].tokens.size();
    if (at < request_.prefix.size())
        force(request_.prefix[at], rows);
    else if (options_.sample)
        draw(rows);
    else
        search(rows);
}

void SentenceSearch::force(std::int32_t token, std::span<const TokenScores> rows) {
    std::vector<LiveHypothesis> next;
    for (const LiveHypothesis& l : live) {
        const float score = rows[static_cast<std::size_t>(l.row)].log_prob(token);
        next.push_back(extended(l, token, score));
        if (!options_.sample || emit_sample(l, token, score)) continue;
        finish(next.back());
        next.pop_back();
    }
    settle(std::move(next));
}

void SentenceSearch::draw(std::span<const TokenScores> rows) {
    std::vector<LiveHypothesis> next;
    for (const LiveHypothesis& l : live) {
        const TokenScores& row = rows[static_cast<std::size_t>(l.row)];
        if (is_dead_end(row)) {
            finish(l);
            continue;
        }
        const auto [token, score] = row.sample(rng_.uniform(), {.temperature = options_.temperature,
                                                                .top_k = options_.top_k,
                                                                .top_p = options_.top_p,
                                                                .min_p = options_.min_p});
        const bool goes_on = emit_sample(l, token, score);
        if (setting_.is_end(token)) {
            const Candidate end{.token = token, .score = score};
            finish(l, &end);
        } else if (goes_on) {
            next.push_back(extended(l, token, score));
        } else {
            finish(extended(l, token, score));
        }
    }
    settle(std::move(next));
}

bool SentenceSearch::better(const Candidate& a, const Candidate& b) {
    if (a.sum != b.sum) return a.sum > b.sum;
    if (a.live != b.live) return a.live < b.live;
    return a.token < b.token;
}

void SentenceSearch::search(std::span<const TokenScores> rows) {
    std::vector<Candidate> all;
    for (std::size_t i = 0; i < live.size(); ++i) {
        const TokenScores& row = rows[static_cast<std::size_t>(live[i].row)];
        if (is_dead_end(row)) continue;
        for (std::size_t k = 0; k < row.best.size(); ++k)
            add(all, i, row.best[k], row.log_probs[k]);
        for (const std::int32_t t : live[i].constraints.wanted())
            if (std::find(row.best.begin(), row.best.end(), t) == row.best.end())
                add(all, i, t, row.log_prob(t));
    }
    if (all.empty()) return cut();
    std::sort(all.begin(), all.end(), better);
    std::vector<LiveHypothesis> next;
    for (const Candidate& c : live[0].constraints.empty() ? best_of(all) : best_of_banks(all)) {
        if (setting_.is_end(c.token)) {
            finish(live[c.live], &c);
        } else {
            next.push_back(extended(live[c.live], c.token, c.score));
            if (!c.ends) continue;
            finish(next.back());
            finished_.back().finished = true;
            next.pop_back();
        }
    }
    settle(std::move(next));
}

void SentenceSearch::add(std::vector<Candidate>& all, std::size_t i, std::int32_t token,
                         float score) const {
    if (score == -std::numeric_limits<float>::infinity()) return;
    if (std::find(options_.banned.begin(), options_.banned.end(), token) != options_.banned.end())
        return;
    const bool ends = setting_.is_end(token);
    if (ends && !live[i].constraints.all_met()) return;
    const int bank =
        live[i].constraints.empty() || ends ? 0 : live[i].constraints.after(token).progress();
    all.push_back({i, token, score, live[i].sum + score, bank});
}

bool SentenceSearch::completes(const Candidate& c) const {
    if (setting_.is_end(c.token)) return true;
    if (!setting_.hooks.ends || !live[c.live].constraints.after(c.token).all_met()) return false;
    Ids tokens = live[c.live].tokens;
    tokens.push_back(c.token);
    return setting_.hooks.ends(index_, tokens);
}

// An end token counts only among the first `beam`; live ones are filled up from the rest.
std::vector<SentenceSearch::Candidate> SentenceSearch::best_of(
    const std::vector<Candidate>& sorted) const {
    const auto beam = static_cast<std::size_t>(options_.beam);
    std::vector<Candidate> taken;
    std::size_t lives = 0;
    for (std::size_t k = 0; k < sorted.size() && lives < beam; ++k) {
        Candidate c = sorted[k];
        c.ends = completes(c);
        if (c.ends && k >= beam) continue;
        if (!c.ends) ++lives;
        taken.push_back(c);
    }
    return taken;
}

// With constraints the places are shared out among banks of equal progress, so that a hypothesis
// that has begun a costly phrase is not crowded out at once.
std::vector<SentenceSearch::Candidate> SentenceSearch::best_of_banks(
    const std::vector<Candidate>& sorted) const {
    const auto beam = static_cast<std::size_t>(options_.beam);
    std::vector<Candidate> taken, rest = sorted;
    while (taken.size() < beam && !rest.empty()) {
        std::vector<int> served;
        std::vector<Candidate> later;
        for (const Candidate& c : rest) {
            const bool first = std::find(served.begin(), served.end(), c.bank) == served.end();
            if (first && taken.size() < beam) {
                served.push_back(c.bank);
                taken.push_back(c);
                taken.back().ends = completes(c);
            } else {
                later.push_back(c);
            }
        }
        rest = std::move(later);
    }
    std::sort(taken.begin(), taken.end(), better);
    return taken;
}

void SentenceSearch::finish(const LiveHypothesis& l, const Candidate* end) {
    Hypothesis h;
    h.tokens = l.tokens;
    h.token_scores = l.token_scores;
    h.sum = l.sum;
    h.finished = end != nullptr;
    h.constraints_met = l.constraints.all_met();
    h.sample = l.sample;
    if (end) {
        h.end_token = end->token;
        h.token_scores.push_back(end->score);
        h.sum += end->score;
    }
    h.score = ranked_score(h.sum, static_cast<std::int64_t>(h.token_scores.size()),
                           options_.penalty, options_.penalty_strength, options_.word_penalty);
    if (options_.coverage_penalty > 0)
        h.score += coverage_bonus(l.coverage, options_.coverage_penalty);
    finished_.push_back(std::move(h));
}

std::size_t SentenceSearch::wanted_results() const {
    return static_cast<std::size_t>(options_.sample ? options_.n_best : options_.beam);
}

void SentenceSearch::settle(std::vector<LiveHypothesis> next) {
    live = std::move(next);
    commit();
    if (live.empty()) return conclude();
    if (static_cast<std::int64_t>(live[0].tokens.size()) >= limit_) return cut();
    if (options_.sample) return;
    if (finished_.size() >= wanted_results() && (options_.early_stop || !can_still_win())) {
        live.clear();
        return conclude();
    }
    if (!emit_certain()) stop();
}

void SentenceSearch::cut() {
    for (const LiveHypothesis& l : live)
        if (finished_.size() < wanted_results() || options_.sample) finish(l);
    live.clear();
    conclude();
}

void SentenceSearch::stop() {
    muted_ = true;
    cut();
}

void SentenceSearch::conclude() {
    std::stable_sort(finished_.begin(), finished_.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    if (!options_.sample) emit_best();
}

std::vector<Hypothesis> SentenceSearch::result() {
    if (static_cast<int>(finished_.size()) > options_.n_best)
        finished_.resize(static_cast<std::size_t>(options_.n_best));
    return std::move(finished_);
}

// Without early stop: could the best live one, at its most favourable length, enter the list?
bool SentenceSearch::can_still_win() const {
    double worst = infinity, best = -infinity;
    for (const Hypothesis& h : finished_) worst = std::min(worst, h.score);
    for (const LiveHypothesis& l : live)
        best = std::max(
            best, std::max(ranked_score(l.sum, limit_, options_.penalty, options_.penalty_strength),
                           ranked_score(l.sum, static_cast<std::int64_t>(l.tokens.size()) + 1,
                                        options_.penalty, options_.penalty_strength)));
    return best > worst;
}

}  // namespace fovea
