#include "fovea/tasks/seq2seq_batch.h"

#include <algorithm>

#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"

namespace fovea {

Seq2SeqExamples encode_examples(const Seq2SeqModel& model, std::span<const TextPair> pairs,
                                const LengthLimits& limits) {
    std::vector<std::string> sources, targets;
    for (const TextPair& p : pairs) {
        sources.push_back(p.source);
        targets.push_back(p.target);
    }
    std::vector<Ids> source_ids = model.encode_sources(sources),
                     target_ids = model.encode_targets(targets);
    Seq2SeqExamples e;
    const std::int32_t end = model.network.end_token;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        Ids &s = source_ids[i], &t = target_ids[i];
        CopiedText copied;
        if (model.network.copies) copied = model.copy_vocabulary().source_of(pairs[i].source);
        if (limits.cut_source && static_cast<std::int64_t>(s.size()) > limits.source) {
            for (Ids* ids : {&s, &copied.ids}) {
                if (ids->empty()) continue;
                ids->resize(static_cast<std::size_t>(limits.source));
                ids->back() = end;
            }
        }
        const auto ns = static_cast<std::int64_t>(s.size()),
                   nt = static_cast<std::int64_t>(t.size());
        if (ns < 2 || nt < 2 || ns > limits.source || nt > limits.target) {
            ++e.dropped;
            continue;
        }
        e.source_tokens += ns;
        e.target_tokens += nt;
        e.lengths.push_back(std::max(ns, nt));
        e.samples.push_back(i);
        if (model.network.copies) {
            e.labels.push_back(model.copy_vocabulary().labels_of(pairs[i].target, copied.words));
            e.copies.push_back(std::move(copied.ids));
        }
        e.source.push_back(std::move(s));
        e.target.push_back(std::move(t));
    }
    return e;
}

Seq2SeqBatch pack_batch(const Seq2SeqExamples& examples, std::span<const std::int64_t> indices,
                        std::int32_t start_token) {
    Seq2SeqBatch b;
    std::vector<std::int64_t> source_lengths, target_lengths;
    std::vector<std::uint64_t> samples;
    for (const std::int64_t index : indices) {
        const auto i = static_cast<std::size_t>(index);
        const Ids &s = examples.source[i], &t = examples.target[i];
        b.source.insert(b.source.end(), s.begin(), s.end());
        b.input.push_back(start_token);
        b.input.insert(b.input.end(), t.begin(), t.end() - 1);
        const Ids& labels = examples.labels.empty() ? t : examples.labels[i];
        b.labels.insert(b.labels.end(), labels.begin(), labels.end());
        if (!examples.copies.empty())
            b.copies.insert(b.copies.end(), examples.copies[i].begin(), examples.copies[i].end());
        source_lengths.push_back(static_cast<std::int64_t>(s.size()));
        target_lengths.push_back(static_cast<std::int64_t>(t.size()));
        samples.push_back(examples.samples[i]);
    }
    b.source_segments = Segments::of_lengths(source_lengths, samples);
    b.target_segments = Segments::of_lengths(target_lengths, samples);
    return b;
}

void dump_batches(const std::string& folder, const DumpedModel& model,
                  const Seq2SeqExamples& examples, const BatchOptions& batches,
                  std::int64_t epochs) {
    make_folders(folder);
    write_file_atomically(join_path(folder, "config.json"), to_text(model.config, 2));
    save_parameters(join_path(folder, "init.safetensors"), model.store);
    std::string lines;
    for (std::size_t i = 0; i < examples.source.size(); ++i)
        lines += to_text(Json{examples.source[i], examples.target[i]}) + "\n";
    write_file_atomically(join_path(folder, "examples.jsonl"), lines);
    lines.clear();
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        const BatchPlan plan(examples.lengths, batches, epoch);
        for (std::int64_t b = 0; b < plan.batches(); ++b)
            lines +=
                to_text(Json(std::vector<std::int64_t>(plan[b].begin(), plan[b].end()))) + "\n";
    }
    write_file_atomically(join_path(folder, "plan.jsonl"), lines);
}

}  // namespace fovea
