#include "fovea/bench/training_work.h"

#include <algorithm>
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"

namespace fovea::bench {

Seq2SeqExamples random_pairs(const RandomPairs& o) {
    constexpr int specials = 3;  // <pad>, </s>, <unk>
    expect(o.vocabulary > specials + 1, "bench: a vocabulary of ", o.vocabulary, " tokens");
    Rng rng(o.seed, 0x70616972);
    const auto near = [&](double center, double deviation) {
        return std::exp(std::log(center) + deviation * rng.normal());
    };
    const auto tokens = [&](std::int64_t n) {
        Ids ids;
        for (std::int64_t i = 0; i + 1 < n; ++i)  // about as Zipf's law has it
            ids.push_back(specials +
                          static_cast<std::int32_t>(
                              std::exp(rng.uniform() * std::log(o.vocabulary - specials))) -
                          1);
        ids.push_back(1);
        return ids;
    };
    Seq2SeqExamples e;
    for (std::int64_t i = 0; i < o.count; ++i) {
        std::int64_t source = o.length, target = o.length;
        if (o.length == 0) {
            source = std::clamp<std::int64_t>(2 + std::llround(near(10.5, 0.5)), 3, 128);
            target = std::clamp<std::int64_t>(std::llround(near(static_cast<double>(source), 0.15)),
                                              3, 128);
        }
        e.source.push_back(tokens(source));
        e.target.push_back(tokens(target));
        e.lengths.push_back(std::max(source, target));
        e.samples.push_back(static_cast<std::uint64_t>(i));
        e.source_tokens += source;
        e.target_tokens += target;
    }
    return e;
}

TrainingWork::TrainingWork(const TransformerConfig& config, Seq2SeqExamples examples,
                           std::int64_t batch_tokens, std::uint64_t seed)
    : config_(config),
      examples_(std::move(examples)),
      batches_{.max_tokens = batch_tokens, .seed = seed},
      plan_(examples_.lengths, batches_, 0),
      seed_(seed) {
    expect(plan_.batches() > 0, "bench: there is no pair to train on");
}

std::span<const std::int64_t> TrainingWork::indices(std::int64_t update) const {
    return plan_[update % plan_.batches()];
}

Seq2SeqBatch TrainingWork::batch(std::int64_t update) const {
    return pack_batch(examples_, indices(update), config_.decoder_start_token_id);
}

double TrainingWork::target_tokens(std::int64_t first, int updates) const {
    std::size_t n = 0;
    for (std::int64_t u = first; u < first + updates; ++u)
        for (const std::int64_t i : indices(u))
            n += examples_.target[static_cast<std::size_t>(i)].size();
    return static_cast<double>(n);
}

double TrainingWork::flops(std::int64_t first, int updates) const {
    const double d = config_.d_model;
    const double encoder = config_.encoder_layers * (4 * d * d + 2 * d * config_.encoder_ffn_dim);
    const double memory = config_.decoder_layers * 2 * d * d;  // keys and values of the source
    const double decoder = config_.decoder_layers * (6 * d * d + 2 * d * config_.decoder_ffn_dim) +
                           d * config_.target_vocab();
    double multiplications = 0;
    for (std::int64_t u = first; u < first + updates; ++u)
        for (const std::int64_t i : indices(u)) {
            const auto n =
                static_cast<double>(examples_.source[static_cast<std::size_t>(i)].size());
            const auto m =
                static_cast<double>(examples_.target[static_cast<std::size_t>(i)].size());
            multiplications += n * (encoder + memory) + m * decoder;
            // Scores and mixtures: all of the source, half of the target (what lies behind).
            multiplications += 2 * d *
                               (config_.encoder_layers * n * n +
                                config_.decoder_layers * (m * n + m * (m + 1) / 2));
        }
    return 3 * 2 * multiplications;
}

void TrainingWork::dump(const std::string& folder) const {
    const Json config = config_.to_json();
    dump_batches(folder, {config, *FreshTransformer(config_, seed_).store}, examples_, batches_, 1);
}

TrainingRun::TrainingRun(const TrainingWork& work, const std::string& precision)
    : work_(work),
      precision_(precision_of(precision)),
      model_(work.config(), work.seed()),
      adam_(*model_.store, {}),
      dropout_(work.seed(), 0x64726f70) {}

double TrainingRun::run(std::int64_t first, int updates) {
    const PrecisionScope scope(precision_);
    const Stopwatch clock;
    for (std::int64_t u = first; u < first + updates; ++u) update(u);
    return clock.seconds();
}

void TrainingRun::update(std::int64_t index) {
    const Seq2SeqBatch b = work_.batch(index);
    Tape tape(dropout_);
    const Tensor loss = model_.network->loss(b.source, b.source_segments, b.input, b.labels,
                                             b.target_segments, {.smoothing = work_.smoothing()});
    loss_ = loss.item();
    const Gradients gradients = tape.gradients(loss);
    const double norm = adam_.gradient_norm(gradients);
    const auto step = static_cast<double>(adam_.updates() + 1);
    adam_.step(gradients, 1e-3 * std::min(1.0, step / 1000),
               norm > 1.0 ? static_cast<float>(1.0 / norm) : 1.0f);
}

}  // namespace fovea::bench
