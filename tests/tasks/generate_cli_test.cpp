// A language model through the real binary: prompts in every way, streaming, seeds, perplexity,
// inspection, and what can go wrong.
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"
#include "tests/gpt2_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

class GenerateCli : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TestFolder;
        write_gpt2_folder(model());
    }
    static void TearDownTestSuite() { delete folder_; }
    static std::string model() { return *folder_ / "model"; }
    static std::string file(const std::string& name) { return *folder_ / name; }

    static Outcome generate(std::vector<std::string> more, const std::string& input = "") {
        more.insert(more.begin(), {"generate", model()});
        return fovea(more, {.input = input});
    }
    static std::vector<Json> lines(const Outcome& o) {
        EXPECT_EQ(o.code, 0) << o.err;
        std::vector<Json> all;
        std::istringstream in(o.out);
        for (std::string line; std::getline(in, line);) all.push_back(parse_json(line, "line"));
        if (all.empty()) throw Error("no answer");
        return all;
    }

    static TestFolder* folder_;
};
TestFolder* GenerateCli::folder_ = nullptr;

TEST_F(GenerateCli, GoesOnWithAPrompt) {
    const auto one =
        lines(generate({"--prompt", "the owl", "--max-tokens", "9", "--format", "jsonl"}));
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0]["schema"], "fovea.generation");
    EXPECT_EQ(one[0]["prompt"], "the owl");
    EXPECT_LE(one[0]["samples"][0]["tokens"].size(), 9u);
    const std::string text = one[0]["text"].get<std::string>();
    const Outcome plain = generate({"--prompt", "the owl", "--max-tokens", "9"});
    EXPECT_EQ(plain.out, "the owl" + text + "\n");
    const Outcome streamed = generate({"--prompt", "the owl", "--max-tokens", "9", "--stream"});
    EXPECT_EQ(streamed.out, plain.out);
    const Outcome bare = generate({"--prompt", "the owl", "--max-tokens", "9", "--no-prompt"});
    EXPECT_EQ(bare.out, text + "\n");
}

TEST_F(GenerateCli, PromptsFromFilesStandardInputAndFlagsAreTheSame) {
    write_file_atomically(file("prompts.txt"), "the owl\nhello\n");
    const auto flags =
        lines(generate({"--prompt", "the owl", "--prompt", "hello", "--format", "jsonl"}));
    const auto files = lines(generate({file("prompts.txt"), "--format", "jsonl"}));
    const auto input = lines(generate({"--format", "jsonl"}, "the owl\nhello\n"));
    ASSERT_EQ(flags.size(), 2u);
    EXPECT_EQ(flags, files);
    EXPECT_EQ(flags, input);
}

// Seeds name texts by prompt and sample: the batch around them does not matter.
TEST_F(GenerateCli, SeedsReproduceWhateverTheBatch) {
    const std::vector<std::string> how = {"--sample", "--samples", "3",       "--top-k", "40",
                                          "--top-p",  "0.95",      "--min-p", "0.01",    "--format",
                                          "jsonl",    "--seed",    "7"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.end(), how.begin(), how.end());
        return more;
    };
    const std::string prompts = "the owl\nhello\nwow\nthe low\n";
    const auto all = lines(generate(with({}), prompts));
    const auto alone = lines(generate(with({"--batch", "1", "--threads", "1"}), prompts));
    EXPECT_EQ(all, alone);
    ASSERT_EQ(all[0]["samples"].size(), 3u);
    EXPECT_NE(all[0]["samples"][0]["text"], all[0]["samples"][1]["text"]);
    auto other = how;
    other.back() = "8";
    EXPECT_NE(lines(generate(other, prompts)), all);
}

TEST_F(GenerateCli, StreamedSamplesComeInOrder) {
    const std::vector<std::string> how = {"--sample", "--samples", "3", "--max-tokens", "12"};
    auto streamed = how;
    streamed.emplace_back("--stream");
    const std::string prompts = "the owl\nhello\n";
    const Outcome whole = generate(how, prompts), pieces = generate(streamed, prompts);
    EXPECT_EQ(whole.code, 0) << whole.err;
    EXPECT_EQ(pieces.out, whole.out);
    std::size_t cuts = 0;
    for (std::size_t at = 0; (at = whole.out.find("\n---\n", at)) != std::string::npos; ++at)
        ++cuts;
    EXPECT_EQ(cuts, 4u);
}

TEST_F(GenerateCli, StopStringsAndBadWords) {
    const auto free =
        lines(generate({"--prompt", "the", "--max-tokens", "30", "--format", "jsonl"}));
    const std::string text = free[0]["text"].get<std::string>();
    ASSERT_GE(text.size(), 8u);
    // The first bytes that are characters of their own.
    std::size_t at = 2;
    while (at + 2 < text.size() && ((text[at] & 0x80) || (text[at + 1] & 0x80))) ++at;
    const std::string stop = text.substr(at, 2);
    const auto cut = lines(
        generate({"--prompt", "the", "--max-tokens", "30", "--format", "jsonl", "--stop", stop}));
    EXPECT_EQ(cut[0]["text"], text.substr(0, text.find(stop)));
    EXPECT_EQ(cut[0]["samples"][0]["end"], "stop");
    EXPECT_EQ(cut[0]["samples"][0]["stopped_by"], stop);
    const auto without = lines(generate(
        {"--prompt", "the", "--max-tokens", "30", "--format", "jsonl", "--bad-words", stop}));
    EXPECT_EQ(without[0]["text"].get<std::string>().find(" " + stop), std::string::npos);
    EXPECT_NE(without[0]["text"], text);
}

// Behind the context of 64 tokens it goes on from the newer half, in memory that does not grow; the
// same text whatever stands beside it.
TEST_F(GenerateCli, GoesOnBehindTheContextAndSaysSo) {
    const std::vector<std::string> words = {"--prompt",     "the owl", "--max-tokens", "300",
                                            "--min-tokens", "300",     "--format",     "jsonl"};
    const Outcome o = generate(words);
    const auto found = lines(o);
    EXPECT_EQ(found[0]["samples"][0]["tokens"].size(), 300u);
    EXPECT_EQ(found[0]["samples"][0]["end"], "limit");
    EXPECT_NE(o.err.find("longer than the context of 64 tokens"), std::string::npos) << o.err;
    std::vector<std::string> more = words;
    more.insert(more.end(), {"--prompt", "hello", "--prompt", "wow the owl, hello"});
    EXPECT_EQ(lines(generate(more))[0], found[0]);
    more.insert(more.end(), {"--batch", "1", "--threads", "1"});
    EXPECT_EQ(lines(generate(more))[0], found[0]);
    const Outcome help = fovea({"generate", "--help"});
    EXPECT_NE((help.out + help.err).find("oldest half"), std::string::npos);
    const Outcome long_prompt = generate({"--prompt", std::string(200, 'x')});
    EXPECT_EQ(long_prompt.code, 3);
    EXPECT_NE(long_prompt.err.find("context is 64"), std::string::npos) << long_prompt.err;
    EXPECT_NE(long_prompt.err.find("shorten"), std::string::npos) << long_prompt.err;
}

TEST_F(GenerateCli, WrongSettingsAreToldWithAWayOut) {
    const std::pair<std::vector<std::string>, const char*> wrong[] = {
        {{"--samples", "3"}, "--sample"},
        {{"--temperature", "0.5"}, "--sample"},
        {{"--min-p", "0.5"}, "--sample"},
        {{"--sample", "--min-p", "1.5"}, "min-p"},
        {{"--sample", "--beam", "3"}, "one of them"},
        {{"--stop", ""}, "stop"},
        {{"--stream", "--format", "jsonl"}, "--stream"},
        {{"--max-tokens", "0"}, "max-tokens"}};
    for (const auto& [flags, part] : wrong) {
        std::vector<std::string> words = flags;
        words.insert(words.end(), {"--prompt", "x"});
        const Outcome o = generate(words);
        EXPECT_EQ(o.code, 2) << part << o.err;
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
        EXPECT_TRUE(o.out.empty()) << o.out;
    }
}

TEST_F(GenerateCli, DefaultsOfTheFolderHold) {
    const std::string other = file("defaults");
    write_gpt2_folder(other, {.generation = {{"do_sample", true},
                                             {"top_k", 3},
                                             {"max_new_tokens", 5},
                                             {"min_new_tokens", 5},
                                             {"bad_words_ids", {{5, 6}, {7}}}}});
    const Outcome o =
        fovea({"generate", other, "--prompt", "the", "--format", "jsonl", "--samples", "2"});
    const auto found = lines(o);
    ASSERT_EQ(found[0]["samples"].size(), 2u);  // it samples, so two are possible
    EXPECT_EQ(found[0]["samples"][0]["tokens"].size(), 5u);
}

// max_length counts the prompt, as in transformers; --max-tokens is what is asked for here.
TEST_F(GenerateCli, MaxLengthOfTheFolderCountsThePrompt) {
    const std::string other = file("total");
    write_gpt2_folder(other, {.generation = {{"max_length", 12}}});
    const auto made = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"generate", other, "--format", "jsonl"});
        return fovea(words);
    };
    const auto found = lines(made({"--prompt", "the owl", "--min-tokens", "12"}));
    EXPECT_EQ(
        found[0]["samples"][0]["tokens"].size() + found[0]["prompt_tokens"].get<std::size_t>(),
        12u);
    const auto asked =
        lines(made({"--prompt", "the owl", "--max-tokens", "15", "--min-tokens", "15"}));
    EXPECT_EQ(asked[0]["samples"][0]["tokens"].size(), 15u);
    const Outcome longer = made({"--prompt", std::string(20, 'x')});
    EXPECT_EQ(longer.code, 3) << longer.err;
    EXPECT_NE(longer.err.find("--max-tokens"), std::string::npos) << longer.err;
}

// A hypothesis with the stop string is complete: it is ranked as it stands, not by what it would
// have gone on with.
TEST_F(GenerateCli, StopStringsEndHypothesesOfABeam) {
    const std::vector<std::string> words = {"--prompt", "the",  "--max-tokens", "30",
                                            "--beam",   "3",    "--samples",    "3",
                                            "--format", "jsonl"};
    const std::string text = lines(generate(words))[0]["text"];
    std::size_t at = text.size() / 3;  // two ordinary characters somewhere in the middle
    const auto plain = [&](std::size_t i) { return text[i] > ' ' && text[i] < 0x7f; };
    while (at + 2 < text.size() && !(plain(at) && plain(at + 1))) ++at;
    const std::string stop = text.substr(at, 2);
    std::vector<std::string> with = words;
    with.insert(with.end(), {"--stop", stop});
    const Json found = lines(generate(with))[0];
    bool stopped = false;
    for (const Json& s : found["samples"]) {
        EXPECT_EQ(s["text"].get<std::string>().find(stop), std::string::npos);
        if (s["end"] != "stop") continue;
        stopped = true;
        EXPECT_LT(s["tokens"].size(), 30u);  // nothing was written behind it
        EXPECT_EQ(s["stopped_by"], stop);
    }
    EXPECT_TRUE(stopped) << found;
}

TEST_F(GenerateCli, AnInterruptKeepsWhatIsThere) {
    const std::string big = file("big");
    write_gpt2_folder(big, {.context = 20000});
    bool sent = false;
    RunOptions options;
    options.poll = [&](pid_t child, const std::string& out) {
        if (!sent && out.size() > 20) {
            sent = true;
            kill(child, SIGINT);
        }
    };
    const Outcome o = fovea({"generate", big, "--prompt", "the owl", "--max-tokens", "19000",
                             "--min-tokens", "19000", "--stream"},
                            options);
    EXPECT_TRUE(sent);
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_TRUE(o.out.starts_with("the owl")) << o.out.substr(0, 100);
    EXPECT_TRUE(o.out.ends_with("\n"));
}

TEST_F(GenerateCli, PerplexityOfAFile) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the owl will tell the low wall\n";
    write_file_atomically(file("text.txt"), text);
    const Outcome o =
        fovea({"eval", model(), file("text.txt"), "--context", "32", "--stride", "8", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    const Json j = parse_json(o.out, "eval");
    EXPECT_EQ(j["metric"], "perplexity");
    EXPECT_TRUE(j["signature"].get<std::string>().starts_with("context:32|stride:8|")) << o.out;
    const double loss = j["figures"]["loss"].get<double>();
    EXPECT_NEAR(std::log(j["value"].get<double>()), loss, 1e-9);
    const double tokens = j["tokens"].get<double>();
    EXPECT_NEAR(j["figures"]["bits_per_byte"].get<double>(),
                loss / std::log(2.0) * tokens / static_cast<double>(text.size()), 1e-9);
    EXPECT_EQ(j["how"]["scored_tokens"].get<double>(), tokens - 1);
    EXPECT_EQ(fovea({"eval", model(), file("text.txt"), "--require", "perplexity=1.5"}).code, 5);
    EXPECT_EQ(fovea({"eval", model(), file("text.txt"), "--stride", "65"}).code, 2);
    EXPECT_EQ(fovea({"eval", model(), file("text.txt"), "--context", "65"}).code, 2);
    write_file_atomically(file("latin1.txt"), "caf\xe9 au lait");
    EXPECT_EQ(fovea({"eval", model(), file("latin1.txt")}).code, 3);
    write_file_atomically(file("empty.txt"), "");
    EXPECT_EQ(fovea({"eval", model(), file("empty.txt")}).code, 3);
}

TEST_F(GenerateCli, InspectShowsACausalMap) {
    const Outcome o = fovea({"inspect", model(), "--text", "the owl", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    const Json j = parse_json(o.out, "inspect");
    ASSERT_EQ(j["maps"].size(), 2u);
    const Json& map = j["maps"][1];
    EXPECT_EQ(map["name"], "transformer.h.1.attn");
    for (const Json& head : map["weights"])
        for (std::size_t q = 0; q < head.size(); ++q)
            for (std::size_t k = 0; k < head[q].size(); ++k)
                EXPECT_EQ(head[q][k].get<double>() > 0, k <= q) << q << " " << k;
    EXPECT_EQ(fovea({"inspect", model()}).code, 0);
}

}  // namespace
}  // namespace fovea::test
