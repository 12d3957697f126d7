#include "fovea/models/gpt2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea {
namespace {

struct TinyGpt2 {
    explicit TinyGpt2(const HeadChoice& head = {Head::words, 0}, const Json& change = {}) {
        EncoderChoice choice;
        choice.vocabulary = 29;
        choice.max_length = 20;
        choice.layers = 2;
        choice.width = 24;
        choice.heads = 3;
        config = Gpt2::new_config(choice);
        config.update(change.is_null() ? Json::object() : change);
        config["initializer_range"] = 0.3;
        Rng rng(5);
        encoder = text_encoder_named("gpt2").make(config, "config", head, Params(store, rng));
    }
    Tensor logits(const TokenBatch& batch) const { return encoder.words(encoder.rows(batch)); }

    Json config;
    ParameterStore store;
    TextEncoder encoder;
};

const std::vector<Ids> texts = {{4, 5, 6, 7, 1}, {9}, {3, 1, 12, 20, 28, 0, 11}};

bool same_bits(const Tensor& a, std::int64_t ra, const Tensor& b, std::int64_t rb) {
    return std::memcmp(a.data() + ra * a.cols(), b.data() + rb * b.cols(),
                       static_cast<std::size_t>(a.cols()) * sizeof(float)) == 0;
}

TEST(Gpt2, PackedEqualsAloneWithAnyThreads) {
    const TinyGpt2 tiny;
    const TokenBatch batch = pack(texts);
    const Tensor all = tiny.logits(batch);
    for (std::size_t s = 0; s < texts.size(); ++s) {
        const Tensor alone = tiny.logits(pack({&texts[s], 1}));
        for (std::int64_t r = 0; r < alone.rows(); ++r)
            EXPECT_TRUE(same_bits(alone, r, all, batch.segments.begin(static_cast<int>(s)) + r));
    }
    for (const int n : {1, 3}) {
        set_thread_count(n);
        const SplitPieces pieces(n);
        EXPECT_EQ(tiny.logits(batch).values(), all.values()) << n;
    }
    set_thread_count(0);
}

TEST(Gpt2, ARowDoesNotChangeWithALaterOne) {
    const TinyGpt2 tiny;
    Ids changed = texts[2];
    changed[4] = 17;
    const Tensor a = tiny.logits(pack({&texts[2], 1})), b = tiny.logits(pack({&changed, 1}));
    for (std::int64_t r = 0; r < 4; ++r) EXPECT_TRUE(same_bits(a, r, b, r)) << r;
    EXPECT_FALSE(same_bits(a, 4, b, 4));
}

// Prompts of different lengths first, then token by token, as a search does it.
TEST(Gpt2, CachedEqualsFullBitForBit) {
    const TinyGpt2 tiny;
    const Tensor full = tiny.logits(pack({&texts[2], 1}));
    for (const std::size_t prompt : {std::size_t{1}, std::size_t{4}}) {
        std::vector<KvCache> caches(2);
        for (KvCache& c : caches) c.reserve(32, 24, 24);
        std::int64_t row = 0;
        for (std::size_t from = 0; from < texts[2].size();) {
            const std::size_t n = from == 0 ? prompt : 1;
            const Ids tokens(texts[2].begin() + static_cast<std::ptrdiff_t>(from),
                             texts[2].begin() + static_cast<std::ptrdiff_t>(from + n));
            const Segments fresh = Segments::of_lengths({static_cast<std::int64_t>(n)});
            const std::vector<KeyList> seen{{{0, static_cast<std::int64_t>(from + n)}}};
            const Visibility sees = past(seen, fresh, caches[0].capacity());
            const Positions at{.first = {static_cast<std::int64_t>(from)}};
            const Tensor y =
                tiny.encoder.words(tiny.encoder.step({tokens, fresh, at, sees}, caches));
            for (std::int64_t r = 0; r < y.rows(); ++r, ++row)
                EXPECT_TRUE(same_bits(y, r, full, row)) << prompt << " " << row;
            from += n;
        }
    }
}

TEST(Gpt2, AttentionReportsUnderItsParameterPathAndIsCausal) {
    const TinyGpt2 tiny;
    Probe probe;
    tiny.logits(pack({&texts[0], 1}));
    ASSERT_EQ(probe.names(),
              (std::vector<std::string>{"transformer.h.0.attn", "transformer.h.1.attn"}));
    for (const std::string& name : probe.names())
        EXPECT_TRUE(tiny.store.has(name + ".q.weight")) << name;
}

TEST(Gpt2, LayersOfParametersAndTiedHead) {
    const TinyGpt2 tiny;
    EXPECT_FALSE(tiny.store.has("lm_head.weight"));
    const auto layer = tiny.encoder.layer_of;
    EXPECT_EQ(layer("transformer.wte.weight"), 0);
    EXPECT_EQ(layer("transformer.wpe.weight"), 0);
    EXPECT_EQ(layer("transformer.h.1.mlp.c_fc.weight"), 2);
    EXPECT_EQ(layer("transformer.ln_f.weight"), 3);
    EXPECT_EQ(layer("score.weight"), 3);
    const TinyGpt2 untied({Head::words, 0}, {{"tie_word_embeddings", false}});
    EXPECT_TRUE(untied.store.has("lm_head.weight"));
}

TEST(Gpt2, EachHeadHasItsShape) {
    const TokenBatch batch = pack(texts);
    const TinyGpt2 classes({Head::classes, 4}), tags({Head::tags, 5}), spans({Head::spans, 0});
    const Tensor rows = classes.encoder.rows(batch);
    EXPECT_EQ(classes.encoder.classes(rows, batch.segments).shape(), (Shape{3, 4}));
    EXPECT_EQ(tags.encoder.tags(rows).shape(), (Shape{13, 5}));
    EXPECT_EQ(spans.encoder.spans(rows).shape(), (Shape{13, 2}));
    EXPECT_FALSE(classes.store.has("score.bias"));
    EXPECT_FALSE(classes.encoder.words || tags.encoder.words || spans.encoder.words);
}

// The loss of a new model is that of guessing: the embeddings of §2.3 are small.
TEST(Gpt2, ANewModelGuesses) {
    EncoderChoice choice;
    choice.vocabulary = 500;
    ParameterStore store;
    Rng rng(1);
    const Json config = Gpt2::new_config(choice);
    const TextEncoder e =
        text_encoder_named("gpt2").make(config, "config", {Head::words, 0}, Params(store, rng));
    const Ids ids = {7, 80, 300, 11, 4};
    const Tensor loss = cross_entropy(e.words(e.rows(pack({&ids, 1}))), {80, 300, 11, 4, 9});
    EXPECT_NEAR(loss.item(), std::log(500.0), 0.2);
}

TEST(Gpt2, DropoutDoesNotChangeWithTheBatch) {
    const TinyGpt2 tiny;
    const auto last_logits = [&](const TokenBatch& batch) {
        Rng rng(3);
        const Tape tape(rng);
        return tiny.logits(batch);
    };
    const std::uint64_t two[] = {8, 9}, one[] = {9};
    const Tensor both = last_logits(pack(std::span(texts).subspan(1, 2), two));
    const Tensor alone = last_logits(pack(std::span(texts).subspan(2, 1), one));
    for (std::int64_t r = 0; r < alone.rows(); ++r)
        EXPECT_TRUE(same_bits(alone, r, both, 1 + r)) << r;
    EXPECT_NE(alone.values(), tiny.logits(pack({&texts[2], 1})).values());
}

// What a file holds comes back from the model's parameters, under the names with the prefix.
TEST(Gpt2, RulesUndoThemselvesAndReadTheBareSpelling) {
    const TinyGpt2 tiny;
    std::vector<NamedTensor> in_model;
    for (const std::string& name : tiny.store.names())
        in_model.push_back({name, tiny.store.at(name)});
    const auto on_disk = undo_rules(Gpt2::rules(), in_model);
    std::map<std::string, Tensor> disk;
    for (const NamedTensor& t : on_disk) disk[t.name] = t.tensor;
    EXPECT_EQ(disk.at("transformer.h.1.attn.c_attn.weight").shape(), (Shape{24, 72}));
    EXPECT_EQ(disk.at("transformer.h.0.attn.c_attn.bias").shape(), (Shape{72}));
    EXPECT_EQ(disk.at("transformer.h.0.mlp.c_fc.weight").shape(), (Shape{24, 96}));
    for (const bool bare : {false, true}) {
        std::size_t found = 0;
        for (const NamedTensor& t : on_disk)
            for (const NamedTensor& back :
                 apply_rules(Gpt2::rules(),
                             {bare ? t.name.substr(t.name.find('.') + 1) : t.name, t.tensor})) {
                ASSERT_TRUE(tiny.store.has(back.name)) << back.name;
                EXPECT_EQ(back.tensor.values(), tiny.store.at(back.name).values()) << back.name;
                ++found;
            }
        EXPECT_EQ(found, tiny.store.names().size());
    }
    for (const char* buffer : {"h.3.attn.bias", "transformer.h.0.attn.masked_bias"})
        EXPECT_TRUE(apply_rules(Gpt2::rules(), {buffer, Tensor::zeros({1})}).empty()) << buffer;
}

}  // namespace
}  // namespace fovea
