#include "fovea/bench/train.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>

#include "fovea/base/threads.h"
#include "fovea/bench/kernels.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/data/pairs.h"
#include "fovea/kernels/isa.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea::bench {
namespace {

std::int64_t batch_tokens(const TrainBenchOptions& o) {
    return o.batch_tokens > 0 ? o.batch_tokens : o.quick ? 1024 : 4096;
}

// Real pairs, in the tokens of a vocabulary trained on them.
Seq2SeqExamples pairs_of(const std::string& file, TransformerConfig& config) {
    PairFiles files = pair_files_of(file);
    files.limit = 20000;
    const std::vector<TextPair> pairs = read_pairs(files);
    std::vector<std::string> texts;
    for (const TextPair& p : pairs) texts.insert(texts.end(), {p.source, p.target});
    Seq2SeqModel model;
    model.source_tokenizer = model.target_tokenizer =
        std::make_shared<const Tokenizer>(train_vocabulary(texts, {.size = config.vocab_size}));
    Seq2SeqExamples e = encode_examples(model, pairs, {});
    expect_input(!e.source.empty(), file, ": no pair is left to train on");
    return e;
}

class TrainBench {
public:
    TrainBench(const TrainBenchOptions& options, double seconds, double quick_seconds)
        : options_(options), seconds_(seconds), quick_seconds_(quick_seconds) {}

    std::vector<Row> run() {
        for (const std::string& preset : options_.presets)
            speed("train", case_name(preset), [&] { return training_work(options_, preset); });
        if (options_.memory && !options_.quick)
            for (const std::string& preset : options_.presets)
                if (preset == "base" && !options_.stop()) memory(preset);
        return std::move(rows_);
    }

    // Tokens per second against the length of the sentences and against the layers, at the sizes of
    // `small` otherwise.
    std::vector<Row> run_scaling() {
        TransformerConfig small;
        small.apply_preset("small");
        small.dropout = options_.dropout;
        small.vocab_size = options_.vocabulary > 0 ? options_.vocabulary : 8000;
        const auto work = [&](const TransformerConfig& config, std::int64_t length) {
            const std::int64_t tokens = batch_tokens(options_);
            return TrainingWork(
                config,
                random_pairs({.count = 8 * std::max<std::int64_t>(
                                               tokens / std::max<std::int64_t>(length, 14), 1),
                              .vocabulary = config.vocab_size,
                              .length = length,
                              .seed = options_.seed}),
                tokens, options_.seed);
        };
        for (const std::int64_t length : {32, 64, 128, 256, 512, 1024, 2048})
            if (length <= batch_tokens(options_))
                speed("scaling", text_of("length ", length), [&] { return work(small, length); });
        for (const int layers : {1, 2, 4, 6, 8}) {
            TransformerConfig c = small;
            c.encoder_layers = c.decoder_layers = layers;
            speed("scaling", text_of("layers ", layers, "+", layers), [&] { return work(c, 0); });
        }
        return std::move(rows_);
    }

private:
    std::string case_name(const std::string& preset) const {
        return text_of(preset, " ", batch_tokens(options_), " tokens");
    }
    bool wanted(const std::string& what, const std::string& name,
                const std::string& precision) const {
        return options_.wants(what + " " + name + " " + precision);
    }

    void speed(const std::string& bench, const std::string& name,
               const std::function<TrainingWork()>& make_work) {
        std::vector<std::string> precisions;
        for (const std::string& p : options_.precisions)
            if (wanted(bench, name, p)) precisions.push_back(p);
        if (precisions.empty() || options_.stop()) return;
        if (options_.on_case) options_.on_case(bench + " " + name);

        const TrainingWork work = make_work();
        const ScratchFolder folder;
        std::list<TrainingRun> ours;
        std::list<TorchPeer> torch;
        std::vector<Racer> racers;
        for (const std::string& p : precisions) {
            TrainingRun& run = ours.emplace_back(work, p);
            racers.push_back({p, [&run](std::int64_t first, int n) { return run.run(first, n); }});
        }
        if (options_.peers) start_peers(work, folder, precisions, torch);
        for (TorchPeer& peer : torch)
            racers.push_back(
                {peer.name(), [&peer](std::int64_t first, int n) { return peer.run(first, n); }});
        const Contestant fma = KernelBench::arithmetic_limit("f32"),
                         tiles = KernelBench::arithmetic_limit("bf16");
        double best_fma = 0, best_tiles = 0;
        const std::vector<RaceFigure> figures = race(
            racers, [&](std::int64_t first, int n) { return work.target_tokens(first, n); },
            {.seconds = options_.seconds > 0 ? options_.seconds
                        : options_.quick     ? quick_seconds_
                                             : seconds_,
             .sample_seconds = options_.quick ? 0.3 : 1.0,
             .least_rounds = options_.quick ? 1 : 4},
            options_.stop,
            [&] {
                best_fma = std::max(best_fma, fma.work / fma.run(1));
                best_tiles = std::max(best_tiles, tiles.work / tiles.run(1));
            });
        if (options_.stop()) return;
        const Race result{precisions, figures, work.flops(0, 32) / work.target_tokens(0, 32),
                          best_fma, best_tiles};
        Row row;
        row.bench = bench;
        row.name = name;
        row.threads = thread_count();
        row.unit = "tokens/s";
        report(row, result, ours, torch);
    }

    void start_peers(const TrainingWork& work, const ScratchFolder& folder,
                     const std::vector<std::string>& precisions, std::list<TorchPeer>& torch) {
        work.dump(folder.path());
        for (const bool bf16 : {false, true}) {
            if (bf16 && (precisions.back() != "bf16" || !torch.front().alive())) continue;
            if (bf16 && options_.quick) {
                if (const double slowdown = torch.front().bf16_slowdown(); slowdown > 4) {
                    options_.note(
                        fmt::format("left out with --quick: {}'s bf16 products take {:.0f} "
                                    "times as long as f32 here",
                                    torch.front().name(), slowdown));
                    continue;
                }
            }
            torch.emplace_back(options_, TorchTraining{.folder = folder.path(),
                                                       .dropout = options_.dropout,
                                                       .smoothing = work.smoothing(),
                                                       .bf16 = bf16});
        }
        if (!torch.front().alive())
            options_.note("no PyTorch beside us: " + torch.front().trouble());
    }

    struct Race {
        const std::vector<std::string>& precisions;
        const std::vector<RaceFigure>& figures;  // ours, then the peers'
        double flops_per_token, best_fma, best_tiles;
    };

    void report(Row row, const Race& race, const std::list<TrainingRun>& ours,
                const std::list<TorchPeer>& torch) {
        auto run = ours.begin();
        for (std::size_t i = 0; i < race.precisions.size(); ++i, ++run) {
            const bool bf16 = race.precisions[i] == "bf16";
            row.precision = race.precisions[i];
            row.value = race.figures[i].best;
            row.median = race.figures[i].median;
            row.share = row.value * race.flops_per_token / (bf16 ? race.best_tiles : race.best_fma);
            row.note = bf16 && kernels::active_isa() != kernels::Isa::amx
                           ? "no AMX here: bf16 by f32 arithmetic"
                           : "";
            if (torch.empty() || torch.front().name().empty()) {
                add(row);
                continue;
            }
            std::size_t at = race.precisions.size();
            for (const TorchPeer& peer : torch) {
                // f32 beside f32 only, bf16 beside both.
                if (bf16 || &peer == &torch.front())
                    add(beside(row, peer, race.figures[at], run->loss()));
                ++at;
            }
        }
    }

    static Row beside(Row row, const TorchPeer& peer, const RaceFigure& figure, double our_loss) {
        row.peer = peer.name();
        if (figure.samples > 0) {
            row.peer_value = figure.best;
            row.peer_median = figure.median;
            // The same training: after the same updates from the same weights (other dropout).
            if (std::abs(peer.loss() - our_loss) > 0.05 * our_loss)
                row.note += text_of(row.note.empty() ? "" : "; ", "losses differ: ours ", our_loss,
                                    ", the peer's ", peer.loss());
        }
        if (!peer.alive() || figure.samples == 0)
            row.note += (row.note.empty() ? "" : "; ") + peer.trouble();
        return row;
    }

    void memory(const std::string& preset) {
        const std::string name = case_name(preset);
        constexpr int updates = 3;
        for (const std::string& p : options_.precisions) {
            if (!wanted("train memory", name, p) || options_.stop()) continue;
            if (options_.on_case) options_.on_case("train memory " + name + " " + p);
            Row row{.bench = "train memory",
                    .name = name,
                    .precision = p,
                    .threads = thread_count(),
                    .value = training_memory(options_, preset, p, updates) / 1e6,
                    .unit = "MB",
                    .higher_is_better = false};
            row.median = row.value;
            if (options_.peers) {
                const ScratchFolder folder;
                training_work(options_, preset).dump(folder.path());
                TorchPeer peer(
                    options_,
                    {.folder = folder.path(), .dropout = options_.dropout, .bf16 = p == "bf16"});
                row.peer = peer.name();
                peer.run(0, updates);
                if (const auto bytes = peer.memory())
                    row.peer_value = row.peer_median = *bytes / 1e6;
                else
                    row.note = peer.trouble();
            }
            add(row);
        }
    }

    void add(const Row& row) {
        if (options_.on_row) options_.on_row(row);
        rows_.push_back(row);
    }

    const TrainBenchOptions& options_;
    double seconds_, quick_seconds_;  // for a case
    std::vector<Row> rows_;
};

}  // namespace

TrainingWork training_work(const TrainBenchOptions& o, const std::string& preset) {
    TransformerConfig config;
    config.apply_preset(preset);
    config.dropout = o.dropout;
    config.vocab_size = o.vocabulary > 0 ? o.vocabulary : config.d_model >= 512 ? 32000 : 8000;
    if (!o.data.empty()) {
        Seq2SeqExamples examples = pairs_of(o.data, config);
        return {config, std::move(examples), batch_tokens(o), o.seed};
    }
    const RandomPairs pairs{.count = 32 * std::max<std::int64_t>(batch_tokens(o) / 14, 1),
                            .vocabulary = config.vocab_size,
                            .seed = o.seed};
    return {config, random_pairs(pairs), batch_tokens(o), o.seed};
}

std::vector<Row> bench_train(const TrainBenchOptions& options) {
    return TrainBench(options, 150, 12).run();
}

std::vector<Row> bench_scaling(const TrainBenchOptions& options) {
    return TrainBench(options, 10, 2).run_scaling();
}

}  // namespace fovea::bench
