// The recurrent encoder-decoder over whole targets, step by step, packed and alone: the same bits.
#include "fovea/infer/rnn_stepper.h"

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/infer/beam_search.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

struct TinyRnn {
    TinyRnn(const std::string& cell, const std::string& attention, bool feeding = true) {
        config.cell = cell;
        config.vocab_size = 31;
        config.d_model = 12;
        config.attention_heads = 2;
        config.attention = RnnAttentionChoice::parse(attention, "general");
        config.input_feeding = feeding;
        Rng rng(5);
        model = std::make_unique<RnnSeq2Seq>(config, Params(store, rng));
        Rng noise(6);  // larger weights than at birth, so that the distribution is not flat
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.3f * static_cast<float>(noise.normal());
        }
    }
    Tensor logits(const Ids& source, const Segments& from, const Ids& target,
                  const Segments& to) const {
        return model->logits(model->decode(target, to, model->encode(source, from)));
    }
    RnnConfig config;
    ParameterStore store;
    std::unique_ptr<RnnSeq2Seq> model;
};

const Ids source = {4, 5, 6, 7, 8, 20, 1, 9, 8, 1, 3, 1}, target = {0, 10, 11, 0, 12, 13, 14, 0};
const Segments from = Segments::of_lengths({7, 3, 2}), to = Segments::of_lengths({3, 4, 1});

Ids part_of(const Ids& ids, const Segments& s, std::int64_t i) {
    return Ids(ids.begin() + s.begin(i), ids.begin() + s.end(i));
}

void for_every_kind(const std::function<void(const TinyRnn&)>& body) {
    for (const char* cell : {"gru", "lstm"})
        for (const char* attention :
             {"none", "global", "hard", "window:1", "local-p:2", "expanded:1,2", "hybrid:1"})
            for (const bool feeding : {true, false}) {
                SCOPED_TRACE(text_of(cell, " ", attention, feeding ? " fed" : ""));
                body(TinyRnn(cell, attention, feeding));
            }
}

TEST(RnnStepper, PackedAloneAndStepByStepAreTheSameBits) {
    for_every_kind([](const TinyRnn& tiny) {
        const Tensor all = tiny.logits(source, from, target, to);
        RnnStepper stepper(*tiny.model, source, from);
        std::vector<Ids> prompts;
        for (std::int64_t s = 0; s < 3; ++s) prompts.push_back({0});
        const Tensor first = stepper.start(prompts);
        // All three take the tokens of the second, the longest one.
        for (std::int64_t s = 0; s < 3; ++s) {
            const Tensor alone =
                tiny.logits(part_of(source, from, s), Segments::of_lengths({from.length(s)}),
                            part_of(target, to, s), Segments::of_lengths({to.length(s)}));
            EXPECT_TRUE(same_bits(alone, slice_rows(all, to.begin(s), to.end(s)))) << s;
            EXPECT_TRUE(same_bits(slice_rows(first, s, s + 1), slice_rows(alone, 0, 1))) << s;
        }
        const std::vector<std::int64_t> parents{1, 1};
        const Tensor next = stepper.step({12, 12}, parents);
        EXPECT_TRUE(same_bits(slice_rows(next, 0, 1), slice_rows(all, 4, 5)));
        EXPECT_TRUE(same_bits(slice_rows(next, 1, 2), slice_rows(all, 4, 5)));
        const std::vector<std::int64_t> one{1};
        EXPECT_TRUE(same_bits(stepper.step({13}, one), slice_rows(all, 5, 6)));
    });
}

TEST(RnnStepper, PromptsOfDifferentLengthsAreReadTogether) {
    for_every_kind([](const TinyRnn& tiny) {
        const Tensor all = tiny.logits(source, from, target, to);
        RnnStepper stepper(*tiny.model, source, from);
        std::vector<Ids> prompts;
        for (std::int64_t s = 0; s < 3; ++s) prompts.push_back(part_of(target, to, s));
        const Tensor last = stepper.start(prompts);
        for (std::int64_t s = 0; s < 3; ++s)
            EXPECT_TRUE(
                same_bits(slice_rows(last, s, s + 1), slice_rows(all, to.end(s) - 1, to.end(s))))
                << s;
    });
}

TEST(RnnStepper, BeamsDoNotDependOnTheBatchOrTheThreads) {
    const TinyRnn tiny("gru", "global");
    SearchOptions options;
    options.beam = 3;
    options.n_best = 3;
    options.max_length = 8;
    options.coverage_penalty = 0.2;
    RnnStepper together(*tiny.model, source, from);
    const auto all = search(together, options, std::vector<DecodeRequest>(3));
    set_thread_count(3);
    for (std::int64_t s = 0; s < 3; ++s) {
        RnnStepper alone(*tiny.model, part_of(source, from, s),
                         Segments::of_lengths({from.length(s)}));
        const auto one = search(alone, options, std::vector<DecodeRequest>(1));
        for (std::size_t i = 0; i < one[0].size(); ++i) {
            EXPECT_EQ(one[0][i].tokens, all[static_cast<std::size_t>(s)][i].tokens);
            EXPECT_EQ(one[0][i].score, all[static_cast<std::size_t>(s)][i].score);
        }
    }
    set_thread_count(0);
}

TEST(RnnStepper, WithoutAttentionThereIsNothingToCover) {
    const TinyRnn tiny("gru", "none");
    RnnStepper stepper(*tiny.model, source, from);
    EXPECT_EQ(stepper.source(), nullptr);
}

// Steps are many calls of attention, but people see one map of the whole target, under the path of
// its parameters.
TEST(RnnStepper, AttentionReportsOnce) {
    for (const bool feeding : {true, false}) {
        const TinyRnn tiny("lstm", "global", feeding);
        Probe probe;
        tiny.logits(source, from, target, to);
        EXPECT_EQ(probe.names(), std::vector<std::string>{"decoder.attention"});
        EXPECT_TRUE(tiny.store.has("decoder.attention.q_proj.weight"));
        const Ragged map = probe.map(probe.find("decoder.attention"), 0);
        ASSERT_EQ(map.rows(), to.total());
        for (std::int64_t r = 0; r < map.rows(); ++r) {
            double sum = 0;
            for (const float w : map.row(r)) sum += w;
            EXPECT_NEAR(sum, 1, 1e-5);
        }
    }
}

// Dropout included: a sample's loss gradient does not change with its neighbours' names or places.
TEST(RnnStepper, DropoutIsNamedBySampleAndStep) {
    TinyRnn tiny("gru", "global");
    tiny.config.dropout = 0.3f;
    Rng rng(5);
    const RnnSeq2Seq model(tiny.config, Params(tiny.store, rng));
    const auto run = [&](const Ids& s, const Segments& ss, const Ids& t, const Segments& ts) {
        Rng dropping(9);
        Tape tape(dropping);
        return model.decode(t, ts, model.encode(s, ss));
    };
    const std::vector<std::uint64_t> samples{21, 22, 23};
    const auto named = [](const Segments& s, std::vector<std::uint64_t> names) {
        return Segments::of_offsets({s.offsets().begin(), s.offsets().end()}, std::move(names));
    };
    const Tensor all = run(source, named(from, samples), target, named(to, samples));
    for (std::int64_t s = 0; s < 3; ++s) {
        const std::vector<std::uint64_t> one{samples[static_cast<std::size_t>(s)]};
        const Tensor alone =
            run(part_of(source, from, s), named(Segments::of_lengths({from.length(s)}), one),
                part_of(target, to, s), named(Segments::of_lengths({to.length(s)}), one));
        EXPECT_TRUE(same_bits(alone, slice_rows(all, to.begin(s), to.end(s)))) << s;
    }
}

// Nothing is cut off: bridge, gates, both directions, the attention of either kind.
TEST(RnnStepper, GradientsReachEveryParameter) {
    for_every_kind([](const TinyRnn& tiny) {
        Tape tape;
        const Tensor outputs = tiny.model->decode(target, to, tiny.model->encode(source, from));
        const Tensor loss = linear_cross_entropy(outputs, tiny.model->lm_head, tiny.model->lm_bias,
                                                 {10, 11, 1, 12, 13, 14, 1, 1});
        const Gradients d = tape.gradients(loss);
        for (const std::string& name : tiny.store.names()) {
            double norm = 0;
            const Tensor gradient = d[tiny.store.at(name)];
            for (const float g : gradient.span()) norm += std::fabs(g);
            EXPECT_GT(norm, 0) << name;
        }
    });
}

}  // namespace
}  // namespace fovea
