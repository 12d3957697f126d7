// XLNet's bits do not change with neighbours and threads, its files not with loading and saving.
#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/tasks/model_folder.h"
#include "tests/parity/xlnet_golden.h"

namespace fovea::xlnet {
namespace {

TokenBatch one_of(const TokenBatch& b, std::int64_t s) {
    const auto cut = [&](const Ids& v) {
        return v.empty() ? Ids{}
                         : Ids(v.begin() + b.segments.begin(s), v.begin() + b.segments.end(s));
    };
    return {cut(b.tokens), cut(b.types), Segments::of_lengths({b.segments.length(s)})};
}

TEST(XlnetBits, PackedIsAlone) {
    Golden g;
    const XlnetLm lm = g.lm();
    const XlnetMemory memory = lm.transformer.remember(g.before);
    const Tensor rows = lm.transformer(g.batch, {.memory = memory});
    const Tensor targets = lm.transformer.target_rows(g.batch, g.order, memory);
    const Segments of_targets = g.order.targets(g.batch.segments);
    for (std::int64_t s = 0; s < g.batch.segments.count(); ++s) {
        const TokenBatch one = one_of(g.batch, s);
        const XlnetMemory own = lm.transformer.remember(one_of(g.before, s));
        const std::int64_t first = g.batch.segments.begin(s);
        EXPECT_TRUE(same_rows(lm.transformer(one, {.memory = own}), rows, first)) << s;
        const XlnetOrder order{
            {g.order.order.begin() + first, g.order.order.begin() + g.batch.segments.end(s)},
            {g.order.predicted[static_cast<std::size_t>(s)]}};
        EXPECT_TRUE(
            same_rows(lm.transformer.target_rows(one, order, own), targets, of_targets.begin(s)))
            << s;
    }
}

TEST(XlnetBits, ThreadsChangeNothing) {
    std::vector<float> first;
    for (const int threads : {1, 3, 7}) {
        set_thread_count(threads);
        Golden g(Json{{"dropout", 0.2}});
        const XlnetLm lm = g.lm();
        Rng stream(5);
        Tape tape(stream);
        const Tensor loss = lm.loss(g.batch, g.order, lm.transformer.remember(g.before));
        std::vector<float> all{loss.item()};
        const Gradients d = tape.gradients(loss);
        for (const std::string& name : g.store.names())
            for (const float v : d[g.store.at(name)].span()) all.push_back(v);
        if (first.empty()) first = all;
        EXPECT_EQ(all.size(), first.size());
        EXPECT_EQ(std::memcmp(all.data(), first.data(), sizeof(float) * all.size()), 0) << threads;
    }
    set_thread_count(0);
}

// What dropout takes away of a sequence does not change with its neighbours, nor with how far the
// longest of the batch reaches.
TEST(XlnetBits, DropoutOfASequenceIsItsOwn) {
    Golden g(Json{{"dropout", 0.3}});
    const XlnetLm lm = g.lm();
    const auto rows_of = [&](const TokenBatch& batch) {
        Rng stream(5);
        const Tape tape(stream);
        return lm.transformer(batch).values();
    };
    const std::vector<float> together = rows_of(g.batch), alone = rows_of(one_of(g.batch, 0));
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), sizeof(float) * alone.size()), 0);
    EXPECT_NE(alone, lm.transformer(one_of(g.batch, 0)).values());
}

TEST(XlnetFiles, LoadAndSaveIsIdentity) {
    Golden g;
    const XlnetLm lm = g.lm();
    const std::string path = testing::TempDir() + "/xlnet_saved.safetensors";
    save_parameters(path, g.store, XlnetEncoder::rules());
    const TensorFile was(folder + "/model.safetensors"), is(path);
    EXPECT_EQ(was.tensors().size(), is.tensors().size());
    for (const TensorInfo& t : was.tensors()) {
        ASSERT_NE(is.find(t.name), nullptr) << t.name;
        EXPECT_EQ(is.at(t.name).shape, t.shape) << t.name;
        EXPECT_EQ(is.read(t.name).values(), was.read(t).values()) << t.name;
    }
}

// A bare XLNetModel has no prefix.
TEST(XlnetFiles, NamesWithoutPrefix) {
    for (const auto& [on_disk, in_model] : std::vector<std::pair<std::string, std::string>>{
             {"word_embedding.weight", "transformer.word_embedding.weight"},
             {"mask_emb", "transformer.mask_emb"},
             {"layer.3.ff.layer_1.bias", "transformer.layer.3.ff.layer_1.bias"}})
        EXPECT_EQ(apply_rules(XlnetEncoder::rules(), {on_disk, Tensor::zeros({4, 2})}).at(0).name,
                  in_model);
    const NamedTensor q =
        apply_rules(XlnetEncoder::rules(),
                    {"layer.0.rel_attn.q", Tensor::of({2, 1, 3}, {1, 2, 3, 4, 5, 6})})
            .at(0);
    EXPECT_EQ(q.name, "transformer.layer.0.rel_attn.q");
    EXPECT_EQ(q.tensor.shape(), Shape({1, 3, 2}));
    EXPECT_EQ(q.tensor.values(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

// Weights in fewer bits: near, and not the same.
TEST(XlnetFiles, OtherFormats) {
    Golden g;
    const XlnetLm exact = g.lm();
    const Tensor want = exact.logits(exact.transformer(g.batch));
    for (const Format format : {Format::bf16, Format::int8}) {
        ModelFolder m;
        m.path = folder;
        const auto make = [&](const Params& p) {
            return XlnetLm(XlnetConfig::from_json(g.json, folder), p);
        };
        const auto store = m.load(XlnetEncoder::rules(), format, make);
        Rng unused;
        const XlnetLm lm = make(Params(*store, unused));
        const Tensor got = lm.logits(lm.transformer(g.batch));
        expect_near(got, want, name_of(format), 0.2);
        EXPECT_FALSE(same_rows(got, want, 0));
    }
}

}  // namespace
}  // namespace fovea::xlnet
