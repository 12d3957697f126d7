#include "fovea/bench/infer.h"

#include <algorithm>
#include <cmath>
#include <list>

#include "fovea/base/clock.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/bench/random_encoder.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/bench/text_peer.h"
#include "fovea/kernels/peak.h"

namespace fovea::bench {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr int gpt2_vocabulary = 50257, bert_vocabulary = 30522;

bool has_whole_numbers(const std::string& precision) { return precision.starts_with("int"); }

struct EncoderShape {
    const char* preset;
    int layers, width, heads;  // the same in numbers, for peers
};
constexpr EncoderShape bert_base{"base", 12, 768, 12};
constexpr EncoderShape bert_tiny{"tiny", 2, 128, 2};  // Turc et al. 2019

// Sentences a case works through: pieces of a few batches, each with short and long ones.
struct EncoderCase {
    std::string name;
    std::vector<std::vector<Lengths>> pieces;

    double sentences(std::int64_t first, int count) const {
        double n = 0;
        for (int i = 0; i < count; ++i)
            for (const Lengths& batch : piece(first + i)) n += static_cast<double>(batch.size());
        return n;
    }
    const std::vector<Lengths>& piece(std::int64_t i) const {
        return pieces[static_cast<std::size_t>(i) % pieces.size()];
    }
};

EncoderCase equal_lengths(int batch) {
    return {text_of("bert-base ", batch, "x128"),
            {{Lengths(static_cast<std::size_t>(batch), 128)}}};
}

// Batches of so many sentences; piece i takes every so manieth batch, so that all pieces are alike.
EncoderCase in_batches(const std::string& name, Lengths lengths, bool sorted, std::size_t size) {
    if (sorted) std::sort(lengths.begin(), lengths.end());
    std::vector<Lengths> batches;
    for (std::size_t i = 0; i < lengths.size(); i += size)
        batches.emplace_back(
            lengths.begin() + static_cast<std::ptrdiff_t>(i),
            lengths.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, lengths.size())));
    constexpr std::size_t pieces = 4;
    EncoderCase c{name + (sorted ? " sorted" : " arrival"), {}};
    c.pieces.resize(std::min(pieces, batches.size()));
    for (std::size_t i = 0; i < batches.size(); ++i)
        c.pieces[i % c.pieces.size()].push_back(batches[i]);
    return c;
}

// Short lines, as people classify them: 10 to 30 tokens.
Lengths line_lengths(int count, std::uint64_t seed) {
    Rng rng(seed, 0x6c696e65);
    Lengths lengths;
    for (int i = 0; i < count; ++i) lengths.push_back(10 + rng.below(21));
    return lengths;
}

class InferBench {
public:
    explicit InferBench(const InferBenchOptions& options) : options_(options) {}

    std::vector<Row> run() {
        const Lengths sentences = sentence_lengths(options_.quick ? 256 : 1000, options_.seed);
        const Lengths lines = line_lengths(options_.quick ? 512 : 1024, options_.seed);
        run_encoders(bert_base, {equal_lengths(1), equal_lengths(32),
                                 in_batches("bert-base stream", sentences, true, 32),
                                 in_batches("bert-base stream", sentences, false, 32),
                                 in_batches("bert-base lines", lines, true, 64),
                                 in_batches("bert-base lines", lines, false, 64)});
        run_encoders(bert_tiny, {in_batches("bert-tiny lines", lines, true, 64),
                                 in_batches("bert-tiny lines", lines, false, 64)});
        run_decoders();
        return std::move(rows_);
    }

private:
    struct Peer {
        TextPeer peer;
        std::string width;      // of its weights: f32, bf16 (or f16), int8
        bool one_text = false;  // it stands beside batches of one alone
    };

    std::vector<std::string> wanted(const std::string& name) const {
        std::vector<std::string> some;
        for (const std::string& p : options_.precisions)
            if (options_.wants("infer " + name + " " + p)) some.push_back(p);
        return some;
    }

    void run_encoders(const EncoderShape& shape, std::vector<EncoderCase> cases) {
        std::erase_if(cases, [&](const EncoderCase& c) { return wanted(c.name).empty(); });
        if (cases.empty()) return;
        std::list<RandomEncoder> models;
        for (const std::string& p : options_.precisions)
            models.emplace_back(RandomEncoderOptions{.preset = shape.preset, .precision = p});
        const ScratchFolder folder;
        std::list<Peer> peers;
        if (options_.peers) {
            const auto open = [&](const char* engine) {
                return Json{{"do", "open_encoder"},    {"engine", engine},
                            {"folder", folder.path()}, {"layers", shape.layers},
                            {"width", shape.width},    {"heads", shape.heads}};
            };
            peers.push_back({{options_, "torch", "f32", open("torch")}, "f32"});
            peers.push_back({{options_, "onnxruntime", "f32", open("ort")}, "f32"});
            peers.push_back({{options_, "onnxruntime", "int8", open("ort-int8")}, "int8"});
            say_missing(peers);
        }
        for (const EncoderCase& c : cases)
            if (!options_.stop()) encode(c, models, peers);
    }

    void encode(const EncoderCase& c, const std::list<RandomEncoder>& models,
                std::list<Peer>& peers) {
        if (options_.on_case) options_.on_case("infer " + c.name);
        std::vector<std::vector<TokenBatch>> batches;
        for (const std::vector<Lengths>& piece : c.pieces) {
            batches.emplace_back();
            for (const Lengths& lengths : piece)
                batches.back().push_back(random_batch(lengths, bert_vocabulary, options_.seed));
        }
        std::vector<Racer> racers;
        for (const RandomEncoder& m : models)
            racers.push_back(
                {"", [&](std::int64_t first, int count) {
                     const PrecisionScope scope(m.precision);
                     const Stopwatch clock;
                     for (int i = 0; i < count; ++i)
                         for (const TokenBatch& b :
                              batches[static_cast<std::size_t>(first + i) % batches.size()])
                             m.network.rows(b);
                     return std::optional(clock.seconds());
                 }});
        for (Peer& p : peers)
            racers.push_back({p.peer.name(), [&](std::int64_t first, int count) {
                                  Json all = Json::array();
                                  for (int i = 0; i < count; ++i)
                                      for (const Lengths& b : c.piece(first + i)) all.push_back(b);
                                  return p.peer.seconds({{"do", "encode"}, {"batches", all}});
                              }});
        const auto figures = race(
            racers, [&](std::int64_t first, int n) { return c.sentences(first, n); },
            race_options(60, 15), options_.stop);
        report(c.name, "sentences/s", peers, figures);
    }

    void run_decoders() {
        const std::vector<std::string> names{"gpt2 prompt 512", "gpt2 decode 1", "gpt2 decode 16"};
        if (std::all_of(names.begin(), names.end(),
                        [&](const std::string& n) { return wanted(n).empty(); }))
            return;
        std::list<RandomEncoder> models;
        for (const std::string& p : options_.precisions)
            models.emplace_back(RandomEncoderOptions{.model = "gpt2",
                                                     .vocabulary = gpt2_vocabulary,
                                                     .max_length = 1024,
                                                     .head = {Head::words},
                                                     .precision = p});
        const ScratchFolder folder;
        std::list<Peer> peers;
        if (options_.peers) {
            peers.push_back({{options_, "torch", "f32", {{"do", "open_decoder"}}}, "f32"});
            for (const auto& [engine, width] :
                 {std::pair{"f32", "f32"}, {"f16", "bf16"}, {"q8_0", "int8"}})
                peers.push_back(
                    {{options_,
                      "llama_cpp",
                      engine,
                      {{"do", "open_decoder"}, {"engine", engine}, {"folder", folder.path()}}},
                     width,
                     true});
            say_missing(peers);
        }
        if (!wanted(names[0]).empty()) prompt(names[0], models, peers);
        if (!wanted(names[1]).empty()) decode(names[1], 1, models, peers);
        if (!wanted(names[2]).empty()) decode(names[2], 16, models, peers);
    }

    std::vector<Ids> prompts(int count, std::int64_t length) const {
        const Lengths lengths(static_cast<std::size_t>(count), length);
        const TokenBatch all = random_batch(lengths, gpt2_vocabulary, options_.seed);
        std::vector<Ids> out;
        for (std::int64_t s = 0; s < count; ++s)
            out.emplace_back(all.tokens.begin() + all.segments.begin(s),
                             all.tokens.begin() + all.segments.end(s));
        return out;
    }

    void prompt(const std::string& name, const std::list<RandomEncoder>& models,
                std::list<Peer>& peers) {
        if (options_.on_case) options_.on_case("infer " + name);
        const std::vector<Ids> texts = prompts(1, 512);
        std::vector<Racer> racers;
        for (const RandomEncoder& m : models)
            racers.push_back({"", [&](std::int64_t, int count) {
                                  const Stopwatch clock;
                                  for (int i = 0; i < count; ++i) GreedyDecoding(m, texts);
                                  return std::optional(clock.seconds());
                              }});
        for (Peer& p : peers)
            racers.push_back(
                {p.peer.name(), [&](std::int64_t, int count) {
                     return p.peer.seconds({{"do", "prompt"}, {"length", 512}, {"times", count}});
                 }});
        const auto figures = race(
            racers, [](std::int64_t, int n) { return 512.0 * n; }, race_options(40, 10),
            options_.stop);
        report(name, "tokens/s", peers, figures);
    }

    // Sixteen tokens a piece, after prompts of 32 that the clock does not see.
    void decode(const std::string& name, int batch, const std::list<RandomEncoder>& models,
                std::list<Peer>& peers) {
        if (options_.on_case) options_.on_case("infer " + name);
        constexpr int steps = 16, most = 900;
        const std::vector<Ids> texts = prompts(batch, 32);
        std::vector<Racer> racers;
        for (const RandomEncoder& m : models)
            racers.push_back({"", [&](std::int64_t, int count) {
                                  GreedyDecoding d(m, texts);
                                  const Stopwatch clock;
                                  for (int i = 0; i < std::min(most, steps * count); ++i) d.step();
                                  return std::optional(clock.seconds());
                              }});
        for (Peer& p : peers)
            racers.push_back({p.peer.name(), [&](std::int64_t, int count) -> std::optional<double> {
                                  if (p.one_text && batch > 1) return std::nullopt;
                                  return p.peer.seconds(
                                      {{"do", "decode"},
                                       {"batch", batch},
                                       {"prompt", 32},
                                       {"tokens", std::min(most, steps * count)}});
                              }});
        // What one token reads is the weights: the limit is how fast as many bytes can be read.
        const Tensor memory = Tensor::zeros({100, 1 << 20});
        double bandwidth = 0;
        const auto figures = race(
            racers,
            [&](std::int64_t, int n) {
                return static_cast<double>(batch) * std::min(most, steps * n);
            },
            race_options(60, 15), options_.stop,
            [&] {
                const Stopwatch clock;
                kernels::read_plain(memory.data(), memory.size());
                bandwidth =
                    std::max(bandwidth, 4.0 * static_cast<double>(memory.size()) / clock.seconds());
            });
        std::vector<double> shares;
        for (const RandomEncoder& m : models) shares.push_back(m.weight_bytes / bandwidth / batch);
        report(name, "tokens/s", peers, figures, shares);
    }

    RaceOptions race_options(double seconds, double quick_seconds) const {
        return {.seconds = options_.seconds > 0 ? options_.seconds
                           : options_.quick     ? quick_seconds
                                                : seconds,
                .sample_seconds = options_.quick ? 0.2 : 0.5,
                .least_rounds = options_.quick ? 1 : 4};
    }

    void say_missing(const std::list<Peer>& peers) {
        for (const Peer& p : peers)
            if (!p.peer.alive())
                options_.note("no " + p.peer.name() + " beside us: " + p.peer.trouble());
    }

    // One row for each precision, beside the best of its peers: those of the same width where there
    // are some, else f32. `limits`: seconds a token takes at the read bandwidth.
    void report(const std::string& name, const char* unit, const std::list<Peer>& peers,
                const std::vector<RaceFigure>& figures, const std::vector<double>& limits = {}) {
        if (options_.stop()) return;
        const std::vector<std::string> shown = wanted(name);
        for (std::size_t i = 0; i < options_.precisions.size(); ++i) {
            const std::string& p = options_.precisions[i];
            if (std::find(shown.begin(), shown.end(), p) == shown.end()) continue;
            Row row{.bench = "infer",
                    .name = name,
                    .precision = p,
                    .threads = thread_count(),
                    .value = figures[i].best,
                    .median = figures[i].median,
                    .unit = unit};
            if (!limits.empty()) row.share = figures[i].best * limits[i];
            const std::string width = width_beside(p, peers, figures);
            std::size_t at = options_.precisions.size();
            for (const Peer& peer : peers) {
                const RaceFigure& f = figures[at++];
                if (peer.width != width || f.samples == 0) continue;
                if (f.best <= row.peer_value.value_or(0)) continue;
                row.peer = peer.peer.name();
                row.peer_value = f.best;
                row.peer_median = f.median;
            }
            if (options_.on_row) options_.on_row(row);
            rows_.push_back(row);
        }
    }

    std::string width_beside(const std::string& precision, const std::list<Peer>& peers,
                             const std::vector<RaceFigure>& figures) const {
        const std::string own = has_whole_numbers(precision) ? "int8" : precision;
        std::size_t at = options_.precisions.size();
        for (const Peer& peer : peers)
            if (figures[at++].samples > 0 && peer.width == own) return own;
        return "f32";
    }

    const InferBenchOptions& options_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<std::int64_t> sentence_lengths(int count, std::uint64_t seed) {
    Rng rng(seed, 0x6c656e67);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < count; ++i)
        lengths.push_back(std::clamp<std::int64_t>(
            std::llround(std::exp(std::log(21.0) + 0.6 * rng.normal())), 4, 128));
    return lengths;
}

std::vector<Row> bench_infer(const InferBenchOptions& options) { return InferBench(options).run(); }

}  // namespace fovea::bench
