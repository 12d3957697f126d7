#pragma once
// Training as it is measured: a model's sizes, pairs of tokens, the plan of their batches; and our
// own way of doing it, one update after another.
#include <cstdint>
#include <string>

#include "fovea/base/precision.h"
#include "fovea/base/rng.h"
#include "fovea/tasks/seq2seq_batch.h"
#include "fovea/tasks/seq2seq_transformer.h"
#include "fovea/train/adamw.h"

namespace fovea::bench {

// Pairs of random tokens whose lengths are like those of short sentences (about log-normal, 14
// tokens in the mean, the target's length near the source's), or all of one length.
struct RandomPairs {
    std::int64_t count = 0;
    int vocabulary = 8000;
    std::int64_t length = 0;  // 0: like sentences
    std::uint64_t seed = 1;
};
Seq2SeqExamples random_pairs(const RandomPairs& options);

class TrainingWork {
public:
    TrainingWork(const TransformerConfig& config, Seq2SeqExamples examples,
                 std::int64_t batch_tokens, std::uint64_t seed);

    const TransformerConfig& config() const { return config_; }
    std::uint64_t seed() const { return seed_; }
    float smoothing() const { return 0.1f; }

    // Updates go round and round through the plan.
    Seq2SeqBatch batch(std::int64_t update) const;
    double target_tokens(std::int64_t first, int updates) const;
    // Multiplications and additions of the matrix products, backward counted as twice forward.
    double flops(std::int64_t first, int updates) const;

    // For a peer: see dump_batches.
    void dump(const std::string& folder) const;

private:
    std::span<const std::int64_t> indices(std::int64_t update) const;

    TransformerConfig config_;
    Seq2SeqExamples examples_;
    BatchOptions batches_;
    BatchPlan plan_;
    std::uint64_t seed_;
};

// Our side: a fresh model from the work's seed, trained as `fovea train` does it.
class TrainingRun {
public:
    TrainingRun(const TrainingWork& work, const std::string& precision);  // f32 or bf16

    double run(std::int64_t first, int updates);  // seconds
    double loss() const { return loss_; }         // of the last update

private:
    void update(std::int64_t index);

    const TrainingWork& work_;
    Precision precision_;
    FreshTransformer model_;
    AdamW adam_;
    Rng dropout_;
    double loss_ = 0;
};

}  // namespace fovea::bench
