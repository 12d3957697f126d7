// Every decoding option through the program, on a model that is half trained (so that hypotheses
// differ): what docs/decoding.md promises.
#include <cmath>

#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

const std::string& model() {
    static const std::string path = [] {
        const Ran r = fovea(train_flags("decoding", 60) + " --separate-vocab");
        EXPECT_EQ(r.code, 0) << r.err;
        return folder() + "/decoding/model";
    }();
    return path;
}

const char* const texts = "5 May 1999\nthe 3rd of March, 1987\n24. Dezember 2031\n";

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = text.find('\n', from);
        lines.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return lines;
}

std::vector<Json> decode(const std::string& flags, const std::string& input = texts) {
    const Ran r = fovea("translate " + model() + " --format jsonl " + flags, input);
    EXPECT_EQ(r.code, 0) << flags << "\n" << r.err;
    std::vector<Json> out;
    for (const std::string& line : lines_of(r.out)) out.push_back(parse_json(line, flags));
    return out;
}

std::string file(const std::string& name, const std::string& text) {
    write_file_atomically(folder() + "/" + name, text);
    return folder() + "/" + name;
}

// The score of a hypothesis is the sum of its tokens' scores, and what --score gives its text.
TEST(DecodingCli, NBestListsAndTheScoresOfTheirTokens) {
    std::string sources, targets;
    std::vector<double> sums;
    for (const Json& t : decode("--beam 4 --n-best 4")) {
        ASSERT_EQ(t["n_best"].size(), 4u);
        double last = 1e9;
        for (const Json& n : t["n_best"]) {
            double sum = 0;
            for (const Json& s : n["token_scores"]) sum += s.get<double>();
            EXPECT_NEAR(sum, n["log_probability"].get<double>(), 1e-4);
            EXPECT_LE(n["score"].get<double>(), last);
            last = n["score"];
            if (!n["finished"]) continue;
            EXPECT_EQ(n["token_scores"].size(), n["tokens"].size() + 1);
            sources += t["source"].get<std::string>() + "\n";
            targets += n["text"].get<std::string>() + "\n";
            sums.push_back(n["log_probability"]);
        }
    }
    ASSERT_GE(sums.size(), 3u);
    const Ran scored =
        fovea("translate " + model() + " --score " + file("targets.txt", targets), sources);
    ASSERT_EQ(scored.code, 0) << scored.err;
    const std::vector<std::string> lines = lines_of(scored.out);
    ASSERT_EQ(lines.size(), sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
        EXPECT_NEAR(std::stod(lines[i]), sums[i], 2e-3) << lines_of(targets)[i];
    // Marian's and Moses' form
    const Ran plain = fovea("translate " + model() + " --beam 2 --n-best 2 --scores", texts);
    EXPECT_EQ(plain.out.rfind("0 ||| ", 0), 0u) << plain.out;
    EXPECT_NE(plain.out.find(" ||| WordScores= "), std::string::npos) << plain.out;
    EXPECT_NE(plain.out.find(" ||| F0= "), std::string::npos) << plain.out;
}

// An empty line stays an empty line, so that line n answers line n; its neighbours do not notice.
TEST(DecodingCli, NothingIsTranslatedToNothing) {
    const std::string two = "5 May 1999\n24. Dezember 2031\n";
    const auto some = decode("--beam 3", two), more = decode("--beam 3", "\n" + two + "  \t\n");
    ASSERT_EQ(more.size(), 4u);
    EXPECT_EQ(more[0]["text"], "");
    EXPECT_EQ(more[3]["text"], "");
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(to_text(more[i + 1]), to_text(some[i]));
    const Ran plain = fovea("translate " + model(), "\n\n");
    EXPECT_EQ(plain.out, "\n\n") << plain.err;
    // unless something is wished for
    const auto wished = decode("--prefixes " + file("one.txt", "20\n"), "\n");
    EXPECT_EQ(wished[0]["text"].get<std::string>().rfind("20", 0), 0u) << wished[0]["text"];
}

TEST(DecodingCli, ATextThatIsTooLongIsCutAloud) {
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "5 May 1999 ";
    const Ran r = fovea("translate " + model() + " --max-length 3", "5 May 1999\n" + text + "\n");
    EXPECT_EQ(r.code, 0);
    EXPECT_NE(r.err.find("1 text was cut to the "), std::string::npos) << r.err;
    EXPECT_EQ(lines_of(r.out).size(), 2u);
    EXPECT_EQ(fovea("translate " + model() + " --max-length 3", "5 May 1999\n").err, "");
}

// More lines than a portion: prefixes and samples follow the line's number, not its place in the
// portion.
TEST(DecodingCli, LongInputsAreAnsweredInPortions) {
    const std::string tail = "5 May 1999\nthe 3rd of March, 1987\n";
    const std::string blank(2047, '\n');
    const std::string prefixes = blank + "1\n2\n";
    const auto all = decode(
        "--sample --seed 3 --max-length 12 --prefixes " + file("many.txt", prefixes), blank + tail);
    const auto again = decode(
        "--sample --seed 3 --max-length 12 --batch 1 --prefixes " + file("many.txt", prefixes),
        blank + tail);
    ASSERT_EQ(all.size(), 2049u);
    EXPECT_EQ(all[2047]["text"].get<std::string>()[0], '1');
    EXPECT_EQ(all[2048]["text"].get<std::string>()[0], '2');
    for (std::size_t i = 2047; i < 2049; ++i) EXPECT_EQ(to_text(all[i]), to_text(again[i]));
    // The first lines of two portions: the same text, but a draw of its own.
    const std::string line = "5 May 1999\n";
    const auto drawn = decode("--sample --temperature 1.3 --seed 5", line + blank + line);
    EXPECT_NE(drawn[0]["n_best"], drawn[2048]["n_best"]);
}

TEST(DecodingCli, PenaltiesRankAndControlsHold) {
    for (const char* penalty : {"none", "marian", "fairseq", "hf", "onmt-avg", "onmt-wu"})
        for (const Json& t : decode(std::string("--beam 3 --n-best 3 --length-alpha 0.6 "
                                                "--length-penalty ") +
                                    penalty))
            for (const Json& n : t["n_best"]) {
                const auto length = static_cast<double>(n["token_scores"].size());
                const std::string p = penalty;
                const double by = p == "none"      ? 1
                                  : p == "onmt-wu" ? std::pow((5 + length) / 6, 0.6)
                                                   : std::pow(length, 0.6);
                EXPECT_NEAR(n["score"].get<double>(), n["log_probability"].get<double>() / by, 1e-6)
                    << penalty;
            }
    for (const Json& t : decode("--beam 3 --min-length 15 --max-length 18"))
        EXPECT_TRUE(t["n_best"][0]["tokens"].size() >= 15 && t["n_best"][0]["tokens"].size() <= 18);
    for (const Json& t : decode("--no-repeat-ngram 1")) {
        std::vector<std::string> tokens = t["n_best"][0]["tokens"];
        std::sort(tokens.begin(), tokens.end());
        EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end()), tokens.end());
    }
    // A penalty on what was not looked at lowers every score.
    const auto with = decode("--beam 3 --coverage-penalty 0.4"), without = decode("--beam 3");
    for (std::size_t i = 0; i < with.size(); ++i)
        EXPECT_LT(with[i]["n_best"][0]["score"].get<double>(),
                  without[i]["n_best"][0]["score"].get<double>());
}

TEST(DecodingCli, SamplesFollowTheSeedAndNotTheBatch) {
    const auto a = decode("--sample --temperature 1.3 --seed 5 --n-best 2"),
               b = decode("--sample --temperature 1.3 --seed 5 --n-best 2 --batch 1"),
               c = decode("--sample --temperature 1.3 --seed 6 --n-best 2");
    bool differs = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(to_text(a[i]), to_text(b[i]));
        differs = differs || to_text(a[i]) != to_text(c[i]);
    }
    EXPECT_TRUE(differs);
    // Of one candidate the draw is the argmax.
    const auto greedy = decode("--beam 1"), top = decode("--sample --top-k 1");
    for (std::size_t i = 0; i < greedy.size(); ++i) EXPECT_EQ(greedy[i]["text"], top[i]["text"]);
}

TEST(DecodingCli, PrefixesAndConstraintsAreKept) {
    const std::string prefixes = file("prefixes.txt", "2001-0\n\n1234\n");
    const auto forced = decode("--beam 3 --prefixes " + prefixes), plain = decode("--beam 3");
    EXPECT_EQ(forced[0]["text"].get<std::string>().rfind("2001-0", 0), 0u) << forced[0]["text"];
    EXPECT_EQ(forced[1]["text"], plain[1]["text"]);
    EXPECT_EQ(forced[2]["text"].get<std::string>().rfind("1234", 0), 0u) << forced[2]["text"];
    const std::string phrases = file("phrases.txt", "77\n\n88\t99\n");
    const auto bound = decode("--beam 8 --constraints " + phrases + " --no-early-stop");
    const auto holds = [&](std::size_t i, const char* phrase) {
        return !bound[i]["n_best"][0]["finished"] ||
               bound[i]["text"].get<std::string>().find(phrase) != std::string::npos;
    };
    EXPECT_TRUE(holds(0, "77")) << bound[0]["text"];
    EXPECT_EQ(bound[1]["text"], decode("--beam 8 --no-early-stop")[1]["text"]);
    EXPECT_TRUE(holds(2, "88") && holds(2, "99")) << bound[2]["text"];
    for (const char* flag : {"--prefixes ", "--constraints "})  // two lines for three texts
        EXPECT_EQ(
            fovea("translate " + model() + " " + flag + file("two.txt", "a\nb\n"), texts).code, 3);
}

// Pharaoh pairs count words of the texts as spaces part them; tokens are there beside them.
TEST(DecodingCli, AlignmentsAreBetweenWords) {
    for (const Json& t : decode("--alignments")) {
        const Json& n = t["n_best"][0];
        const auto words = [](const std::string& text) {
            std::istringstream in(text);
            std::int64_t count = 0;
            for (std::string w; in >> w;) ++count;
            return count;
        };
        std::istringstream pairs(n["alignment"].get<std::string>());
        std::int64_t expected = 0, count = 0;
        for (std::string pair; pairs >> pair; ++expected, ++count) {
            const std::size_t dash = pair.find('-');
            EXPECT_LT(std::stoll(pair.substr(0, dash)), words(t["source"]));
            EXPECT_EQ(std::stoll(pair.substr(dash + 1)), expected);
        }
        EXPECT_EQ(count, words(n["text"]));
        std::istringstream tokens(n["token_alignment"].get<std::string>());
        count = 0;
        for (std::string pair; tokens >> pair;) ++count;
        EXPECT_EQ(count, static_cast<std::int64_t>(n["tokens"].size()));
    }
}

TEST(DecodingCli, EnsemblesAverageAndRefuseOtherVocabularies) {
    const Ran mean = fovea("average " + folder() + "/decoding --last 3 --out " + folder() +
                           "/decoding_mean --force");
    ASSERT_EQ(mean.code, 0) << mean.err;
    const std::string in = file("in.txt", texts),
                      two = " --ensemble " + folder() + "/decoding_mean";
    // FILES may stand behind the flag
    const Ran r = fovea("translate " + model() + two + " " + in);
    EXPECT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(lines_of(r.out).size(), 3u);
    const auto alone = decode(""), twice = decode("--ensemble " + model());
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i]["text"], twice[i]["text"]);
    ASSERT_EQ(fovea(train_flags("joint", 2)).code, 0);
    const Ran bad =
        fovea("translate " + model() + " --ensemble " + folder() + "/joint/model", texts);
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.err.find("vocabular"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace fovea
