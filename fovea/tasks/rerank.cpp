#include "fovea/tasks/rerank.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/batch_plan.h"
#include "fovea/tasks/seq2seq_batch.h"
#include "fovea/tasks/seq2seq_own_tokens.h"

namespace fovea {
namespace {

using Candidates = std::vector<TranslatedText::Candidate>;

void expect_rerankable(std::span<const Seq2SeqModel* const> models,
                       const TranslateOptions& options) {
    const auto refuse = [](const std::string& what, const std::string& hint) {
        fail_with(ErrorKind::usage, hint, "--rerank r2l: ", what);
    };
    if (options.search.sample)
        refuse("a drawn text has no other end to agree with", "leave out --sample");
    if (!options.prefixes.empty() || !options.constraints.empty())
        refuse("beginnings and phrases are read from left to right",
               "leave out --prefixes and --constraints");
    for (const Seq2SeqModel* m : models)
        if (m->network.copies) refuse("not for a model that copies", "leave out --rerank");
}

// What both searches found, each text once.
Candidates united(const TranslatedText& a, const TranslatedText& b) {
    Candidates all = a.n_best;
    for (const TranslatedText::Candidate& c : b.n_best)
        if (std::none_of(all.begin(), all.end(), [&](const TranslatedText::Candidate& known) {
                return known.hypothesis.tokens == c.hypothesis.tokens;
            }))
            all.push_back(c);
    return all;
}

// Every candidate of every text as an example: a source and a target.
struct ScoredPairs {
    Seq2SeqExamples examples;
    std::vector<Hypothesis*> hypotheses;  // of each example
};

ScoredPairs pairs_of(const Seq2SeqModel& model, std::span<const std::string> texts,
                     std::vector<Candidates>& candidates) {
    ScoredPairs p;
    std::vector<Ids> sources = model.encode_sources(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Ids& source = sources[i];
        if (const auto most = static_cast<std::size_t>(model.max_source_length);
            source.size() > most) {
            source.resize(most);
            source.back() = model.network.end_token;
        }
        for (TranslatedText::Candidate& c : candidates[i]) {
            if (c.hypothesis.token_scores.empty()) continue;  // of a blank text
            Ids target = c.hypothesis.tokens;
            target.push_back(model.network.end_token);
            p.examples.lengths.push_back(
                static_cast<std::int64_t>(std::max(source.size(), target.size())));
            p.examples.samples.push_back(p.hypotheses.size());
            p.examples.source.push_back(source);
            p.examples.target.push_back(std::move(target));
            p.hypotheses.push_back(&c.hypothesis);
        }
    }
    return p;
}

// ½ (log p→ + log p←) of each pair, the mean over the models.
std::vector<double> agreement_of(std::span<const Seq2SeqModel* const> models,
                                 const ScoredPairs& pairs, std::int64_t batch_tokens) {
    std::vector<double> sums(pairs.hypotheses.size());
    const BatchPlan plan(pairs.examples.lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    for (const Seq2SeqModel* m : models) {
        const PrecisionScope scope(m->precision);
        const double share = 0.5 / static_cast<double>(models.size());
        for (std::int64_t b = 0; b < plan.batches(); ++b) {
            const Seq2SeqBatch forwards =
                pack_batch(pairs.examples, plan[b], m->network.start_token);
            for (const Seq2SeqBatch& batch :
                 {forwards, all_reversed(forwards, m->network.reverse_token)}) {
                const Tensor losses = m->network.token_losses(batch);
                for (std::size_t k = 0; k < plan[b].size(); ++k) {
                    const auto s = static_cast<std::int64_t>(k);
                    double sum = 0;
                    for (std::int64_t r = batch.target_segments.begin(s);
                         r < batch.target_segments.end(s); ++r)
                        sum -= losses.data()[r];
                    sums[static_cast<std::size_t>(plan[b][k])] += share * sum;
                }
            }
        }
    }
    return sums;
}

}  // namespace

std::vector<TranslatedText> reranked(std::span<const Seq2SeqModel* const> models,
                                     std::span<const std::string> texts,
                                     const TranslateOptions& options) {
    expect_rerankable(models, options);
    TranslateOptions search = options;
    search.rerank = false;
    search.on_text = {};
    search.search.n_best = options.search.beam;
    std::vector<TranslatedText> out = translate(models, texts, search);
    search.from_right = true;
    search.progress = {};
    const std::vector<TranslatedText> from_right = translate(models, texts, search);

    std::vector<Candidates> candidates;
    for (std::size_t i = 0; i < texts.size(); ++i)
        candidates.push_back(united(out[i], from_right[i]));
    const ScoredPairs pairs = pairs_of(*models[0], texts, candidates);
    const std::vector<double> sums = agreement_of(models, pairs, options.batch_tokens);
    const SearchOptions& o = options.search;
    for (std::size_t k = 0; k < sums.size(); ++k) {
        Hypothesis& h = *pairs.hypotheses[k];
        h.sum = sums[k];
        h.score = ranked_score(sums[k], static_cast<std::int64_t>(h.tokens.size()) + 1, o.penalty,
                               o.penalty_strength, o.word_penalty);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::stable_sort(
            candidates[i].begin(), candidates[i].end(),
            [](const auto& a, const auto& b) { return a.hypothesis.score > b.hypothesis.score; });
        if (candidates[i].size() > static_cast<std::size_t>(o.n_best))
            candidates[i].resize(static_cast<std::size_t>(o.n_best));
        out[i].n_best = std::move(candidates[i]);
    }
    return out;
}

}  // namespace fovea
