// A tiny Whisper with random weights: the same logits, loss and gradients of both heads, and the
// same ten training steps, as Hugging Face transformers in float64 (tools/make_goldens_speech.py).
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "fovea/autograd/tape.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/infer/whisper_stepper.h"
#include "fovea/io/model_parameters.h"
#include "fovea/io/test_folder.h"
#include "fovea/models/whisper.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tasks/speech.h"
#include "fovea/train/adamw.h"
#include "tests/parity/peer_python.h"

namespace fovea {
namespace {

Ids ids_of(const TensorFile& f, const std::string& name) {
    const auto v = f.read_integers(name);
    return Ids(v.begin(), v.end());
}

// [clips, bands, frames] as rows of frames.
Tensor rows_of_frames(const Tensor& x, std::int64_t clips) {
    const std::int64_t bands = x.shape()[1], frames = x.shape()[2];
    Tensor y({clips * frames, bands});
    float* to = y.write();
    for (std::int64_t c = 0; c < clips; ++c)
        for (std::int64_t t = 0; t < frames; ++t)
            for (std::int64_t b = 0; b < bands; ++b)
                to[(c * frames + t) * bands + b] = x.data()[(c * bands + b) * frames + t];
    return y;
}

struct WhisperGolden {
    explicit WhisperGolden(const std::string& head_name)
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/whisper-tiny"),
          file(folder + "/golden.safetensors"),
          store(ParameterStore::Mode::load),
          head(head_name) {
        const std::string own = folder + "/" + head;
        load_parameters(ModelWeights(own), {}, store);
        config = WhisperConfig::from_json(read_json(own + "/config.json"), own);
        Rng rng;
        if (head == "words")
            whisper.emplace(config, Params(store, rng));
        else
            classifier.emplace(config, 4, Params(store, rng));
        store.finish(own);
        features = rows_of_frames(file.read("features"), 3);
        frames = Segments::uniform(3, 14);
    }
    Tensor logits() const {
        if (classifier) return (*classifier)(features, frames);
        return whisper->logits(features, frames, ids_of(file, "words.input"),
                               Segments::of_lengths(file.read_integers("words.lengths")));
    }
    Ids labels() const { return ids_of(file, head + ".labels"); }

    std::string folder;
    TensorFile file;
    ParameterStore store;
    std::string head;
    WhisperConfig config;
    std::optional<Whisper> whisper;
    std::optional<WhisperClassifier> classifier;
    Tensor features;
    Segments frames;
};

double gap(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]), 2);
        norm += std::pow(static_cast<double>(b.data()[i]), 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-6);
}

class WhisperParity : public testing::TestWithParam<const char*> {};

TEST_P(WhisperParity, LogitsLossAndEveryGradient) {
    const WhisperGolden g(GetParam());
    Tape tape;
    const Tensor logits = g.logits(), wanted = g.file.read(g.head + ".logits");
    ASSERT_EQ(logits.size(), wanted.size());
    for (std::int64_t i = 0; i < wanted.size(); ++i)
        ASSERT_NEAR(logits.data()[i], wanted.data()[i], 1e-4) << i;
    const Tensor loss = cross_entropy(logits, g.labels());
    EXPECT_NEAR(loss.item(), g.file.read(g.head + ".loss").item(), 1e-5);
    const Gradients d = tape.gradients(loss);
    const std::string prefix = g.head + ".gradient.";
    std::size_t compared = 0;
    for (const TensorInfo& info : g.file.tensors()) {
        if (!info.name.starts_with(prefix)) continue;
        const Tensor want = g.file.read(info);
        EXPECT_LT(gap(d[g.store.at(info.name.substr(prefix.size()))], want), 3e-5) << info.name;
        ++compared;
    }
    EXPECT_EQ(compared + 1, g.store.names().size());  // all but the sines
}

TEST_P(WhisperParity, TenTrainingSteps) {
    WhisperGolden g(GetParam());
    AdamW adam(g.store, {.weight_decay = 0.01f});
    const Tensor want = g.file.read(g.head + ".losses");
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = cross_entropy(g.logits(), g.labels());
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        adam.step(d, 3e-3);
    }
    EXPECT_LT(want.data()[9], want.data()[0] - 0.1);  // it did learn
}

INSTANTIATE_TEST_SUITE_P(Heads, WhisperParity, testing::Values("words", "classes"),
                         [](const auto& i) { return std::string(i.param); });

// Clips of other lengths beside it, and threads, change no bit of a clip.
TEST(Whisper, PackedEqualsAloneWithAnyThreads) {
    const WhisperGolden g("classes");
    const Segments lengths = Segments::of_lengths({5, 14, 1, 8});
    const Tensor x = Tensor::of({28, 6}, g.features.span().first(28 * 6));
    const Tensor all = (*g.classifier)(x, lengths);
    for (std::int64_t s = 0; s < 4; ++s) {
        const Tensor part =
            Tensor::of({lengths.length(s), 6},
                       x.span().subspan(static_cast<std::size_t>(lengths.begin(s) * 6),
                                        static_cast<std::size_t>(lengths.length(s) * 6)));
        const Tensor alone = (*g.classifier)(part, Segments::of_lengths({lengths.length(s)}));
        EXPECT_EQ(std::memcmp(alone.data(), all.data() + s * 4, 4 * sizeof(float)), 0) << s;
    }
    for (const int n : {1, 3}) {
        set_thread_count(n);
        const SplitPieces pieces(n);
        EXPECT_EQ((*g.classifier)(x, lengths).values(), all.values());
    }
    set_thread_count(0);
    EXPECT_THROW((*g.classifier)(Tensor::zeros({15, 6}), Segments::of_lengths({15})), Error);
}

// The same texts as transformers' generate, token by token: languages given and heard, both tasks,
// tokens that are never said and that begin no text.
TEST(Whisper, SaysWhatTransformersSays) {
    const WhisperGolden g("words");
    const Json golden = read_json(g.folder + "/generation.json");
    const WhisperHabits habits = WhisperHabits::from_json(golden["habits"], g.config, "habits");
    const auto sounds = golden["sounds"].get<std::vector<std::vector<float>>>();
    std::size_t i = 0;
    for (const Json& c : golden["cases"]) {
        const std::vector<float>& x = sounds[i++ % sounds.size()];
        const SoundRows sound =
            g.whisper->encoder(Tensor::of({14, 6}, x), Segments::uniform(1, 14));
        const WhisperWish wish{
            .language = c["language"].is_null() ? "" : c["language"].get<std::string>(),
            .translate = c["task"] == "translate"};
        EXPECT_EQ(hear(*g.whisper, habits, sound, wish)[0].tokens, c["ids"].get<Ids>()) << c.dump();
    }
    EXPECT_EQ(i, 36u);
    const SoundRows sound =
        g.whisper->encoder(Tensor::of({14, 6}, sounds[0]), Segments::uniform(1, 14));
    EXPECT_THROW(hear(*g.whisper, habits, sound, {.language = "xx"}), Error);
    EXPECT_THROW(hear(*g.whisper, {}, sound, {.translate = true}), Error);
    EXPECT_LE(hear(*g.whisper, {}, sound, {.beam = 3})[0].tokens.size(), 8u) << "places left";
}

TEST(Whisper, StepsHaveTheBitsOfAllRowsAtOnce) {
    const WhisperGolden g("words");
    const SoundRows sound = g.whisper->encoder(g.features, g.frames);
    const Ids a{1, 5, 9, 3}, b{1, 7, 4, 4}, c{1, 2, 18, 11};
    Ids all;
    for (const Ids* t : {&a, &b, &c}) all.insert(all.end(), t->begin(), t->end());
    const Tensor whole =
        g.whisper->decoder.logits(g.whisper->decoder(all, Segments::uniform(3, 4), sound));
    WhisperStepper stepper(g.whisper->decoder, sound);
    const Ids prompts[] = {{1, 5}, {1, 7}, {1, 2}};
    Tensor step = stepper.start(prompts);
    for (std::size_t t = 1; t < 4; ++t) {
        for (std::int64_t s = 0; s < 3; ++s)
            EXPECT_EQ(std::memcmp(step.data() + s * 19,
                                  whole.data() + (4 * s + static_cast<std::int64_t>(t)) * 19,
                                  19 * sizeof(float)),
                      0)
                << "text " << s << " step " << t;
        if (t < 3)
            step = stepper.step({a[t + 1], b[t + 1], c[t + 1]}, std::vector<std::int64_t>{0, 1, 2});
    }
}

TEST(Whisper, BadHabitsAreRefused) {
    const WhisperConfig config = WhisperGolden("words").config;
    for (const char* bad :
         {R"({"lang_to_id": 3})", R"({"lang_to_id": {"<|en|>": "x"}})",
          R"({"lang_to_id": {"<|en|>": 19}})", R"({"task_to_id": {"transcribe": -1}})",
          R"({"no_timestamps_token_id": 99})", R"({"suppress_tokens": "all"})",
          R"({"suppress_tokens": [1.5]})", R"({"begin_suppress_tokens": [19]})",
          R"({"forced_decoder_ids": [3]})", R"({"forced_decoder_ids": [[1, 400]]})"}) {
        try {
            WhisperHabits::from_json(parse_json(bad, "t"), config, "generation_config.json");
            ADD_FAILURE() << bad;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
            EXPECT_EQ(std::string(e.what()).rfind("generation_config.json: ", 0), 0u) << e.what();
        }
    }
}

TEST(Whisper, BadConfigsAreRefused) {
    const Json good =
        read_json(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/whisper-tiny/words/config.json");
    const std::pair<const char*, Json> cases[] = {{"d_model", 13},
                                                  {"d_model", 0},
                                                  {"encoder_attention_heads", 5},
                                                  {"encoder_layers", 0},
                                                  {"vocab_size", -1},
                                                  {"num_mel_bins", 1 << 20},
                                                  {"dropout", 2},
                                                  {"d_model", "wide"},
                                                  {"activation_function", "sine"},
                                                  {"use_weighted_layer_sum", true}};
    for (const auto& [key, value] : cases) {
        Json bad = good;
        bad[key] = value;
        try {
            WhisperConfig::from_json(bad, "config.json");
            ADD_FAILURE() << key << " " << value.dump();
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
            EXPECT_EQ(std::string(e.what()).rfind("config.json: ", 0), 0u) << e.what();
        }
    }
}

// A classifier as Fovea saves it, loaded by transformers: the same logits.
TEST(Whisper, TransformersLoadsWhatIsSavedSlow) {
    const std::string python = test::peer_python();
    if (python.empty()) GTEST_SKIP() << "no Python with transformers";
    const TestFolder folder;
    ModelFolder f;
    f.preprocessor = SoundFeatures::of_sounds(16000);
    f.labels = {"yes", "no", "up"};
    WhisperConfig c = WhisperGolden("classes").config;
    c.num_mel_bins = 80;
    c.max_source_positions = 10;
    f.config = c.to_json();
    f.config["architectures"] = {"WhisperForAudioClassification"};
    const Transcriber model = Transcriber::create(f, 3);
    model.save(folder / "m");
    Rng rng(1);
    Tensor x({20, 80});
    for (std::int64_t i = 0; i < x.size(); ++i) x.write()[i] = static_cast<float>(rng.normal());
    const Tensor logits = (*model.network->classifier)(x, Segments::of_lengths({20}));
    write_file_atomically(folder / "x.json",
                          Json{{"rows", x.values()}, {"logits", logits.values()}}.dump());
    const test::Outcome peer =
        test::run({python, FOVEA_SOURCE_DIR "/tests/speech/hf_load_whisper.py", folder / "m",
                   folder / "x.json"});
    ASSERT_EQ(peer.code, 0) << peer.err;
    const Json got = parse_json(peer.out, "hf_load_whisper.py");
    EXPECT_EQ(to_text(got["missing"]), "[]");
    EXPECT_EQ(to_text(got["unexpected"]), "[]");
    EXPECT_EQ(to_text(got["labels"]), "[\"yes\",\"no\",\"up\"]");
    EXPECT_LT(got["largest"].get<double>(), 1e-4);
}

}  // namespace
}  // namespace fovea
