// The dev set of a sequence-to-sequence training: loss, metric, and how long both take.
#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

std::span<const TextPair> translated_share(const std::vector<TextPair>& dev, int limit) {
    const std::size_t n = limit > 0 ? static_cast<std::size_t>(limit) : dev.size();
    return std::span(dev).first(std::min(n, dev.size()));
}

}  // namespace

// Dev pairs as examples for the loss, and what "auto" means for them.
void Seq2SeqTrainer::choose_metric(const Say& say) {
    if (dev_.empty()) return;
    dev_examples_ = encode_examples(model_, dev_, options_.limits);
    expect_input(!dev_examples_.source.empty(), options_.dev.path,
                 ": no dev pair is left: all are empty or longer than ", options_.limits.source,
                 " tokens");
    if (options_.metric != TextMetric::automatic) return;
    std::vector<References> references;
    for (const TextPair& p : dev_) references.push_back(references_of(p));
    const FittingMetric found = fitting_metric(options_.task, references);
    options_.metric = found.metric;
    if (!found.why.empty())
        say(text_of("metric: ", name_of(found.metric), ", since ", found.why,
                    "   change with --metric"));
}

// The mean over all target tokens of the dev pairs: no dropout (no tape is alive), no smoothing.
double Seq2SeqTrainer::dev_loss() const {
    BatchOptions in_order = options_.batches;
    in_order.shuffle = false;
    const BatchPlan plan(dev_examples_.lengths, in_order, 0);
    double sum = 0;
    for (std::int64_t i = 0; i < plan.batches(); ++i) {
        const Seq2SeqBatch b = pack_batch(dev_examples_, plan[i], model_.network.start_token);
        const Tensor mean = model_.network.loss(b, 0.0f);
        sum += static_cast<double>(mean.item()) * static_cast<double>(b.labels.size());
    }
    return sum / static_cast<double>(dev_examples_.target_tokens);
}

Evaluation Seq2SeqTrainer::evaluate() {
    Evaluation e;
    e.loss = dev_loss();
    if (options_.metric == TextMetric::loss) {
        e.name = "loss";
        e.value = e.loss;
        e.higher_is_better = false;
        model_.about["dev"] = {{"metric", e.name}, {"value", e.value}, {"loss", e.loss}};
        return e;
    }
    const Seq2SeqModel* const models[] = {&model_};
    SearchOptions greedy = options_.search;  // the metric while training: greedy is enough
    greedy.beam = greedy.n_best = 1;
    const Seq2SeqScore score = evaluate_pairs(models, translated_share(dev_, options_.dev_limit),
                                              {.search = greedy}, options_.metric);
    e.name = score.name;
    e.value = score.value;
    e.extra = score.figures;
    model_.about["dev"] = {{"metric", score.name},
                           {"value", score.value},
                           {"signature", score.signature},
                           {"loss", e.loss}};
    return e;
}

// A fresh model rarely ends its sentences, so a few are cut where the real targets end.
double Seq2SeqTrainer::evaluation_seconds() const {
    const Stopwatch clock;
    dev_loss();
    const double loss = clock.seconds();
    if (options_.metric == TextMetric::loss) return loss;
    const auto all = translated_share(dev_, options_.dev_limit);
    const auto few = all.first(std::min<std::size_t>(all.size(), 32));
    SearchOptions greedy = options_.search;
    greedy.beam = greedy.n_best = 1;
    const auto mean =
        dev_examples_.target_tokens / static_cast<std::int64_t>(dev_examples_.target.size());
    greedy.max_length = static_cast<int>(std::clamp<std::int64_t>(mean, 1, greedy.max_length));
    greedy.min_length = std::min(greedy.min_length, greedy.max_length);
    const Seq2SeqModel* const models[] = {&model_};
    const Stopwatch search;
    evaluate_pairs(models, few, {.search = greedy}, options_.metric);
    return loss +
           search.seconds() * static_cast<double>(all.size()) / static_cast<double>(few.size());
}

}  // namespace fovea
