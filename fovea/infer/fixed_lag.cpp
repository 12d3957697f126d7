// Fixed-lag search: what lies more than K tokens behind the end of the hypotheses is settled.
#include <algorithm>

#include "fovea/infer/sentence_search.h"

namespace fovea {

// At time t the hypotheses h are t tokens long, or finished. The best one,
//   h* = argmax_h score(h)      (ranked_score, as results are ranked)
// settles token t − K:  y_{t−K} = h*_{t−K},  and every h with h_{t−K} ≠ y_{t−K} is dropped. Where
// h* is finished and too short to have that token, the text ends with it. Earlier tokens are
// settled already, so all hypotheses agree up to t − K, and emit_certain() hands that token out.
// With K ≥ the longest text nothing is ever dropped: the search is the plain one.
void SentenceSearch::commit() {
    const auto lag = static_cast<std::size_t>(options_.fixed_lag);
    if (lag == 0 || live.empty() || live[0].tokens.size() <= lag) return;
    const std::size_t at = live[0].tokens.size() - lag - 1;
    const Ids* best = &live[0].tokens;
    double highest = ranked_score(live[0].sum, static_cast<std::int64_t>(best->size()),
                                  options_.penalty, options_.penalty_strength,
                                  options_.word_penalty);  // of the live ones: equally long
    for (const Hypothesis& h : finished_)
        if (h.score > highest) {
            highest = h.score;
            best = &h.tokens;
        }
    const Ids kept = *best;
    const auto differs = [&](const auto& h) {
        if (kept.size() <= at) return h.tokens != kept;  // the text ends here
        return h.tokens.size() <= at || h.tokens[at] != kept[at];
    };
    std::erase_if(live, differs);
    std::erase_if(finished_, differs);
    if (kept.size() <= at) live.clear();
}

}  // namespace fovea
