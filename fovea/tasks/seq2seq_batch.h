#pragma once
// Examples of a sequence-to-sequence task, and packed batches of them.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/batch_plan.h"
#include "fovea/data/pairs.h"
#include "fovea/tasks/seq2seq_model.h"

namespace fovea {

struct Seq2SeqExamples {
    std::vector<Ids> source, target;  // both end with </s>
    // Networks that copy: source tokens as ids of the target, and the target with the words of its
    // source that the vocabulary has not (seq2seq_copy.h). Others: empty.
    std::vector<Ids> copies, labels;
    std::vector<std::int64_t> lengths;   // the longer side, for the batch plan
    std::vector<std::uint64_t> samples;  // the example's number in its file: names its masks
    std::int64_t dropped = 0;            // too long or empty
    std::int64_t source_tokens = 0, target_tokens = 0;
};

struct LengthLimits {
    std::int64_t source = 256, target = 256;  // tokens, </s> included
    bool cut_source = false;                  // cut instead of drop (documents)
};

Seq2SeqExamples encode_examples(const Seq2SeqModel& model, std::span<const TextPair> pairs,
                                const LengthLimits& limits);

Seq2SeqBatch pack_batch(const Seq2SeqExamples& examples, std::span<const std::int64_t> indices,
                        std::int32_t start_token);

// For peers and debugging: config.json, init.safetensors (the parameters as they are now),
// examples.jsonl and plan.jsonl (the batches of so many epochs, in order).
struct DumpedModel {
    const Json& config;
    const ParameterStore& store;
};
void dump_batches(const std::string& folder, const DumpedModel& model,
                  const Seq2SeqExamples& examples, const BatchOptions& batches,
                  std::int64_t epochs);

}  // namespace fovea
