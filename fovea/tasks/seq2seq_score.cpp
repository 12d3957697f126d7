#include "fovea/tasks/seq2seq_score.h"

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/counting.h"
#include "fovea/metrics/lagging.h"
#include "fovea/metrics/rouge.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

struct NamedMetric {
    const char* name;
    TextMetric metric;
};
constexpr NamedMetric text_metrics[] = {
    {"auto", TextMetric::automatic}, {"bleu", TextMetric::bleu},   {"chrf", TextMetric::chrf},
    {"rouge", TextMetric::rouge},    {"exact", TextMetric::exact}, {"loss", TextMetric::loss}};

// The tokenizer of BLEU that parts the words of these texts.
BleuTokenizer tokenizer_for(std::span<const References> references) {
    std::vector<std::string> texts;
    for (const References& r : references) texts.insert(texts.end(), r.begin(), r.end());
    return fitting_tokenizer(texts);
}

// BLEU counts runs of four tokens: where few texts have one, it is 0 whatever the model does.
bool has_four_grams(std::span<const References> references, BleuTokenizer tokenizer) {
    std::size_t long_enough = 0;
    for (const References& r : references)
        long_enough += split_words(tokenize_for_bleu(tokenizer, r[0])).size() >= 4;
    return 2 * long_enough >= references.size();
}

void add_rouge(Seq2SeqScore& s, std::span<const References> references, bool chosen) {
    const CorpusRouge r = corpus_rouge(s.outputs, references);
    s.figures["rouge1"] = 100 * r.mean.rouge1.f1;
    s.figures["rouge2"] = 100 * r.mean.rouge2.f1;
    s.figures["rougeL"] = 100 * r.mean.rougeL.f1;
    s.figures["rougeLsum"] = 100 * r.mean.rougeLsum.f1;
    if (!chosen) return;
    s.name = "ROUGE-L";
    s.value = 100 * r.mean.rougeL.f1;
    s.signature = r.signature;
}

void add_bleu(Seq2SeqScore& s, std::span<const References> references, bool chosen) {
    const BleuScore b =
        corpus_bleu(s.outputs, references, {.tokenizer = tokenizer_for(references)});
    s.figures["bleu"] = b.score;
    s.figures["bleu_text"] = b.text();
    s.figures["multi_bleu_lc"] = multi_bleu(s.outputs, references, true).score;
    if (!chosen) return;
    s.name = "BLEU";
    s.value = b.score;
    s.signature = b.signature;
}

void add_chrf(Seq2SeqScore& s, std::span<const References> references, bool chosen) {
    const ChrfScore c = corpus_chrf(s.outputs, references);
    s.figures["chrf2"] = c.score;
    s.figures["chrf2_signature"] = c.signature;
    if (!chosen) return;
    s.name = c.name;
    s.value = c.score;
    s.signature = c.signature;
}

void add_exact(Seq2SeqScore& s, std::span<const References> references, bool chosen) {
    std::int64_t exact = 0;
    for (std::size_t i = 0; i < references.size(); ++i)
        exact += is_exact_match(s.outputs[i], references[i]);
    const double share = 100.0 * static_cast<double>(exact) /
                         static_cast<double>(std::max<std::size_t>(references.size(), 1));
    s.figures["exact_match"] = share;
    if (!chosen) return;
    s.name = "exact match";
    s.value = share;
    s.signature = "case:mixed";
}

}  // namespace

References references_of(const TextPair& pair) {
    References all{pair.target};
    all.insert(all.end(), pair.also.begin(), pair.also.end());
    return all;
}

const char* name_of(TextMetric metric) {
    for (const NamedMetric& m : text_metrics)
        if (m.metric == metric) return m.name;
    return "?";
}

TextMetric text_metric_of(const std::string& name) {
    for (const NamedMetric& m : text_metrics)
        if (name == m.name) return m.metric;
    fail_with(ErrorKind::usage, "one of auto, bleu, chrf, rouge, exact, loss", "no metric \"", name,
              "\"");
}

FittingMetric fitting_metric(const std::string& task, std::span<const References> references) {
    if (task == "summarise") return {TextMetric::rouge, ""};
    if (has_four_grams(references, tokenizer_for(references))) return {TextMetric::bleu, ""};
    return {TextMetric::chrf, "most targets are shorter than the four words BLEU counts"};
}

Seq2SeqScore evaluate_pairs(std::span<const Seq2SeqModel* const> models,
                            std::span<const TextPair> pairs, const TranslateOptions& options,
                            TextMetric metric) {
    std::vector<std::string> sources;
    std::vector<References> references;
    for (const TextPair& p : pairs) {
        sources.push_back(p.source);
        references.push_back(references_of(p));
    }
    const Stopwatch watch;
    const std::vector<TranslatedText> found = translate(models, sources, options);
    Seq2SeqScore s;
    s.seconds = watch.seconds();
    AverageLagging lagging;
    for (const TranslatedText& t : found) {
        if (models[0]->network.wait_k > 0 && !t.n_best.empty())
            lagging.add(t.source_length, t.n_best[0].hypothesis.token_scores.size(),
                        static_cast<std::size_t>(models[0]->network.wait_k));
        s.outputs.push_back(t.n_best.empty() ? "" : t.n_best[0].text);
        if (!t.n_best.empty())
            s.tokens += static_cast<std::int64_t>(t.n_best[0].hypothesis.token_scores.size());
    }
    if (models[0]->network.wait_k > 0) s.figures["average_lagging"] = lagging.mean();
    const bool summaries = models[0]->task == "summarise";
    if (metric == TextMetric::automatic)  // what people of the field compare
        metric = summaries ? TextMetric::rouge : TextMetric::bleu;
    add_exact(s, references, metric == TextMetric::exact);
    if (summaries || metric == TextMetric::rouge)
        add_rouge(s, references, metric == TextMetric::rouge);
    if (!summaries || metric == TextMetric::bleu)
        add_bleu(s, references, metric == TextMetric::bleu);
    if (!summaries || metric == TextMetric::chrf)
        add_chrf(s, references, metric == TextMetric::chrf);
    return s;
}

}  // namespace fovea
