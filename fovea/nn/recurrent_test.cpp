// Stacks of GRU and LSTM layers: against PyTorch's, and against themselves cut and packed
// otherwise.
#include <map>

#include "fovea/base/json.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/lstm.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

Tensor tensor_of(const Json& values, const Shape& shape) {
    return Tensor::of(shape, values.get<std::vector<float>>());
}

void expect_near(const Tensor& got, const Json& wanted, const std::string& what) {
    const auto w = wanted.get<std::vector<double>>();
    ASSERT_EQ(static_cast<std::size_t>(got.size()), w.size()) << what;
    for (std::size_t i = 0; i < w.size(); ++i)
        ASSERT_NEAR(got.data()[i], w[i], 2e-5) << what << " " << i;
}

const RecurrentCell& cell_of(const std::string& kind) {
    return kind == "gru" ? gru_cell : lstm_cell;
}

// tools/make_goldens_rnn.py: padded and packed by PyTorch, in double.
TEST(RecurrentStack, AgreesWithPyTorch) {
    const Json golden = read_json(FOVEA_SOURCE_DIR "/tests/goldens/rnn.json");
    ASSERT_EQ(golden["cases"].size(), 4u);
    for (const Json& c : golden["cases"]) {
        const auto kind = c["kind"].get<std::string>();
        SCOPED_TRACE(kind);
        const Segments segments =
            Segments::of_lengths(c["lengths"].get<std::vector<std::int64_t>>());
        const int size = c["size"].get<int>(), hidden = c["hidden"].get<int>();
        ParameterStore store(ParameterStore::Mode::load);
        for (const auto& [name, p] : c["parameters"].items()) {
            const auto shape = p["shape"].get<std::vector<std::int64_t>>();
            store.put("rnn." + name,
                      tensor_of(p["value"], shape.size() == 1 ? Shape({shape[0]})
                                                              : Shape({shape[0], shape[1]})));
        }
        Rng rng(1);
        const Recurrent net(
            cell_of(kind), size, hidden, Params(store, rng) / "rnn",
            {.layers = c["layers"].get<int>(), .bidirectional = c["bidirectional"].get<bool>()});
        store.finish("goldens");

        const std::int64_t n = segments.count(), state = cell_of(kind).parts * hidden,
                           stacks = net.layers() * net.directions();
        Tape tape;
        const Tensor x = tape.watch(tensor_of(c["x"], {segments.total(), size}));
        const Tensor start = tape.watch(tensor_of(c["start"], {stacks * n, state}));
        RecurrentStates states;
        for (std::int64_t i = 0; i < stacks; ++i)
            states.push_back(slice_rows(start, i * n, (i + 1) * n));
        const RecurrentResult got = net.run(x, segments, states);
        const Tensor last = concat_rows(got.last);
        expect_near(got.rows, c["rows"], "rows");
        expect_near(last, c["last"], "last");

        // Σ rows ∘ a + Σ last ∘ b
        const auto flat = [](const Tensor& t) { return t.reshaped({1, t.size()}); };
        const Tensor both = concat_cols({flat(got.rows), flat(last)});
        const Tensor weights = concat_cols(
            {tensor_of(c["a"], {1, got.rows.size()}), tensor_of(c["b"], {1, last.size()})});
        const Gradients d = tape.gradients(both, weights);
        expect_near(d[x], c["dx"], "dx");
        expect_near(d[start], c["dstart"], "dstart");
        for (const auto& [name, p] : c["parameters"].items())
            expect_near(d[store.at("rnn." + name)], p["gradient"], name);
    }
}

struct Stack {
    explicit Stack(const RecurrentCell& cell, const RecurrentShape& shape)
        : net(cell, 5, 7, Params(store, rng) / "rnn", shape) {}
    ParameterStore store;
    Rng rng{3};
    Recurrent net;
};

Tensor named(Tensor x, const Segments& segments) {
    x.set_row_names(segments);
    return x;
}

// Dropout between the layers included: masks are named by sample and row.
TEST(RecurrentStack, ASequenceDoesNotDependOnItsNeighbours) {
    Rng rng(4);
    const std::vector<std::int64_t> lengths{4, 1, 6};
    const Segments all = Segments::of_lengths(lengths, {11, 12, 13});
    const Tensor x = random_tensor({all.total(), 5}, rng);
    for (const RecurrentCell& cell : {gru_cell, lstm_cell}) {
        const Stack stack(cell, {.layers = 3, .bidirectional = true, .dropout = 0.4f});
        const auto run = [&](const Tensor& rows, const Segments& segments) {
            Rng dropping(9);
            Tape tape(dropping);
            return stack.net(named(Tensor::of(rows.shape(), rows.span()), segments), segments);
        };
        const Tensor packed = run(x, all);
        for (std::int64_t s = 0; s < all.count(); ++s) {
            const Segments one =
                Segments::of_lengths(std::vector<std::int64_t>{all.length(s)}, {all.sample(s)});
            EXPECT_TRUE(same_bits(run(slice_rows(x, all.begin(s), all.end(s)), one),
                                  slice_rows(packed, all.begin(s), all.end(s))));
        }
        EXPECT_FALSE(same_bits(packed, stack.net(x, all))) << "dropout is on under a tape alone";
    }
}

TEST(RecurrentStack, StepsAreTheWholeSequence) {
    Rng rng(5);
    const Segments segments = Segments::uniform(1, 6);
    const Tensor x = random_tensor({6, 5}, rng);
    for (const RecurrentCell& cell : {gru_cell, lstm_cell}) {
        const Stack stack(cell, {.layers = 2});
        const RecurrentResult whole = stack.net.run(x, segments);
        EXPECT_TRUE(same_bits(whole.rows, stack.net(x, segments)));
        RecurrentStates states(2, Tensor::zeros({1, cell.parts * 7}));
        for (std::int64_t t = 0; t < 6; ++t)
            EXPECT_TRUE(same_bits(stack.net.step(slice_rows(x, t, t + 1), states),
                                  slice_rows(whole.rows, t, t + 1)));
        for (std::size_t i = 0; i < 2; ++i)
            EXPECT_TRUE(same_bits(states[i], whole.last[i])) << "layer " << i;
    }
}

TEST(RecurrentStack, ASequenceOfNoRowsKeepsItsState) {
    Rng rng(6);
    const Segments segments = Segments::of_lengths({2, 0});
    const Tensor x = random_tensor({2, 5}, rng), start = random_tensor({2, 7}, rng);
    const Stack stack(gru_cell, {});
    const RecurrentResult got = stack.net.run(x, segments, {start});
    EXPECT_TRUE(same_bits(slice_rows(got.last[0], 1, 2), slice_rows(start, 1, 2)));
    EXPECT_FALSE(same_bits(slice_rows(got.last[0], 0, 1), slice_rows(start, 0, 1)));
}

TEST(RecurrentStack, LayersAreKnownByTheirNames) {
    EXPECT_EQ(Recurrent::layer_of("encoder.weight_hh_l12_reverse"), 12);
    EXPECT_EQ(Recurrent::layer_of("decoder.bias_ih_l0"), 0);
    EXPECT_EQ(Recurrent::layer_of("out.weight"), -1);
}

}  // namespace
}  // namespace fovea
