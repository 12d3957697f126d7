// The other way round: what Fovea saves is loaded by Hugging Face transformers, where that is
// installed, and gives the same logits, the same greedy output and the same token ids.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/data/dates.h"
#include "fovea/models/transformer.h"
#include "fovea/tasks/seq2seq_train.h"
#include "fovea/tasks/translate.h"
#include "tests/parity/peer_python.h"

namespace fovea {
namespace {

struct Variant {
    const char* name;
    VocabularyKind vocabulary;
    bool joint;
    Act act;
    PositionCode positions;
};

// A few updates on dates: enough that greedy outputs are not all alike.
std::string trained_model(const std::string& folder, const Variant& v) {
    std::string text;
    for (const TextPair& p : written_dates({.count = 600}))
        text += p.source + "\t" + p.target + "\n";
    write_file_atomically(folder + "/train.tsv", text);
    Seq2SeqTraining t;
    t.train = pair_files_of(folder + "/train.tsv");
    t.vocabulary = {.kind = v.vocabulary, .size = 330};
    t.joint_vocabulary = v.joint;
    t.config.apply_preset("tiny");
    t.config.d_model = 48;
    t.config.encoder_layers = 2;
    t.config.decoder_layers = 1;
    t.config.activation_function = v.act;
    t.config.positions = v.positions;
    t.batches.max_tokens = 800;
    t.search.max_length = 24;
    t.run.out = folder + "/run";
    t.run.steps = 120;
    t.run.schedule.warmup = 20;
    t.run.schedule.peak = 4e-3;
    Seq2SeqTrainer trainer(t, [](const std::string&) {});
    trainer.run({});
    return folder + "/run/model";
}

Json cases_of(const Seq2SeqModel& model, const std::vector<std::string>& texts) {
    const int max_length = 24;
    Json cases{{"texts", texts}, {"max_length", max_length}};
    for (const std::string& text : texts) {
        const Ids source = model.encode_source(text);
        const Segments from = Segments::of_lengths({static_cast<std::int64_t>(source.size())});
        const Seq2SeqModel* const one[] = {&model};
        const std::string input[] = {text};
        const auto found =
            translate(one, input, {.search = {.max_length = max_length, .max_length_factor = 100}});
        const Ids& produced = found[0].n_best[0].hypothesis.tokens;
        Ids target = {model.network.start_token};
        target.insert(target.end(), produced.begin(), produced.end());
        const Segments to = Segments::of_lengths({static_cast<std::int64_t>(target.size())});
        Rng unused;
        const Transformer network(TransformerConfig::from_json(model.config, "model"),
                                  Params(*model.store, unused));
        const Tensor logits =
            network.logits(network.decoder(target, to, network.encode(source, from), from));
        Json rows = Json::array();
        for (std::int64_t r = 0; r < logits.rows(); ++r)
            rows.push_back(std::vector<float>(logits.data() + r * logits.cols(),
                                              logits.data() + (r + 1) * logits.cols()));
        cases["ids"].push_back(source);
        cases["targets"].push_back(target);
        cases["logits"].push_back(rows);
        cases["greedy"].push_back(produced);
    }
    return cases;
}

class HuggingFaceSlow : public testing::TestWithParam<Variant> {};

TEST_P(HuggingFaceSlow, LoadsWhatFoveaSaves) {
    const std::string python = test::peer_python();
    if (python.empty()) GTEST_SKIP() << "no python with torch and transformers (FOVEA_PEER_PYTHON)";
    std::string name = testing::TempDir() + "/fovea_hf_XXXXXX";
    const std::string folder = ::mkdtemp(name.data());
    const std::string path = trained_model(folder, GetParam());
    const Seq2SeqModel model = Seq2SeqModel::load(path);
    write_file_atomically(
        folder + "/cases.json",
        to_text(cases_of(model, {"the 3rd of March, 1987", "24. Dezember 2031", "5 May 1999",
                                 "naïve  “quotes” – 日本 🙂", "a", "<unk> </s> x"})));
    const test::Outcome peer = test::run(
        {python, FOVEA_SOURCE_DIR "/tests/parity/hf_load.py", path, folder + "/cases.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load.py");
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_TRUE(got["same_ids"]) << to_text(got["ids"]);
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
    EXPECT_TRUE(got["same_greedy"]) << to_text(got["greedy"]);
    std::printf("largest difference of logits: %.2e\n", got["largest"].get<double>());
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Models, HuggingFaceSlow,
                         testing::Values(Variant{"BpeJoint", VocabularyKind::bpe, true, Act::relu,
                                                 PositionCode::sinusoidal},
                                         Variant{"UnigramJoint", VocabularyKind::unigram, true,
                                                 Act::swish, PositionCode::halves},
                                         Variant{"CharactersSeparate", VocabularyKind::characters,
                                                 false, Act::gelu, PositionCode::sinusoidal}),
                         [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace fovea
