// Speech through the real binary: train, resume, eval, transcribe, and what can go wrong. Words are
// tones of their own pitch.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "fovea/io/wav.h"
#include "fovea/tasks/speech.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

const char* const words[] = {"lo", "mid", "hi"};
constexpr double pitches[] = {300, 900, 2400};

void say_word(Wave& to, int word, Rng& rng) {
    const auto pause = static_cast<std::size_t>(rng.below(400));
    to.samples.resize(to.samples.size() + pause, 0.0f);
    const int n = 1000 + static_cast<int>(rng.below(500));
    for (int i = 0; i < n; ++i)
        to.samples.push_back(
            static_cast<float>(0.3 * std::sin(6.2831853 * pitches[word] * i / 8000)));
    to.samples.resize(to.samples.size() + 300, 0.0f);
}

// FOLDER/N.wav with one to three words each, and FOLDER/clips.tsv.
void write_clips(const std::string& folder, int count, std::uint64_t seed) {
    make_folders(folder);
    Rng rng(seed);
    std::string table;
    for (int i = 0; i < count; ++i) {
        Wave w{.sample_rate = 8000, .channels = 1, .samples = {}};
        std::string text;
        const auto n = 1 + rng.below(3);
        for (std::int64_t k = 0; k < n; ++k) {
            const auto word = static_cast<int>(rng.below(3));
            say_word(w, word, rng);
            text += (text.empty() ? "" : " ") + std::string(words[word]);
        }
        write_wav(join_path(folder, std::to_string(i) + ".wav"), w);
        table += std::to_string(i) + ".wav\t" + text + "\n";
    }
    write_file_atomically(join_path(folder, "clips.tsv"), table);
}

std::vector<std::string> train_words(const std::string& data, const std::string& out,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"train",     data,    "--out",   out, "--layers",     "2",
                                    "--d-model", "32",    "--heads", "2", "--units",      "words",
                                    "--lr",      "0.003", "--seed",  "3", "--max-tokens", "100"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

TEST(SpeechCli, LearnsToTranscribe) {
    const TestFolder f;
    write_clips(f / "train", 120, 1);
    write_clips(f / "test", 30, 2);
    const std::string train = f / "train/clips.tsv", test = f / "test/clips.tsv";
    const Outcome check = fovea({"data", "check", train, test});
    ASSERT_EQ(check.code, 0) << check.out << check.err;
    EXPECT_NE(check.out.find("120 sounds"), std::string::npos) << check.out;

    const Outcome t = fovea(
        train_words(train, f / "run",
                    {"--dev", test, "--epochs", "8", "--dropout", "0", "--noise", "0", "--warp",
                     "0", "--speed", "0", "--time-masks", "0", "--band-masks", "0"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("names sounds"), std::string::npos) << t.err;  // what was guessed
    const Outcome e = fovea({"eval", f / "run", "--test", test, "--json", "--require", "exact=80"});
    ASSERT_EQ(e.code, 0) << e.out << e.err << t.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "transcribe");
    EXPECT_EQ(j["metric"], "WER");
    for (const char* figure : {"cer", "exact", "insertions", "deletions", "substitutions"})
        EXPECT_TRUE(j["figures"].contains(figure)) << figure;
    EXPECT_NE(j["signature"].get<std::string>().find("unit:word"), std::string::npos);

    // Files and lists of paths, greedy and by beam, text, table and JSON.
    const std::string a = f / "test/0.wav", b = f / "test/1.wav";
    const Outcome two = fovea({"transcribe", f / "run", a, b});
    ASSERT_EQ(two.code, 0) << two.err;
    const Outcome listed = fovea({"transcribe", f / "run"}, {.input = a + "\n" + b + "\n"});
    EXPECT_EQ(listed.out, two.out);
    const Outcome beam = fovea({"transcribe", f / "run", "--beam", "8", a, b});
    ASSERT_EQ(beam.code, 0) << beam.err;
    const Outcome alone = fovea({"transcribe", f / "run", b});
    EXPECT_EQ(two.out.substr(two.out.find('\n') + 1), alone.out);
    const Outcome times = fovea({"transcribe", f / "run", "--times", "--format", "jsonl", a});
    ASSERT_EQ(times.code, 0) << times.err;
    const Json said = parse_json(times.out, "transcribe");
    double before = 0;
    for (const Json& w : said["words"]) {
        EXPECT_GE(w["start"].get<double>(), before);
        EXPECT_GT(w["end"].get<double>(), w["start"].get<double>());
        before = w["end"].get<double>();
    }
    EXPECT_FALSE(said["words"].empty());
    const Outcome table = fovea({"transcribe", f / "run", "--format", "tsv", a});
    EXPECT_EQ(table.out.rfind("path\ttext\n", 0), 0u) << table.out;

    // The page: the spectrogram, attention over it, and the curves of what was said, the blank
    // last.
    ASSERT_EQ(fovea({"inspect", f / "run", "--text", a, "--html", f / "page.html"}).code, 0);
    const Json page = html_data(f / "page.html");
    EXPECT_EQ(page["maps"].size(), 2u);
    EXPECT_EQ(page["output"], said["text"]);
    const Json& tracks = page["seen"]["tracks"];
    ASSERT_GE(tracks.size(), 2u);
    EXPECT_EQ(tracks.back()["name"], "blank");
    EXPECT_EQ(tracks[0]["values"].size(), page["seen"]["width"].get<std::size_t>());
    EXPECT_NE(said["text"].get<std::string>().find(tracks[0]["name"].get<std::string>()),
              std::string::npos);
}

TEST(SpeechCli, ResumedOnOtherThreadsIsUninterrupted) {
    const TestFolder f;
    write_clips(f / "data", 24, 4);
    const std::string data = f / "data/clips.tsv";
    const std::vector<std::string> joint = {"--decoder-layers", "1", "--dev", "none"};
    auto with = [&](const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), joint.begin(), joint.end());
        return fovea(train_words(data, out, more));
    };
    ASSERT_EQ(with(f / "whole", {"--steps", "8", "--threads", "1"}).code, 0);
    ASSERT_EQ(with(f / "parts", {"--steps", "8", "--threads", "2", "--save-every", "3"}).code, 0);
    // Back to an early checkpoint, then on.
    const std::string early = "step-0000000003";
    ASSERT_TRUE(is_folder(f / "parts/" + early));
    for (const auto& entry : std::filesystem::directory_iterator(f / "parts"))
        if (const std::string name = entry.path().filename();
            name.starts_with("step-") && name != early)
            std::filesystem::remove_all(entry.path());
    std::filesystem::remove_all(f / "parts/model");
    const Outcome again =
        with(f / "parts", {"--steps", "8", "--threads", "2", "--save-every", "3", "--resume"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_NE(again.err.find(early + ", step 3"), std::string::npos) << again.err;
    EXPECT_EQ(read_file(f / "whole/model/model.safetensors"),
              read_file(f / "parts/model/model.safetensors"));
    const Outcome rescored = fovea({"transcribe", f / "whole", "--beam", "4", f / "data/0.wav"});
    EXPECT_EQ(rescored.code, 0) << rescored.err;
}

TEST(SpeechCli, LearnsClasses) {
    const TestFolder f;
    Rng rng(1);
    for (const char* set : {"train", "test"})
        for (int word = 0; word < 3; ++word)
            for (int i = 0; i < (set[1] == 'r' ? 20 : 4); ++i) {
                const std::string folder = f / (std::string(set) + "/" + words[word]);
                make_folders(folder);
                Wave w{.sample_rate = 8000, .channels = 1, .samples = {}};
                say_word(w, word, rng);
                write_wav(join_path(folder, std::to_string(i) + ".wav"), w);
            }
    const Outcome t =
        fovea({"train", f / "train", "--out", f / "run", "--layers", "1", "--d-model", "16",
               "--heads", "2", "--dev", f / "test", "--epochs", "15", "--lr", "0.005"});
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("folder of sounds for each label"), std::string::npos) << t.err;
    const Outcome e =
        fovea({"eval", f / "run", "--test", f / "test", "--json", "--require", "accuracy=90"});
    EXPECT_EQ(e.code, 0) << e.out << e.err << t.err;
    const Outcome one = fovea({"transcribe", f / "run", f / "test/hi/0.wav"});
    EXPECT_EQ(one.out.rfind("hi\t", 0), 0u) << one.out << one.err;
}

// A folder as Whisper's are published: tokens, habits of generation, windows (here of a second).
TEST(SpeechCli, TranscribesWithAWhisperFolder) {
    namespace fs = std::filesystem;
    const TestFolder f;
    const std::string golden = FOVEA_SOURCE_DIR "/tests/goldens/whisper-tiny/";
    fs::copy(golden + "words", f / "whisper");
    Json vocabulary = Json::object();
    for (int i = 0; i < 19; ++i) vocabulary["w" + std::to_string(i)] = i;
    write_file_atomically(
        f / "whisper/tokenizer.json",
        Json{{"version", "1.0"},
             {"pre_tokenizer", {{"type", "Whitespace"}}},
             {"model", {{"type", "WordLevel"}, {"unk_token", "w0"}, {"vocab", vocabulary}}}}
            .dump());
    write_file_atomically(f / "whisper/generation_config.json",
                          read_json(golden + "generation.json")["habits"].dump());
    const Json features = {{"feature_extractor_type", "WhisperFeatureExtractor"},
                           {"feature_size", 6},
                           {"sampling_rate", 8000},
                           {"hop_length", 640},
                           {"n_fft", 1280},
                           {"chunk_length", 1}};
    write_file_atomically(f / "whisper/preprocessor_config.json", features.dump());
    Wave w{.sample_rate = 8000, .channels = 1, .samples = {}};
    Rng rng(1);
    while (w.samples.size() < 7000) say_word(w, static_cast<int>(rng.below(3)), rng);
    w.samples.resize(7000);
    write_wav(f / "short.wav", w);
    w.samples.resize(20000, 0.01f);  // three windows
    write_wav(f / "long.wav", w);

    const Outcome one = fovea({"transcribe", f / "whisper", "--language", "en", f / "short.wav"});
    ASSERT_EQ(one.code, 0) << one.err;
    const auto count = [](const std::string& text) {
        return std::count(text.begin(), text.end(), 'w');
    };
    EXPECT_EQ(count(one.out), 5) << one.out;  // nine places, four of them the prompt
    const Outcome both =
        fovea({"transcribe", f / "whisper", "--language", "en", f / "long.wav", f / "short.wav"});
    EXPECT_EQ(count(both.out), 20) << both.out << both.err;
    EXPECT_NE(both.out.find("\n" + one.out), std::string::npos) << "alone: " << one.out << both.out;
    EXPECT_EQ(fovea({"transcribe", f / "whisper", "--beam", "3", f / "short.wav"}).code, 0);

    const std::pair<std::vector<std::string>, const char*> refused[] = {
        {{"--language", "xx"}, "has no such language"}, {{"--times"}, "tell no times of words"}};
    for (const auto& [flags, says] : refused) {
        std::vector<std::string> all = {"transcribe", f / "whisper", f / "short.wav"};
        all.insert(all.end(), flags.begin(), flags.end());
        const Outcome o = fovea(all);
        EXPECT_EQ(o.code, 2) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << o.err;
    }
    fs::remove(f / "whisper/tokenizer.json");
    const Outcome bare = fovea({"transcribe", f / "whisper", f / "short.wav"});
    EXPECT_EQ(bare.code, 3) << bare.err;
}

TEST(SpeechCli, WhatCanGoWrong) {
    const TestFolder f;
    write_clips(f / "data", 12, 5);
    ASSERT_EQ(
        fovea(train_words(f / "data/clips.tsv", f / "run", {"--steps", "2", "--dev", "none"})).code,
        0);
    write_file_atomically(f / "cut.wav", read_file(f / "data/0.wav").substr(0, 500));
    write_file_atomically(f / "song.wav", "ID3 is what MP3 files begin with");
    write_file_atomically(f / "x.mfc", std::string("\0\0\0\x0d", 4) + std::string(52, '\0'));
    write_wav(f / "long.wav",
              {.sample_rate = 8000, .channels = 1, .samples = std::vector<float>(8000 * 40)});
    const std::tuple<std::string, int, const char*> cases[] = {
        {f / "cut.wav", 3, "cut.wav: its header says"},
        {f / "song.wav", 3, "an MP3 file"},
        {f / "x.mfc", 3, "but the model reads sound"},
        {f / "long.wav", 3, "lasts 40 seconds, but the model takes 30"},
        {f / "none.wav", 4, "there is no such file"},
    };
    for (const auto& [path, code, says] : cases) {
        const Outcome o = fovea({"transcribe", f / "run", path});
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << o.err;
        EXPECT_NE(o.err.find("hint:"), std::string::npos) << o.err;
    }
    const Outcome heads =
        fovea({"train", f / "data/clips.tsv", "--out", f / "x", "--d-model", "10", "--heads", "4"});
    EXPECT_EQ(heads.code, 2) << heads.err;
    // A damaged sound among whole ones, even the first: an error, or passed over.
    write_file_atomically(f / "data/0.wav", read_file(f / "data/0.wav").substr(0, 500));
    std::vector<std::string> again =
        train_words(f / "data/clips.tsv", f / "again", {"--steps", "1", "--dev", "none"});
    EXPECT_EQ(fovea(again).code, 3);
    again.insert(again.end(), {"--skip-bad", "1"});
    const Outcome passed = fovea(again);
    EXPECT_EQ(passed.code, 0) << passed.err;
    EXPECT_NE(passed.err.find("passed over: " + (f / "data/0.wav")), std::string::npos)
        << passed.err;
}

}  // namespace
}  // namespace fovea::test
