#include "fovea/bench/pretrain.h"

#include <cstdlib>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/precision.h"
#include "fovea/base/threads.h"
#include "fovea/bench/child_program.h"
#include "fovea/bench/duel.h"
#include "fovea/bench/random_encoder.h"
#include "fovea/bench/train.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/train/adamw.h"

namespace fovea::bench {
namespace {

struct TrainedModel {
    const char* name;   // of the case
    const char* model;  // a row of text_encoders()
    const char* preset;
    int layers, width, heads;  // which the preset means, for the peer
    int vocabulary;
    std::int64_t sequences, length;
    HeadChoice head;
    bool has_dropout = true;

    double tokens() const { return static_cast<double>(sequences * length); }
    std::string case_name() const { return text_of(name, " ", sequences, "x", length); }
};
// The last is nanoGPT's recipe for a CPU: characters, 0.8 M parameters.
const TrainedModel models[] = {
    {"bert-base", "bert", "base", 12, 768, 12, 30522, 16, 128, {Head::classes, 2}},
    {"gpt2", "gpt2", "base", 12, 768, 12, 50257, 4, 256, {Head::words}},
    {"nanogpt", "gpt2", "tiny", 4, 128, 4, 67, 12, 64, {Head::words}, false}};

// One update after another on the same tokens, as `fovea train` does it.
class Training {
public:
    Training(const TrainedModel& t, float dropout, Precision precision)
        : precision_(precision),
          model_({.model = t.model,
                  .preset = t.preset,
                  .vocabulary = t.vocabulary,
                  .max_length = 1024,
                  .dropout = t.has_dropout ? dropout : 0.0f,
                  .head = t.head}),
          adam_(*model_.store, {}),
          masks_(1, 0x64726f70) {
        const std::vector<std::int64_t> lengths(static_cast<std::size_t>(t.sequences), t.length);
        batch_ = random_batch(lengths, t.vocabulary, 1);
        if (t.head.head == Head::words) {  // each token tells the next one
            labels_.assign(batch_.tokens.begin() + 1, batch_.tokens.end());
            labels_.push_back(0);
        } else {
            for (std::int64_t s = 0; s < t.sequences; ++s)
                labels_.push_back(static_cast<std::int32_t>(s % 2));
        }
    }

    double run(int updates) {
        const PrecisionScope scope(precision_);
        const Stopwatch clock;
        for (int u = 0; u < updates; ++u) {
            Tape tape(masks_);
            const Tensor rows = model_.network.rows(batch_);
            const Tensor loss =
                model_.network.word_loss
                    ? model_.network.word_loss(rows, labels_)
                    : cross_entropy(model_.network.classes(rows, batch_.segments), labels_);
            const Gradients gradients = tape.gradients(loss);
            const double norm = adam_.gradient_norm(gradients);
            adam_.step(gradients, 1e-5, norm > 1.0 ? static_cast<float>(1.0 / norm) : 1.0f);
        }
        return clock.seconds();
    }

private:
    Precision precision_;
    RandomEncoder model_;
    AdamW adam_;
    Rng masks_;
    TokenBatch batch_;
    Ids labels_;
};

class PretrainBench {
public:
    explicit PretrainBench(const PretrainBenchOptions& options) : options_(options) {}

    std::vector<Row> run() {
        for (const TrainedModel& t : models) {
            for (const std::string& p : options_.precisions)
                if (options_.wants("pretrain " + t.case_name() + " " + p)) speed(t, p);
            if (options_.memory && !options_.quick &&
                options_.wants("pretrain memory " + t.case_name() + " f32"))
                memory(t);
        }
        return std::move(rows_);
    }

private:
    Json opening(const TrainedModel& t) const {
        return {{"do", "open_training"},
                {"model", t.model},
                {"layers", t.layers},
                {"width", t.width},
                {"heads", t.heads},
                {"vocabulary", t.vocabulary},
                {"dropout", t.has_dropout ? options_.dropout : 0.0f}};
    }
    static Json updates(const TrainedModel& t, int count) {
        return {{"do", "train"}, {"batch", t.sequences}, {"length", t.length}, {"steps", count}};
    }

    void speed(const TrainedModel& t, const std::string& precision) {
        if (options_.stop()) return;
        if (options_.on_case) options_.on_case("pretrain " + t.case_name() + " " + precision);
        Training ours(t, options_.dropout, precision_of(precision));
        std::optional<TextPeer> torch;
        if (options_.peers) torch.emplace(options_, "torch", "f32", opening(t));
        const auto row =
            run_duel(options_,
                     {.row = {.bench = "pretrain",
                              .name = t.case_name(),
                              .precision = precision,
                              .unit = "tokens/s"},
                      .ours = [&](std::int64_t, int n) { return std::optional(ours.run(n)); },
                      .asks = [&](std::int64_t, int n) { return updates(t, n); },
                      .work = [&](std::int64_t, int n) { return t.tokens() * n; },
                      .seconds = 120,
                      .sample_seconds = 1,
                      .quick_seconds = 20,
                      .quick_sample_seconds = 0.3},
                     torch ? &*torch : nullptr);
        if (row) rows_.push_back(*row);
    }

    void memory(const TrainedModel& t) {
        if (options_.stop()) return;
        if (options_.on_case) options_.on_case("pretrain memory " + t.case_name());
        constexpr int count = 3;
        Row row{.bench = "pretrain memory",
                .name = t.case_name(),
                .precision = "f32",
                .threads = thread_count(),
                .unit = "MB",
                .higher_is_better = false};
        row.value = row.median = memory_of_child(t, count) / 1e6;
        if (options_.peers) {
            TextPeer torch(options_, "torch", "f32", opening(t));
            torch.seconds(updates(t, count));
            row.peer = torch.name();
            if (const auto bytes = torch.memory())
                row.peer_value = row.peer_median = *bytes / 1e6;
            else
                row.note = torch.trouble();
        }
        add(row);
    }

    // A fresh process tells: ours has held other models.
    double memory_of_child(const TrainedModel& t, int count) const {
        return std::strtod(
            output_of_fovea({"bench", "pretrain-memory", "--model", t.name, "--dropout",
                             std::to_string(options_.dropout), "--updates", std::to_string(count),
                             "--threads", std::to_string(thread_count())})
                .c_str(),
            nullptr);
    }

    void add(const Row& row) {
        if (options_.on_row) options_.on_row(row);
        rows_.push_back(row);
    }

    const PretrainBenchOptions& options_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> bench_pretrain(const PretrainBenchOptions& options) {
    return PretrainBench(options).run();
}

double pretrain_memory(const std::string& model, float dropout, int updates) {
    for (const TrainedModel& t : models)
        if (model == t.name) Training(t, dropout, Precision::f32).run(updates);
    return largest_resident_size();
}

}  // namespace fovea::bench
