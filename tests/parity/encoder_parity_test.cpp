// Tiny BERT and RoBERTa models with random weights: the same logits, loss, gradients and ten
// training steps as Hugging Face transformers in float64, for every head.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/text_encoder.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "tests/parity/golden_compare.h"

namespace fovea {
namespace {

using test::expect_gradients;
using test::expect_same;
using test::expect_ten_steps;

struct Case {
    const char *model, *name;
    Head head;
    int classes = 0;
};

struct Golden {
    explicit Golden(const Case& c)
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + c.model + "-tiny"),
          file(folder + "/" + c.name + ".safetensors"),
          inputs(folder + "/batch.safetensors"),
          head(c.head),
          store(ParameterStore::Mode::load) {
        const TextEncoderEntry& entry = text_encoder_named(c.model);
        ParameterStore whole;
        load_parameters(ModelWeights(folder), entry.rules(), whole);
        for (const std::string& name : whole.names())
            if (name.starts_with(std::string(c.model) + ".")) store.put(name, whole.at(name));
        for (const TensorInfo& t : file.tensors())
            if (t.name.starts_with("param.")) store.put(t.name.substr(6), file.read(t));
        Rng rng;
        encoder = entry.make(read_json(folder + "/config.json"), folder, {c.head, c.classes},
                             Params(store, rng));
        store.finish(folder);
        batch = {ids("tokens"), ids("types"),
                 Segments::of_lengths(inputs.read_integers("lengths"))};
        if (std::string(c.name) == "translations") restart_positions();
    }

    // The second text of a sequence (type 1) is a translation, and counts from 1 again.
    void restart_positions() {
        for (std::int64_t s = 0; s < batch.segments.count(); ++s) {
            std::int32_t at = 0, before = 0;
            for (std::int64_t i = batch.segments.begin(s); i < batch.segments.end(s); ++i) {
                const std::int32_t type = batch.types[static_cast<std::size_t>(i)];
                if (type != before) at = 1;
                before = type;
                batch.positions.push_back(at++);
            }
        }
    }

    Ids ids(const char* name) const {
        const auto v = inputs.read_integers(name);
        return Ids(v.begin(), v.end());
    }

    struct Result {
        Tensor logits, next, loss;
    };
    Result run() const {
        const Tensor rows = encoder.rows(batch);
        Result r;
        if (head == Head::classes) {
            r.logits = encoder.classes(rows, batch.segments);
            r.loss = cross_entropy(r.logits, ids("classes"));
        } else if (head == Head::tags) {
            r.logits = encoder.tags(rows);
            r.loss = cross_entropy(r.logits, ids("tags"));
        } else if (head == Head::spans) {
            r.logits = encoder.spans(rows);
            r.loss = span_loss(r.logits);
        } else if (head == Head::next) {
            r.logits = encoder.next(rows, batch.segments);
            r.loss = cross_entropy(r.logits, ids("next"));
        } else {
            r.logits = encoder.words(rows);
            r.loss = encoder.word_loss(rows, ids("words"));
            if (head == Head::words_and_next) {
                r.next = encoder.next(rows, batch.segments);
                r.loss = r.loss + cross_entropy(r.next, ids("next"));
            }
        }
        return r;
    }

    // A softmax over each sequence's rows for the begin, and one for the end.
    Tensor span_loss(const Tensor& logits) const {
        Tensor sum = Tensor::zeros({1});
        for (const int side : {0, 1}) {
            const Tensor column = slice_cols(logits, side, side + 1);
            const Ids places = ids(side == 0 ? "begins" : "ends");
            for (std::int64_t s = 0; s < batch.segments.count(); ++s) {
                const Tensor own =
                    slice_rows(column, batch.segments.begin(s), batch.segments.end(s))
                        .reshaped({1, batch.segments.length(s)});
                sum = sum + cross_entropy(own, {places[static_cast<std::size_t>(s)]});
            }
        }
        return (0.5f / static_cast<float>(batch.segments.count())) * sum;
    }

    std::string folder;
    TensorFile file, inputs;
    Head head;
    ParameterStore store;
    TextEncoder encoder;
    TokenBatch batch;
};

class EncoderParity : public testing::TestWithParam<Case> {};

TEST_P(EncoderParity, LogitsAndLoss) {
    const Golden g(GetParam());
    const Golden::Result r = g.run();
    expect_same(r.logits, g.file.read("logits"));
    if (!r.next.empty()) expect_same(r.next, g.file.read("next"));
    EXPECT_NEAR(r.loss.item(), g.file.read("loss").item(), 1e-5);
}

TEST_P(EncoderParity, EveryGradient) {
    const Golden g(GetParam());
    Tape tape;
    const Gradients d = tape.gradients(g.run().loss);
    EXPECT_GT(expect_gradients(g.file, g.store, d), 36u);  // 16 of each block, 5 of the embeddings
}

TEST_P(EncoderParity, TenTrainingSteps) {
    Golden g(GetParam());
    expect_ten_steps(g.store, g.file.read("losses"), [&] { return g.run().loss; });
}

INSTANTIATE_TEST_SUITE_P(
    Models, EncoderParity,
    testing::Values(Case{"bert", "classes", Head::classes, 4}, Case{"bert", "tags", Head::tags, 3},
                    Case{"bert", "spans", Head::spans}, Case{"bert", "words", Head::words},
                    Case{"bert", "translations", Head::words},
                    Case{"bert", "words_and_next", Head::words_and_next},
                    Case{"bert", "next", Head::next}, Case{"roberta", "classes", Head::classes, 4},
                    Case{"roberta", "tags", Head::tags, 3}, Case{"roberta", "spans", Head::spans},
                    Case{"roberta", "words", Head::words}),
    [](const auto& i) { return std::string(i.param.model) + "_" + i.param.name; });

// As save_pretrained wrote it: nothing missing, nothing left over. BERT's pretraining model also
// serves as a masked model alone (bert-base-uncased is such a file), and for no other head.
TEST(EncoderFolder, IsCompleteForTheHeadItNames) {
    for (const std::string name : {"bert", "roberta"}) {
        const std::string folder =
            std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + name + "-tiny";
        const Json config = read_json(folder + "/config.json");
        const Head named = name == "bert" ? Head::words_and_next : Head::words;
        EXPECT_EQ(head_named_in(config), named);
        const auto check = [&](Head head) {
            const TextEncoderEntry& entry = text_encoder_named(name);
            ParameterStore shapes = shapes_of(ModelWeights(folder), entry.rules());
            Rng unused;
            entry.make(config, folder, {head, 2}, Params(shapes, unused));
            shapes.finish(folder);
        };
        check(named);
        check(Head::words);
        for (const Head other : {Head::none, Head::classes, Head::tags, Head::spans})
            EXPECT_THROW(check(other), Error) << name;
    }
}

}  // namespace
}  // namespace fovea
