#include "fovea/bench/rnn.h"

#include <optional>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/bench/duel.h"
#include "fovea/bench/kernels.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/lstm.h"

namespace fovea::bench {
namespace {

constexpr int rnn_sequences = 64, rnn_batches = 8;
constexpr std::int64_t rnn_shortest = 5, rnn_longest = 50;
constexpr int steps_a_piece = 20;  // of decoding

struct RnnCase {
    const RecurrentCell* cell;
    int layers, width;

    std::string name() const { return text_of(cell->name, " ", layers, "x", width); }
};

// A stack whose inputs are as wide as its states.
struct Stack {
    explicit Stack(const RnnCase& c) : rng(1) {
        rnn.emplace(*c.cell, c.width, c.width, Params(store, rng),
                    RecurrentShape{.layers = c.layers});
    }

    ParameterStore store;
    Rng rng;
    std::optional<Recurrent> rnn;
};

// The lengths of each batch's sequences, any of them as likely.
std::vector<std::vector<std::int64_t>> batch_lengths(std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::vector<std::int64_t>> all(rnn_batches);
    for (auto& lengths : all)
        for (int s = 0; s < rnn_sequences; ++s)
            lengths.push_back(rnn_shortest + rng.below(rnn_longest - rnn_shortest + 1));
    return all;
}

class RnnTraining {
public:
    RnnTraining(const RnnCase& c, const std::vector<std::vector<std::int64_t>>& lengths)
        : stack_(c) {
        for (const auto& of_batch : lengths) {
            segments_.push_back(Segments::of_lengths(of_batch));
            inputs_.push_back(random_tensor(segments_.back().total(), c.width, 7));
        }
    }

    double rows(std::int64_t first, int count) const {
        double n = 0;
        for (int i = 0; i < count; ++i) n += static_cast<double>(segments_[at(first + i)].total());
        return n;
    }

    double run(std::int64_t first, int count) const {
        const Stopwatch clock;
        for (int i = 0; i < count; ++i) {
            Tape tape;
            const Tensor x = tape.watch(inputs_[at(first + i)]);
            const Tensor y = (*stack_.rnn)(x, segments_[at(first + i)]);
            tape.gradients(y, Tensor::full(y.shape(), 1.0f));
        }
        return clock.seconds();
    }

private:
    static std::size_t at(std::int64_t batch) {
        return static_cast<std::size_t>(batch % rnn_batches);
    }

    Stack stack_;
    std::vector<Segments> segments_;
    std::vector<Tensor> inputs_;
};

// Each output is the next input.
double take_steps(const Stack& stack, const RnnCase& c, int rows, int pieces) {
    RecurrentStates states;
    for (int layer = 0; layer < c.layers; ++layer)
        states.push_back(Tensor::zeros({rows, c.cell->parts * c.width}));
    Tensor x = random_tensor(rows, c.width, 7);
    const Stopwatch clock;
    for (int step = 0; step < pieces * steps_a_piece; ++step) x = stack.rnn->step(x, states);
    return clock.seconds();
}

class RnnBench {
public:
    explicit RnnBench(const RnnBenchOptions& options) : options_(options) {}

    std::vector<Row> run() {
        for (const RecurrentCell* cell : {&gru_cell, &lstm_cell})
            for (const int layers : {1, 2})
                for (const int width : {256, 512}) {
                    if (options_.quick && (layers > 1 || width > 256)) continue;
                    measure({cell, layers, width});
                }
        return std::move(rows_);
    }

private:
    void measure(const RnnCase& c) {
        const auto lengths = batch_lengths(options_.seed);
        if (options_.wants(c.name() + " train")) {
            const RnnTraining ours(c, lengths);
            case_of(c, {.name = c.name() + " train",
                        .ours = [&](std::int64_t first,
                                    int n) { return std::optional(ours.run(first, n)); },
                        .asks =
                            [](std::int64_t first, int n) {
                                return Json{{"do", "train"}, {"first", first}, {"steps", n}};
                            },
                        .work = [&](std::int64_t first, int n) { return ours.rows(first, n); }});
        }
        const Stack stack(c);
        for (const int rows : {1, 8, 64}) {
            const std::string name = text_of(c.name(), " step ", rows);
            if (!options_.wants(name)) continue;
            case_of(c, {.name = name,
                        .ours = [&](std::int64_t,
                                    int n) { return std::optional(take_steps(stack, c, rows, n)); },
                        .asks =
                            [rows](std::int64_t, int n) {
                                return Json{
                                    {"do", "decode"}, {"rows", rows}, {"steps", n * steps_a_piece}};
                            },
                        .work =
                            [rows](std::int64_t, int n) {
                                return static_cast<double>(rows) * n * steps_a_piece;
                            }});
        }
    }

    struct Contest {
        std::string name;
        std::function<std::optional<double>(std::int64_t first, int count)> ours;
        std::function<Json(std::int64_t first, int count)> asks;  // the peer for the same
        std::function<double(std::int64_t first, int count)> work;
    };

    void case_of(const RnnCase& c, const Contest& contest) {
        if (options_.stop()) return;
        if (options_.on_case) options_.on_case("rnn " + contest.name);
        std::optional<TextPeer> torch;
        if (options_.peers)
            torch.emplace(options_, "torch-rnn", "f32",
                          Json{{"do", "open"},
                               {"cell", c.cell->name},
                               {"layers", c.layers},
                               {"width", c.width},
                               {"lengths", batch_lengths(options_.seed)}});
        const auto row = run_duel(
            options_,
            {.row = {.bench = "rnn", .name = contest.name, .precision = "f32", .unit = "rows/s"},
             .ours = contest.ours,
             .asks = contest.asks,
             .work = contest.work,
             .seconds = 15,
             .quick_seconds = 2,
             .quick_sample_seconds = 0.1},
            torch ? &*torch : nullptr);
        if (row) rows_.push_back(*row);
    }

    const RnnBenchOptions& options_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> bench_rnn(const RnnBenchOptions& options) { return RnnBench(options).run(); }

}  // namespace fovea::bench
