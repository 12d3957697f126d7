// The events of a SentenceSearch: which tokens are certain, and when.
#include <algorithm>

#include "fovea/infer/sentence_search.h"

namespace fovea {
namespace {

std::size_t agreement(const Ids& a, const Ids& b, std::size_t from) {
    const std::size_t n = std::min(a.size(), b.size());
    while (from < n && a[from] == b[from]) ++from;
    return from;
}

}  // namespace

// The token that sample `l` has drawn, before it is appended.
bool SentenceSearch::emit_sample(const LiveHypothesis& l, std::int32_t token, float score) const {
    if (!setting_.hooks.on_token) return true;
    const bool ends = setting_.is_end(token);
    const bool full = static_cast<std::int64_t>(l.tokens.size()) + 1 >= limit_;
    return setting_.hooks.on_token({.sentence = index_,
                                    .sample = l.sample,
                                    .token = token,
                                    .score = score,
                                    .end = ends,
                                    .last = ends || full});
}

// What all hypotheses, live and finished, have in common: the best one will begin so, whichever it
// is. Hypotheses with the same beginning have the same ancestor and so the same scores.
bool SentenceSearch::emit_certain() {
    if (!setting_.hooks.on_token || muted_) return true;
    const LiveHypothesis& any = live[0];
    std::size_t agreed = any.tokens.size();
    for (const LiveHypothesis& l : live)
        agreed = std::min(agreed, agreement(any.tokens, l.tokens, emitted_));
    for (const Hypothesis& h : finished_)
        agreed = std::min(agreed, agreement(any.tokens, h.tokens, emitted_));
    for (; emitted_ < agreed; ++emitted_)
        if (!setting_.hooks.on_token({.sentence = index_,
                                      .token = any.tokens[emitted_],
                                      .score = any.token_scores[emitted_]}))
            return false;
    return true;
}

// The rest of the best hypothesis, once the sentence is done.
void SentenceSearch::emit_best() {
    if (!setting_.hooks.on_token || muted_ || finished_.empty()) return;
    const Hypothesis& h = finished_[0];
    for (; emitted_ < h.token_scores.size(); ++emitted_) {
        const bool ends = emitted_ == h.tokens.size();
        if (!setting_.hooks.on_token({.sentence = index_,
                                      .token = ends ? h.end_token : h.tokens[emitted_],
                                      .score = h.token_scores[emitted_],
                                      .end = ends,
                                      .last = emitted_ + 1 == h.token_scores.size()}))
            return;
    }
}

}  // namespace fovea
