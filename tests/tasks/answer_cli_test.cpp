// Answering through the real binary: train, resume, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

std::string made_name(Rng& rng) {
    const char* const syllables[] = {"Zor", "Kim", "Tal", "Ven", "Sul", "Gar", "Pem", "Hob"};
    const char* const ends[] = {"ba", "ke", "mi", "lu", "po", "ra"};
    std::string name = syllables[rng.below(8)];
    name += ends[rng.below(6)];
    return name + ends[rng.below(6)];
}

// Where somebody lives: four people and their towns in each context, most of them new words in the
// test. `unknown`: every third question asks for somebody who is not there.
std::string squad(int contexts, std::uint64_t seed, bool unknown = false) {
    Rng rng(seed);
    Json data{{"version", unknown ? "2.0" : "1.1"}, {"data", Json::array()}};
    Json paragraphs = Json::array();
    for (int c = 0; c < contexts; ++c) {
        std::string text;
        Json questions = Json::array();
        for (int k = 0; k < 4; ++k) {
            const std::string who = made_name(rng), where = made_name(rng);
            text += (k ? " " : "") + who + " lives in é ";
            const auto start = static_cast<int>(text.size()) - (k + 1);  // é is two bytes
            text += where + ".";
            const bool absent = unknown && rng.below(3) == 0;
            Json q{{"id", std::to_string(c) + "-" + std::to_string(k)},
                   {"question", "Where does " + (absent ? made_name(rng) : who) + " live?"},
                   {"answers", Json::array()}};
            if (unknown) q["is_impossible"] = absent;
            if (!absent) q["answers"].push_back({{"text", where}, {"answer_start", start}});
            questions.push_back(q);
        }
        paragraphs.push_back({{"context", text}, {"qas", questions}});
    }
    data["data"].push_back({{"title", "towns"}, {"paragraphs", paragraphs}});
    return to_text(data);
}

std::vector<std::string> reader_words(const std::string& data, const std::string& out,
                                      std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"train",        "--task", "answer",   data,    "--out",  out,
                                      "--d-model",    "32",     "--layers", "1",     "--ffn",  "32",
                                      "--heads",      "2",      "--lr",     "0.004", "--seed", "3",
                                      "--max-tokens", "1024"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

const char* const towns =
    "Talkemi lives in é Zorlupo. Kimbara lives in é Hobmike. Pempora lives in é Sulbalu. Gar lives "
    "in é Ven.";

TEST(AnswerCli, TrainsMeasuresAndAnswers) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(200, 1));
    write_file_atomically(folder / "test.json", squad(30, 2));
    const Outcome t =
        fovea(reader_words(folder / "train.json", folder / "run", {"--epochs", "16"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("held out"), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("fovea_reader"), std::string::npos) << t.err;

    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test.json", "--json",
                             "--outputs", folder / "said.txt", "--require", "exact=80"});
    ASSERT_EQ(e.code, 0) << e.out << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "answer");
    EXPECT_EQ(j["metric"], "f1");
    EXPECT_EQ(j["records"], 120);
    EXPECT_EQ(j["signature"].get<std::string>().rfind("squad:1.1", 0), 0u);

    write_file_atomically(folder / "towns.txt", towns);
    const std::string where = "Where does Kimbara live?";
    const Outcome one =
        fovea({"answer", folder / "run", "--question", where, "--context", folder / "towns.txt"});
    ASSERT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(one.out, "Hobmike\n");
    const Outcome lines = fovea({"answer", folder / "run", "--context", folder / "towns.txt",
                                 "--top", "3", "--format", "jsonl"},
                                {.input = where + "\nWhere does Talkemi live?\n"});
    ASSERT_EQ(lines.code, 0) << lines.err;
    const Json first = parse_json(lines.out.substr(0, lines.out.find('\n')), "answer");
    EXPECT_EQ(first["answer"], "Hobmike");
    ASSERT_EQ(first["answers"].size(), 3u);
    // offsets count characters, and the text is the one that was given
    EXPECT_EQ(first["answers"][0]["start"], 47);
    EXPECT_EQ(first["answers"][0]["end"], 54);
    EXPECT_GE(first["answers"][0]["probability"], first["answers"][1]["probability"]);
    const Json row{{"id", "q7"}, {"question", where}, {"context", towns}};
    write_file_atomically(folder / "in.jsonl", to_text(row) + "\n");
    const Outcome table = fovea({"answer", folder / "run", folder / "in.jsonl", "--format", "tsv"});
    ASSERT_EQ(table.code, 0) << table.err;
    EXPECT_NE(table.out.find("Hobmike\t47\t54\t"), std::string::npos) << table.out;
    write_file_atomically(folder / "in.tsv",
                          "question\tcontext\n" + where + "\t" + std::string(towns) + "\n");
    EXPECT_EQ(fovea({"answer", folder / "run", folder / "in.tsv"}).out, "Hobmike\n");
    // slots as questions: the model never saw a slot's label
    write_file_atomically(folder / "ask.tsv", "home\tWhere does Kimbara live?\n\n");
    const Outcome slots = fovea({"answer", folder / "run", "--ask", folder / "ask.tsv"},
                                {.input = std::string(towns) + "\n"});
    EXPECT_EQ(slots.out, "home=Hobmike\n") << slots.err;
    const Outcome rows =
        fovea({"answer", folder / "run", "--ask", folder / "ask.tsv", "--format", "jsonl"},
              {.input = std::string(towns) + "\n"});
    EXPECT_EQ(parse_json(rows.out, "slots")["slots"][0]["start"], 47) << rows.out;
    const Outcome wrong = fovea({"classify", folder / "run"}, {.input = "x\n"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("fovea answer"), std::string::npos) << wrong.err;
}

// Any batch, any number of threads, a run that was interrupted: the same bits.
TEST(AnswerCli, SameBitsWhateverTheBatchTheThreadsAndTheSittings) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(20, 1));
    const auto words = [&](const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), {"--dev", "none", "--save-every", "3"});
        return reader_words(folder / "train.json", folder / out, std::move(more));
    };
    ASSERT_EQ(fovea(words("whole", {"--steps", "6"}), {.env = {{"FOVEA_THREADS", "1"}}}).code, 0);
    ASSERT_EQ(fovea(words("two", {"--steps", "6"}), {.env = {{"FOVEA_THREADS", "2"}}}).code, 0);
    ASSERT_EQ(fovea(words("parts", {"--steps", "6", "--keep", "9"})).code, 0);
    const std::string weights = read_file(folder / "whole/model/model.safetensors");
    EXPECT_EQ(read_file(folder / "two/model/model.safetensors"), weights);
    // the last checkpoint is lost: the run goes on from the one before
    std::filesystem::remove_all(folder / "parts/model");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "parts"))
        if (entry.path().filename().string().find("6") != std::string::npos &&
            entry.is_directory()) {
            std::filesystem::remove_all(entry.path());
            break;
        }
    const Outcome again = fovea({"train", "--out", folder / "parts", "--resume"});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(read_file(folder / "parts/model/model.safetensors"), weights);

    write_file_atomically(folder / "test.json", squad(6, 2));
    const auto eval = [&](const std::string& tokens, const std::string& threads) {
        const Outcome o = fovea(
            {"eval", folder / "whole", folder / "test.json", "--json", "--batch-tokens", tokens},
            {.env = {{"FOVEA_THREADS", threads}}});
        Json j = parse_json(o.out, "eval");
        j.erase("seconds");
        return j;
    };
    const Json alone = eval("1", "1");
    EXPECT_EQ(alone, eval("4096", "1"));
    EXPECT_EQ(alone, eval("4096", "2"));
}

TEST(AnswerCli, LongContextsAreReadInWindows) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(30, 1));
    ASSERT_EQ(fovea(reader_words(folder / "train.json", folder / "run",
                                 {"--steps", "4", "--max-length", "24", "--dev", "none"}))
                  .code,
              0);
    std::string text;
    for (int i = 0; i < 40; ++i) text += std::string(towns) + " ";
    write_file_atomically(folder / "long.txt", text);
    const Outcome o = fovea({"answer", folder / "run", "--question", "Where does Gar live?",
                             "--context", folder / "long.txt", "--format", "jsonl"});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("read in parts that overlap"), std::string::npos) << o.err;
    const Json a = parse_json(o.out, "answer")["answers"][0];
    EXPECT_LE(a["end"].get<int>() - a["start"].get<int>(), 24 * 12);
}

TEST(AnswerCli, SaysThatThereIsNoAnswer) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(250, 1, true));
    write_file_atomically(folder / "test.json", squad(30, 2, true));
    const Outcome t =
        fovea(reader_words(folder / "train.json", folder / "run", {"--epochs", "16"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("of them without an answer"), std::string::npos) << t.err;
    const Json config = read_json(folder / "run/model/config.json");
    EXPECT_TRUE(config["no_answer"].get<bool>());
    EXPECT_TRUE(config["no_answer_bound"].is_number());
    const Outcome e = fovea({"eval", folder / "run", folder / "test.json", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json f = parse_json(e.out, "eval")["figures"];
    EXPECT_GE(f["f1"].get<double>(), 60.0) << e.out;
    EXPECT_GE(f["best_f1"].get<double>(), f["f1"].get<double>());
    EXPECT_GE(f["unanswered_exact"].get<double>(), 30.0) << e.out;
    write_file_atomically(folder / "towns.txt", towns);
    const auto ask = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"answer",     folder / "run",
                                       "--question", "Where does Kimbara live?",
                                       "--context",  folder / "towns.txt"};
        words.insert(words.end(), more.begin(), more.end());
        return fovea(words).out;
    };
    EXPECT_EQ(ask({"--none-bound", "-1000"}), "(no answer)\n");
    EXPECT_NE(ask({"--none-bound", "1000"}), "(no answer)\n");
    EXPECT_TRUE(
        parse_json(ask({"--none-bound", "-1000", "--format", "jsonl"}), "a")["answer"].is_null());
}

// A BERT that was pretrained for something else gets a head for spans.
TEST(AnswerCli, StandsOnAnyEncoder) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(30, 1));
    for (const std::string model : {"bert", "transformer"}) {
        const Outcome t = fovea({"train", "--task", "answer", folder / "train.json", "--out",
                                 folder / model, "--model", model, "--layers", "1", "--d-model",
                                 "32", "--heads", "2", "--ffn", "32", "--steps", "4"});
        ASSERT_EQ(t.code, 0) << t.err;
        EXPECT_EQ(fovea({"eval", folder / model, folder / "train.json", "--limit", "8"}).code, 0);
    }
    EXPECT_EQ(read_json(folder / "bert/model/config.json")["architectures"][0],
              "BertForQuestionAnswering");
    const Outcome on = fovea({"train", "--task", "answer", folder / "train.json", "--out",
                              folder / "on", "--from", folder / "bert", "--steps", "2"});
    EXPECT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find("goes on from"), std::string::npos) << on.err;
}

TEST(AnswerCli, DataCheckLooksAtQuestions) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(6, 1, true));
    write_file_atomically(folder / "dev.json", squad(3, 2, true));
    const Outcome clean =
        fovea({"data", "check", folder / "train.json", folder / "dev.json", "--json"});
    ASSERT_EQ(clean.code, 0) << clean.err;
    const Json j = parse_json(clean.out, "check");
    EXPECT_TRUE(j["clean"].get<bool>());
    EXPECT_EQ(j["files"][0]["questions"], 24);
    EXPECT_EQ(j["files"][0]["contexts"], 6);
    EXPECT_EQ(j["files"][0]["answers"].get<int>() + j["files"][0]["unanswered"].get<int>(), 24);
    EXPECT_EQ(j["leaks"][0]["contexts"], 0);
    const Outcome same = fovea({"data", "check", folder / "train.json", folder / "train.json"});
    EXPECT_EQ(same.code, 3);
    EXPECT_NE(same.out.find("held-out in train: 6 contexts, 24 questions"), std::string::npos)
        << same.out;
    std::string text = squad(2, 1);
    text.replace(text.find("\"answer_start\":1"), 16, "\"answer_start\":2");
    write_file_atomically(folder / "bad.json", text);
    const Outcome bad = fovea({"data", "check", folder / "bad.json"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.out.find("BAD QUESTIONS: 1"), std::string::npos) << bad.out;
    EXPECT_NE(bad.out.find("does not stand at 2"), std::string::npos) << bad.out;
}

TEST(AnswerCli, BadInputIsOneClearError) {
    const TestFolder folder;
    write_file_atomically(folder / "train.json", squad(12, 1));
    ASSERT_EQ(fovea(reader_words(folder / "train.json", folder / "run",
                                 {"--steps", "1", "--dev", "none"}))
                  .code,
              0);
    write_file_atomically(folder / "towns.txt", towns);
    const auto file = [&](const std::string& name, const std::string& text) {
        write_file_atomically(folder / name, text);
        return folder / name;
    };
    const auto changed = [&](const std::string& name, const std::string& from,
                             const std::string& to) {
        std::string text = squad(2, 1);
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return file(name, text.replace(at, from.size(), to));
    };
    const std::string run = folder / "run", context = folder / "towns.txt";
    using Words = std::vector<std::string>;
    const auto train = [&](const std::string& data, Words more = {}) {
        return reader_words(data, folder / "new", std::move(more));
    };
    const struct {
        Words words;
        int code;
        const char* says;
        std::string input = {};
    } cases[] = {
        {train(changed("a.json", "\"answer_start\":", "\"answer_begin\":")), 3,
         "qas[0]: an answer has no \"text\" or no \"answer_start\""},
        {train(changed("b.json", "\"answer_start\":1", "\"answer_start\":2")), 3,
         "does not stand at"},
        {train(changed("c.json", "\"question\":", "\"query\":")), 3, "has no text \"question\""},
        {train(changed("d.json", "\"context\":", "\"text\":")), 3,
         "data[0].paragraphs[0]: has no text \"context\""},
        {train(changed("e.json", "\"qas\":", "\"questions\":")), 3, "has no list \"qas\""},
        {train(changed("f.json", "\"paragraphs\":", "\"parts\":")), 3,
         "has no list \"paragraphs\""},
        {train(changed("g.json", "\"0-1\"", "\"0-0\"")), 3, "the id \"0-0\" stands twice"},
        {train(file("h.json", "{\"data\": [")), 3, "not valid JSON"},
        {train(file("i.json", "")), 3, "is empty"},
        {train(file("j.json", "{\"data\": []}")), 3, "holds no question"},
        {train(folder / "none.json"), 4, "none.json"},
        {train(file("k.jsonl",
                    "{\"question\": \"Who?\", \"context\": \"Anna\", \"answers\": "
                    "{\"text\": [\"Eva\"], \"answer_start\": [0]}}\n")),
         3, "line 1: the answer \"Eva\" is not in its context"},
        {train(folder / "train.json", {"--dev", file("l.json", squad(3, 1, true))}), 3,
         "has no answer, but in training every question has one"},
        {{"train", "--task", "answer", folder / "train.json", "--out", folder / "new", "--heads",
          "5"},
         2,
         "do not split into 5 heads"},
        {train(folder / "train.json", {"--max-length", "9"}), 2, "leaves no room"},
        {train(folder / "train.json", {"--model", "elmo"}), 2, "elmo"},
        {{"train", "--task", "answer", folder / "train.json", "--out", folder / "new", "--from",
          run, "--d-model", "64"},
         2,
         "has no effect"},
        {{"eval", run, file("m.json", "{\"data\": 3}")}, 3, "has no list \"data\""},
        {{"eval", run, folder / "none.json"}, 4, "none.json"},
        {{"answer", run, "--question", "Who?"}, 2, "has no context"},
        {{"answer", run, "--question", " ", "--context", context}, 3, "is empty"},
        {{"answer", run, "--question", "Who?", "--context", folder / "none.txt"}, 4, "none.txt"},
        {{"answer", run, "--context", context, "--top", "0"}, 2, "--top"},
        {{"answer", run, "--ask", file("n.tsv", "genre\tWhat?\nartist\n")},
         3,
         "n.tsv:2: has no slot or no question",
         "play jazz\n"},
        {{"answer", run, "--ask", file("o.tsv", "\n")}, 3, "holds no question", "play jazz\n"},
        {{"answer", run, "--ask", file("p.tsv", "a\tb\n"), "--context", context},
         2,
         "do not go together",
         "play jazz\n"},
        {{"answer", run, "--context", context},
         3,
         "the question of input 2 is empty",
         "Where?\n\n"},
        {{"answer", folder / "train.json", "--question", "Who?", "--context", context},
         2,
         "train.json"},
        {{"answer", run, "--ensemble", run, "--question", "Who?", "--context", context},
         2,
         "no ensembles"},
    };
    for (const auto& c : cases) {
        const Outcome o = fovea(c.words, {.input = c.input});
        SCOPED_TRACE(o.err);
        EXPECT_EQ(o.code, c.code) << c.says;
        EXPECT_NE(o.err.find(c.says), std::string::npos) << c.says;
        std::filesystem::remove_all(folder / "new");
    }
}

}  // namespace
}  // namespace fovea::test
