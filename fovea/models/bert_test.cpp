// BERT and RoBERTa: the same bits packed and alone and with any number of threads, the names of
// other checkpoints, and configs that are refused. That the numbers are right is tested against
// Hugging Face's in tests/parity/encoder_parity_test.cpp.
#include "fovea/models/bert.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/models/roberta.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea {
namespace {

Json small_config(const std::string& model) {
    EncoderChoice choice{.preset = "tiny", .layers = 2, .width = 32, .ffn = 48, .heads = 2};
    choice.vocabulary = 40;
    choice.max_length = 20;
    choice.pad_token = 1;
    choice.dropout = 0.2f;
    return text_encoder_named(model).new_config(choice);
}

struct Model {
    Model(const std::string& name, Head head, int classes = 3) {
        Rng rng(9);
        encoder = text_encoder_named(name).make(small_config(name), "config", {head, classes},
                                                Params(store, rng));
    }
    ParameterStore store;
    TextEncoder encoder;
};

const std::vector<Ids> sequences = {
    {2, 9, 31, 4, 17, 3}, {3}, {11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 3}};
const std::vector<Ids> types = {
    {0, 0, 0, 1, 1, 1}, {0}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}};

TokenBatch batch_of(const std::vector<Ids>& ids, const std::vector<Ids>& kinds) {
    TokenBatch b = pack(ids);
    b.types = pack(kinds).tokens;
    return b;
}

Tensor answer(const TextEncoder& e, Head head, const TokenBatch& b) {
    const Tensor rows = e.rows(b);
    if (head == Head::classes) return e.classes(rows, b.segments);
    if (head == Head::tags) return e.tags(rows);
    if (head == Head::spans) return e.spans(rows);
    if (head == Head::words) return e.words(rows);
    return rows;
}

bool same_bits(const Tensor& a, const float* b) {
    return std::memcmp(a.data(), b, static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

class BertAndRoberta : public testing::TestWithParam<const char*> {};

TEST_P(BertAndRoberta, PackedIsAloneBitForBit) {
    for (const Head head : {Head::none, Head::classes, Head::tags, Head::spans, Head::words}) {
        const Model m(GetParam(), head);
        const Tensor packed = answer(m.encoder, head, batch_of(sequences, types));
        const float* at = packed.data();
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            const Tensor alone = answer(m.encoder, head, batch_of({sequences[i]}, {types[i]}));
            EXPECT_TRUE(same_bits(alone, at)) << "head " << static_cast<int>(head);
            at += alone.size();
        }
        EXPECT_EQ(at, packed.data() + packed.size());
    }
}

// With dropout: masks are named by sample and row, not by the batch.
TEST_P(BertAndRoberta, GradientsHaveTheSameBitsWithAnyNumberOfThreads) {
    const Model m(GetParam(), Head::words);
    const auto gradients = [&](int threads) {
        set_thread_count(threads);
        Rng drop(4);
        Tape tape(drop);
        const TokenBatch b = batch_of(sequences, types);
        const Gradients d =
            tape.gradients(cross_entropy(answer(m.encoder, Head::words, b), b.tokens));
        std::vector<float> all;
        for (const std::string& name : m.store.names()) {
            const auto v = d[m.store.at(name)].span();
            all.insert(all.end(), v.begin(), v.end());
        }
        return all;
    };
    const std::vector<float> one = gradients(1), three = gradients(3);
    set_thread_count(0);
    ASSERT_EQ(one.size(), three.size());
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.size() * sizeof(float)), 0);
}

TEST_P(BertAndRoberta, LayersAreNumberedFromTheEmbeddingsUp) {
    const Model m(GetParam(), Head::classes);
    const std::string p = std::string(GetParam()) + ".";
    EXPECT_EQ(m.encoder.layer_of(p + "embeddings.word_embeddings.weight"), 0);
    EXPECT_EQ(m.encoder.layer_of(p + "embeddings.LayerNorm.bias"), 0);
    EXPECT_EQ(m.encoder.layer_of(p + "encoder.layer.0.output.dense.weight"), 1);
    EXPECT_EQ(m.encoder.layer_of(p + "encoder.layer.1.output.dense.weight"), 2);
    EXPECT_EQ(m.encoder.layer_of("classifier.weight"), 3);
    EXPECT_EQ(m.encoder.layer_of("pooling.query"), 3);
}

// gamma and beta, no prefix, buffers, a decoder that is tied: what checkpoints in the wild have.
TEST_P(BertAndRoberta, OtherSpellingsAreTheSameModel) {
    const std::string name = GetParam(), prefix = name + ".";
    const Model m(name, Head::words);
    std::vector<NamedTensor> on_disk;
    for (const std::string& full : m.store.names()) {
        std::string n = full.starts_with(prefix) ? full.substr(prefix.size()) : full;
        const auto spell = [&](const std::string& end, const std::string& old) {
            if (n.ends_with("LayerNorm." + end)) n = n.substr(0, n.size() - end.size()) + old;
        };
        spell("weight", "gamma");
        spell("bias", "beta");
        on_disk.push_back({n, m.store.at(full)});
    }
    on_disk.push_back({"embeddings.position_ids", Tensor::zeros({1, 20})});
    on_disk.push_back({"pooler.dense.weight", Tensor::zeros({32, 32})});
    on_disk.push_back({name == "bert" ? "cls.predictions.decoder.weight" : "lm_head.decoder.weight",
                       m.store.at(prefix + "embeddings.word_embeddings.weight")});
    ParameterStore store(ParameterStore::Mode::load);
    for (const NamedTensor& t : on_disk)
        for (NamedTensor& part : apply_rules(text_encoder_named(name).rules(), t))
            store.put(part.name, part.tensor);
    Rng unused;
    const TextEncoder again = text_encoder_named(name).make(small_config(name), "config",
                                                            {Head::words}, Params(store, unused));
    store.finish("test");
    const TokenBatch b = batch_of(sequences, types);
    EXPECT_TRUE(same_bits(answer(again, Head::words, b), answer(m.encoder, Head::words, b).data()));
}

TEST_P(BertAndRoberta, TheHeadDecidesWhetherThereIsAPooler) {
    for (const Head head : {Head::classes, Head::tags, Head::spans, Head::words,
                            Head::words_and_next, Head::next, Head::none}) {
        const Model m(GetParam(), head);
        const bool bert = std::string(GetParam()) == "bert";
        EXPECT_EQ(
            m.store.has(std::string(GetParam()) + ".pooler.dense.weight"),
            bert && (head == Head::classes || head == Head::words_and_next || head == Head::next));
        EXPECT_EQ(static_cast<bool>(m.encoder.classes), head == Head::classes);
        EXPECT_EQ(static_cast<bool>(m.encoder.tags), head == Head::tags);
        EXPECT_EQ(static_cast<bool>(m.encoder.spans), head == Head::spans);
        EXPECT_EQ(static_cast<bool>(m.encoder.words),
                  head == Head::words || head == Head::words_and_next);
        EXPECT_EQ(static_cast<bool>(m.encoder.next),
                  bert && (head == Head::words_and_next || head == Head::next));
    }
}

TEST_P(BertAndRoberta, ANewConfigNamesItsArchitectureByTheHead) {
    Json config = small_config(GetParam());
    EXPECT_FALSE(head_named_in(config));
    for (const Head head : {Head::classes, Head::tags, Head::spans, Head::words, Head::none}) {
        name_architecture(config, head);
        EXPECT_EQ(head_named_in(config), head);
    }
}

TEST_P(BertAndRoberta, WrongChoicesAreUsageErrors) {
    EncoderChoice choice{.heads = 3};
    choice.vocabulary = 40;
    for (const auto& change : std::vector<std::function<void(EncoderChoice&)>>{
             [](EncoderChoice&) {}, [](EncoderChoice& c) { c.preset = "huge"; },
             [](EncoderChoice& c) { c.heads = 2, c.layers = 100000; }}) {
        EncoderChoice wrong = choice;
        change(wrong);
        try {
            text_encoder_named(GetParam()).new_config(wrong);
            FAIL();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage) << e.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, BertAndRoberta, testing::Values("bert", "roberta"),
                         [](const auto& i) { return std::string(i.param); });

TEST(Bert, TheBasePresetIsThePapersModel) {
    EncoderChoice choice{.preset = "base"};
    choice.vocabulary = 30522;
    const Json c = Bert::new_config(choice);
    EXPECT_EQ(c["num_hidden_layers"], 12);
    EXPECT_EQ(c["hidden_size"], 768);
    EXPECT_EQ(c["intermediate_size"], 3072);
    EXPECT_EQ(c["num_attention_heads"], 12);
    ParameterStore shapes(ParameterStore::Mode::check);
    Rng unused;
    Bert::make(c, "config", {Head::words_and_next}, Params(shapes, unused));
    std::int64_t count = 0;
    for (const std::string& name : shapes.missing_names()) count += !name.empty();
    EXPECT_EQ(count, 5 + 12 * 16 + 2 + 5 + 2);  // as bert-base-uncased's file has
}

TEST(Bert, TokenTypesMatterToBertAndNotToRoberta) {
    for (const char* name : {"bert", "roberta"}) {
        const Model m(name, Head::none);
        TokenBatch b = batch_of(sequences, types);
        const Tensor with = m.encoder.rows(b);
        b.types.clear();
        EXPECT_EQ(same_bits(with, m.encoder.rows(b).data()), std::string(name) == "roberta");
    }
}

TEST(Roberta, PositionsBeginBehindThePaddingToken) {
    const Json c = small_config("roberta");  // its pad token is 1
    EXPECT_EQ(c["max_position_embeddings"], 22);
    const Model m("roberta", Head::none);
    EXPECT_EQ(m.encoder.max_length, 20);
    const TokenBatch b = batch_of({{5}}, {{0}});
    const Tensor before = m.encoder.rows(b);
    Tensor table = m.store.at("roberta.embeddings.position_embeddings.weight");
    for (const int row : {0, 1}) table.write()[row * 32] += 1;  // nobody stands there
    EXPECT_TRUE(same_bits(before, m.encoder.rows(b).data()));
    table.write()[2 * 32] += 1;
    EXPECT_FALSE(same_bits(before, m.encoder.rows(b).data()));
}

}  // namespace
}  // namespace fovea
