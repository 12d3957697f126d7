#include "fovea/tasks/translate.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/batch_plan.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/ensemble_stepper.h"
#include "fovea/tasks/rerank.h"
#include "fovea/tasks/seq2seq_batch.h"
#include "fovea/tasks/translate_search.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

std::vector<std::string> token_texts(const Tokenizer& tokenizer, const Ids& ids) {
    std::vector<std::string> out;
    for (const std::int32_t id : ids) out.push_back(tokenizer.id_to_token(id).value_or("?"));
    return out;
}

// The same of a hypothesis, whose words may be the source's.
std::vector<std::string> token_texts(const Seq2SeqModel& model, const Ids& ids,
                                     const TranslateSource& s) {
    std::vector<std::string> out = token_texts(*model.target_tokenizer, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto k = static_cast<std::size_t>(ids[i] - model.network.target_vocabulary);
        if (ids[i] >= model.network.target_vocabulary && k < s.copied.words.size())
            out[i] = s.copied.words[k];
    }
    return out;
}

void expect_one_per_text(std::size_t entries, std::size_t texts, const char* what) {
    if (entries > 0 && entries != texts)
        fail_with(ErrorKind::usage, text_of("give one per text, or no ", what, " at all"),
                  "translate: ", entries, " ", what, " for ", texts, " texts");
}

// A translation may be `factor` times as long as its source, and a little longer where that is
// short.
std::int64_t length_limit(const SearchOptions& o, std::size_t source_length) {
    return std::min<std::int64_t>(
        o.max_length,
        static_cast<std::int64_t>(o.max_length_factor * static_cast<double>(source_length)) + 10);
}

DecodeRequest request_of(const Seq2SeqModel& model, const TranslateOptions& o, std::size_t i) {
    DecodeRequest w;
    w.sample_id = o.first_text + i;
    if (o.from_right) w.prompt = {model.network.reverse_token};
    const auto ids = [&](const std::string& text) {
        Ids t = model.encode_target(text);
        t.pop_back();  // </s>
        return t;
    };
    if (!o.prefixes.empty() && !o.prefixes[i].empty()) w.prefix = ids(o.prefixes[i]);
    if (!o.constraints.empty())
        for (const std::string& phrase : o.constraints[i]) w.constraints.push_back(ids(phrase));
    return w;
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

std::unique_ptr<Stepper> stepper_of(std::span<const Seq2SeqModel* const> models,
                                    const TokenBatch& sources, const Ids& copies) {
    std::vector<std::unique_ptr<Stepper>> members;
    for (const Seq2SeqModel* m : models) {
        const PrecisionScope scope(m->precision);  // the stepper keeps it
        members.push_back(m->network.stepper(sources, copies));
    }
    if (members.size() == 1) return std::move(members[0]);
    return std::make_unique<EnsembleStepper>(std::move(members));
}

// Probabilities can only be averaged token by token.
void expect_same_tokens(const Tokenizer& a, const Tokenizer& b, const char* side) {
    bool same = a.vocab_size() == b.vocab_size();
    for (std::int32_t id = 0; same && id < a.vocab_size(); ++id)
        same = a.id_to_token(id) == b.id_to_token(id);
    if (!same)
        throw Error(text_of("ensemble: the models have different ", side, " vocabularies"),
                    ErrorKind::bad_input,
                    "train them with one --tokenizer, or on the same data with other seeds");
}

}  // namespace

std::vector<TranslateSource> translate_sources(const Seq2SeqModel& model,
                                               std::span<const std::string> texts) {
    std::vector<TranslateSource> all;
    const auto limit = static_cast<std::size_t>(model.max_source_length);
    for (Ids& ids : model.encode_sources(texts)) {
        TranslateSource& s = all.emplace_back(TranslateSource{std::move(ids), false});
        if (model.network.copies)
            s.copied = model.copy_vocabulary().source_of(texts[all.size() - 1]);
        if (s.ids.size() <= limit) continue;
        for (Ids* cut : {&s.ids, &s.copied.ids}) {
            if (cut->empty()) continue;
            cut->resize(limit);
            cut->back() = model.network.end_token;
        }
        s.cut = true;
    }
    return all;
}

std::string text_of_tokens(const Seq2SeqModel& model, const Ids& tokens,
                           const TranslateSource& source) {
    return model.network.copies ? model.copy_vocabulary().text_of(tokens, source.copied.words)
                                : model.decode_target(tokens);
}

std::vector<TranslatedText> translate_batches(std::span<const Seq2SeqModel* const> models,
                                              std::span<const std::string> texts,
                                              const TranslateOptions& options,
                                              const SearchHooks& hooks) {
    options.search.check();
    const Seq2SeqModel& first = *models[0];
    std::vector<TranslatedText> out(texts.size());
    const std::vector<TranslateSource> sources = translate_sources(first, texts);
    std::vector<DecodeRequest> requests;
    std::vector<std::size_t> asked;  // texts to search for
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        requests.push_back(request_of(first, options, i));
        requests[i].limit = length_limit(options.search, sources[i].ids.size());
        if (options.tokens)
            out[i].source_tokens = token_texts(*first.source_tokenizer, sources[i].ids);
        out[i].cut = sources[i].cut;
        out[i].source_length = sources[i].ids.size();
        if (is_blank(texts[i]) && requests[i].prefix.empty() && requests[i].constraints.empty()) {
            out[i].n_best.resize(1);
            continue;
        }
        asked.push_back(i);
        lengths.push_back(static_cast<std::int64_t>(sources[i].ids.size()));
    }
    for (const Seq2SeqModel* m : models) {
        if (m == &first) continue;
        expect_same_tokens(*first.source_tokenizer, *m->source_tokenizer, "source");
        expect_same_tokens(*first.target_tokenizer, *m->target_tokenizer, "target");
    }
    SearchOptions search_options = options.search;
    if (first.network.pad_token != first.network.end_token)
        search_options.banned.push_back(first.network.pad_token);
    if (first.network.reverse_token >= 0)
        search_options.banned.push_back(first.network.reverse_token);
    // Who can copy has a word for what the vocabulary lacks.
    if (first.network.copies && first.network.unknown_token != first.network.end_token)
        search_options.banned.push_back(first.network.unknown_token);

    // Longest first: the hardest batches while memory is fresh, and equal lengths together.
    const BatchPlan plan(
        lengths,
        {.max_tokens = options.batch_tokens, .max_examples = options.batch_texts, .shuffle = false},
        0);
    auto done = static_cast<std::int64_t>(texts.size() - asked.size());
    for (std::int64_t b = plan.batches(); b-- > 0;) {
        if (options.stop && options.stop->load()) break;
        std::vector<Ids> batch;
        Ids copies;
        std::vector<DecodeRequest> batch_requests;
        for (const std::int64_t k : plan[b]) {
            const std::size_t i = asked[static_cast<std::size_t>(k)];
            batch.push_back(sources[i].ids);
            const Ids& copied = sources[i].copied.ids;
            copies.insert(copies.end(), copied.begin(), copied.end());
            batch_requests.push_back(std::move(requests[i]));
        }
        const auto stepper = stepper_of(models, pack(batch), copies);
        auto found = search(*stepper, search_options, batch_requests, hooks);
        for (std::size_t k = 0; k < found.size(); ++k) {
            const std::size_t i = asked[static_cast<std::size_t>(plan[b][k])];
            for (Hypothesis& h : found[k]) {
                TranslatedText::Candidate c;
                if (options.from_right) std::reverse(h.tokens.begin(), h.tokens.end());
                const TranslateSource& source = sources[i];
                c.text = text_of_tokens(first, h.tokens, source);
                if (options.tokens) c.tokens = token_texts(first, h.tokens, source);
                if (options.alignments)
                    c.alignment = align(first, sources[i].ids, h.tokens, options.alignment_layer);
                c.hypothesis = std::move(h);
                out[i].n_best.push_back(std::move(c));
            }
        }
        done += static_cast<std::int64_t>(found.size());
        if (options.progress) options.progress(done, static_cast<std::int64_t>(texts.size()));
    }
    return out;
}

std::vector<TranslatedText> translate(std::span<const Seq2SeqModel* const> models,
                                      std::span<const std::string> texts,
                                      const TranslateOptions& options) {
    expect(!models.empty(), "translate: no model");
    expect_one_per_text(options.prefixes.size(), texts.size(), "prefixes");
    expect_one_per_text(options.constraints.size(), texts.size(), "lists of constraints");
    if (options.from_right || options.rerank)
        for (const Seq2SeqModel* m : models)
            if (m->network.reverse_token < 0)
                fail_with(ErrorKind::usage, "train one with fovea train --reverse-share 0.5",
                          "translate: the model has not learned to read from right to left");
    if (options.rerank) return reranked(models, texts, options);
    if (!options.on_text) return translate_batches(models, texts, options, {.stop = options.stop});
    if (options.search.n_best > 1 || options.search.sample)
        fail_with(ErrorKind::usage, "leave out --n-best and --sample, or --stream",
                  "translate: only the best text can be shown while it is made");
    return translate_streamed(models, texts, options);
}

std::vector<TranslatedText> translate(const Seq2SeqModel& model, std::span<const std::string> texts,
                                      const TranslateOptions& options) {
    const Seq2SeqModel* const one[] = {&model};
    return translate(one, texts, options);
}

std::string translate(const Seq2SeqModel& model, const std::string& text) {
    const auto out = translate(model, std::span(&text, 1), {.search = model.search});
    return out[0].n_best.empty() ? "" : out[0].n_best[0].text;
}

std::vector<PairScore> score_pairs(const Seq2SeqModel& model, std::span<const std::string> sources,
                                   std::span<const std::string> targets,
                                   std::int64_t batch_tokens) {
    expect(sources.size() == targets.size(), "score: ", sources.size(), " sources but ",
           targets.size(), " targets");
    std::vector<TextPair> pairs;
    for (std::size_t i = 0; i < sources.size(); ++i) pairs.push_back({sources[i], targets[i], 0});
    const LengthLimits limits{
        .source = model.max_source_length, .target = 1 << 20, .cut_source = true};
    const Seq2SeqExamples e = encode_examples(model, pairs, limits);
    const BatchPlan plan(e.lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    std::vector<PairScore> out(sources.size());
    const PrecisionScope scope(model.precision);
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        const Seq2SeqBatch batch = pack_batch(e, plan[b], model.network.start_token);
        const Tensor losses = model.network.token_losses(batch);
        for (std::size_t k = 0; k < plan[b].size(); ++k) {
            const auto s = static_cast<std::int64_t>(k);
            PairScore& p = out[e.samples[static_cast<std::size_t>(plan[b][k])]];
            for (std::int64_t r = batch.target_segments.begin(s); r < batch.target_segments.end(s);
                 ++r) {
                p.token_scores.push_back(-losses.data()[r]);
                p.sum += p.token_scores.back();
            }
        }
    }
    return out;
}

}  // namespace fovea
