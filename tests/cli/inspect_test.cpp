// `fovea inspect` through the real binary, over a tiny translator and a tiny classifier.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Both models, trained for two updates once for all tests.
class InspectCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TestFolder;
        std::string pairs, labelled = "text\tlabel\n";
        const char* const words[] = {"ba", "ke", "mi", "lu"};
        for (int i = 0; i < 40; ++i) {
            const std::string a = words[i % 4], b = words[i / 4 % 4];
            pairs += a + " " + b + "\t" + b + " " + a + "\n";
            labelled += a + " " + b + "\t" + (i % 3 ? "with" : "without") + "\n";
        }
        write_file_atomically(path("pairs.tsv"), pairs);
        write_file_atomically(path("labelled.tsv"), labelled);
        train("translate", path("pairs.tsv"), {"--max-length", "8"});
        train("classify", path("labelled.tsv"), {"--pool", "attention"});
    }
    static void TearDownTestSuite() {
        delete folder_;
        folder_ = nullptr;
    }

    static std::string path(const std::string& name) { return *folder_ / name; }

    static void train(const std::string& task, const std::string& data,
                      const std::vector<std::string>& more) {
        std::vector<std::string> command = {
            "train",     "--task", task,    data,   "--out",   path(task), "--preset", "tiny",
            "--d-model", "16",     "--ffn", "24",   "--heads", "2",        "--vocab",  "words",
            "--steps",   "2",      "--dev", "none", "--seed",  "3"};
        const std::vector<std::string> layers =
            task == "translate"
                ? std::vector<std::string>{"--encoder-layers", "2", "--decoder-layers", "1"}
                : std::vector<std::string>{"--layers", "2"};
        command.insert(command.end(), layers.begin(), layers.end());
        command.insert(command.end(), more.begin(), more.end());
        const Outcome o = fovea(command);
        ASSERT_EQ(o.code, 0) << o.err;
    }

    static Outcome inspect(const std::string& model, std::vector<std::string> more) {
        more.insert(more.begin(), {"inspect", path(model)});
        return fovea(more);
    }
    static Json inspect_json(const std::string& model, std::vector<std::string> more) {
        more.push_back("--json");
        const Outcome o = inspect(model, more);
        EXPECT_EQ(o.code, 0) << o.err;
        return o.code == 0 ? parse_json(o.out, "inspect") : Json();
    }

    static void expect_refused(const std::string& model, const std::vector<std::string>& more,
                               const std::string& says) {
        const Outcome o = inspect(model, more);
        EXPECT_EQ(o.code, 2) << says << "\n" << o.out << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << says << "\n" << o.err;
        EXPECT_EQ(o.out, "");
    }

    static TestFolder* folder_;
};
TestFolder* InspectCli::folder_ = nullptr;

// Weights sum to 1, scores are null exactly where the row may not look, softmax(scores) = weights.
void expect_softmax(const Json& map, bool causal) {
    ASSERT_EQ(map["weights"].size(), map["heads"].size());
    ASSERT_EQ(map["scores"].size(), map["heads"].size());
    for (std::size_t h = 0; h < map["weights"].size(); ++h)
        for (std::size_t q = 0; q < map["weights"][h].size(); ++q) {
            const Json &w = map["weights"][h][q], &s = map["scores"][h][q];
            ASSERT_EQ(w.size(), s.size());
            double sum = 0, exps = 0;
            for (std::size_t k = 0; k < s.size(); ++k) {
                EXPECT_EQ(s[k].is_null(), causal && k > q) << map["name"] << q << "," << k;
                sum += w[k].get<double>();
                if (!s[k].is_null()) exps += std::exp(s[k].get<double>());
            }
            EXPECT_NEAR(sum, 1, 1e-5);
            for (std::size_t k = 0; k < s.size(); ++k)
                EXPECT_NEAR(w[k].get<double>(),
                            s[k].is_null() ? 0 : std::exp(s[k].get<double>()) / exps, 1e-5);
        }
}

TEST_F(InspectCli, JsonHoldsWeightsAndScoresOfATranslator) {
    const Json j = inspect_json("translate", {"--text", "ba ke mi", "--target", "mi ke ba"});
    EXPECT_EQ(j["schema"], "fovea.attention");
    EXPECT_EQ(j["target"], "mi ke ba");
    ASSERT_EQ(j["maps"].size(), 4u);
    const char* const names[] = {
        "model.encoder.layers.0.self_attn", "model.encoder.layers.1.self_attn",
        "model.decoder.layers.0.self_attn", "model.decoder.layers.0.encoder_attn"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(j["maps"][i]["name"], names[i]);
        EXPECT_EQ(j["maps"][i]["heads"], (Json{1, 2}));
        EXPECT_EQ(j["maps"][i]["weights"][0].size(),
                  j["sides"][j["maps"][i]["queries"].get<std::string>()].size());
        expect_softmax(j["maps"][i], i == 2);
    }
    EXPECT_EQ(j["maps"][3]["queries"], "target");
    EXPECT_EQ(j["maps"][3]["keys"], "source");
    // One head of one map is what it is among all.
    const Json one = inspect_json("translate", {"--text", "ba ke mi", "--target", "mi ke ba",
                                                "--map", "encoder_attn", "--head", "2"});
    ASSERT_EQ(one["maps"].size(), 1u);
    EXPECT_EQ(one["maps"][0]["heads"], (Json{2}));
    EXPECT_EQ(one["maps"][0]["weights"][0], j["maps"][3]["weights"][1]);
    EXPECT_EQ(one["maps"][0]["scores"][0], j["maps"][3]["scores"][1]);
    // The model's own output is called so.
    const Json own = inspect_json("translate", {"--text", "ba ke mi"});
    EXPECT_TRUE(own.contains("output"));
    EXPECT_FALSE(own.contains("target"));
    EXPECT_EQ(own["maps"].size(), 4u);
    EXPECT_EQ(own["maps"][1]["weights"], j["maps"][1]["weights"]);
}

TEST_F(InspectCli, JsonHoldsWeightsAndScoresOfAClassifier) {
    const Json j = inspect_json("classify", {"--text", "ba ke mi"});
    ASSERT_EQ(j["maps"].size(), 3u);
    EXPECT_EQ(j["maps"][2]["name"], "pooling");
    EXPECT_TRUE(j["maps"][2]["layer"].is_null());
    for (const Json& map : j["maps"]) expect_softmax(map, false);
    EXPECT_TRUE(j["output"] == "with" || j["output"] == "without") << j["output"];
    for (const char* precision : {"bf16", "int8"})
        for (const Json& map :
             inspect_json("classify", {"--text", "ba ke", "--precision", precision})["maps"])
            expect_softmax(map, false);
}

TEST_F(InspectCli, TheTerminalShowsTheLastLayerUnlessAsked) {
    const Outcome last = inspect("translate", {"--text", "ba ke"});
    ASSERT_EQ(last.code, 0) << last.err;
    EXPECT_TRUE(last.out.starts_with("input   ba ke\noutput ")) << last.out;
    for (const char* title :
         {"encoder self-attention, layer 2 (mean of 2 heads)",
          "decoder cross-attention, layer 1 (mean of 2 heads)", "weights:", "▕"})
        EXPECT_NE(last.out.find(title), std::string::npos) << title << "\n" << last.out;
    EXPECT_EQ(last.out.find("encoder self-attention, layer 1"), std::string::npos);
    const Outcome all = inspect("translate", {"--text", "ba ke", "--map", "model.encoder",
                                              "--layer", "all", "--head", "all"});
    std::size_t pictures = 0;
    for (std::size_t at = 0; (at = all.out.find("(head ", at)) != std::string::npos; ++at)
        ++pictures;
    EXPECT_EQ(pictures, 4u) << all.out;
    const Outcome names = inspect("classify", {"--list"});
    ASSERT_EQ(names.code, 0) << names.err;
    EXPECT_NE(names.out.find("\nmodel.encoder.layers.1.self_attn "), std::string::npos)
        << names.out;
    EXPECT_NE(names.out.find("\npooling "), std::string::npos) << names.out;
    const Json list = inspect_json("translate", {"--list"});
    EXPECT_EQ(list["maps"].size(), 4u);
    EXPECT_FALSE(list["maps"][0].contains("weights"));
}

TEST_F(InspectCli, ThePageNeedsNothingElseAndSparesOtherFiles) {
    const std::string page = path("page.html");
    for (int twice = 0; twice < 2; ++twice) {  // over a page of its own
        const Outcome o = inspect("translate", {"--text", "ba </script> ke", "--html", page});
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(o.out, page + "\n");
    }
    const std::string html = read_file(page);
    for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("})
        EXPECT_EQ(html.find(outside), std::string::npos) << outside;
    EXPECT_NE(html.find("Content-Security-Policy\" content=\"default-src 'none'"),
              std::string::npos);
    const Json data = html_data(page);
    EXPECT_EQ(data["input"], "ba </script> ke");
    EXPECT_EQ(data["maps"].size(), 4u);
    // Every tag that is opened is closed.
    for (const char* tag : {"html", "head", "body", "style", "script", "header", "footer", "div"}) {
        const auto count = [&](const std::string& what) {
            std::size_t n = 0;
            for (std::size_t at = 0; (at = html.find(what, at)) != std::string::npos; ++at) {
                const char next = html[at + what.size()];
                n += next == '>' || next == ' ';
            }
            return n;
        };
        EXPECT_EQ(count(std::string("<") + tag), count(std::string("</") + tag)) << tag;
        EXPECT_GE(count(std::string("<") + tag), 1u) << tag;
    }
    write_file_atomically(path("mine.html"), "<p>my own page</p>");
    expect_refused("translate", {"--text", "ba", "--html", path("mine.html")}, "--force");
    EXPECT_EQ(read_file(path("mine.html")), "<p>my own page</p>");
    EXPECT_EQ(inspect("translate", {"--text", "ba", "--html", path("mine.html"), "--force"}).code,
              0);
    EXPECT_TRUE(read_file(path("mine.html")).starts_with("<!doctype html>"));
    expect_refused("translate", {"--text", "ba", "--html", path("")}, "is a folder");
}

// All maps of a picture stand side by side; what a mask hides is a dot, not a pale square.
TEST_F(InspectCli, APictureOfTheMaps) {
    const std::string file = path("maps.svg");
    const Outcome o =
        inspect("translate", {"--text", "ba </svg> ke", "--target", "ke ba", "--svg", file});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, file + "\n");
    const std::string svg = read_file(file);
    const auto count = [&](const std::string& what) {
        std::size_t n = 0;
        for (std::size_t at = 0; (at = svg.find(what, at)) != std::string::npos; ++at) ++n;
        return n;
    };
    const Json j = inspect_json("translate", {"--text", "ba </svg> ke", "--target", "ke ba",
                                              "--layer", "last", "--head", "mean"});
    std::size_t seen = 0, hidden = 0;
    for (const Json& map : j["maps"])
        for (const Json& query : map["weights"][0])
            for (const Json& weight : query) (weight.get<double>() > 0 ? seen : hidden) += 1;
    EXPECT_GT(hidden, 0u);  // of the decoder's own past
    EXPECT_EQ(count("<rect"), seen);
    EXPECT_EQ(count("<circle"), hidden);
    EXPECT_EQ(count("<svg"), j["maps"].size() + 1);
    EXPECT_EQ(count("<svg"), count("</svg>"));  // a token cannot end the picture
    expect_refused("translate", {"--text", "ba", "--svg", file}, "--force overwrites it");
    expect_refused("translate", {"--text", "ba", "--svg", file, "--html", path("p.html")},
                   "--svg and --html do not go together");
    expect_refused("translate", {"--svg", file}, "--svg has no effect without --text");
}

TEST_F(InspectCli, WithoutATextItDescribesTheModel) {
    const Outcome o = inspect("translate", {});
    ASSERT_EQ(o.code, 0) << o.err;
    for (const char* word : {"task             translate", "encoder 2, decoder 1", "memory",
                             "model.encoder.layers.*", "2 × ", "WordLevel"})
        EXPECT_NE(o.out.find(word), std::string::npos) << word << "\n" << o.out;
    const Json j = inspect_json("translate", {});
    EXPECT_EQ(j["schema"], "fovea.model_overview");
    EXPECT_EQ(j["architecture"]["width"], 16);
    std::int64_t sum = 0;
    for (const Json& b : j["blocks"]) sum += b["parameters"].get<std::int64_t>();
    EXPECT_EQ(sum, j["parameters"].get<std::int64_t>());
    EXPECT_EQ(j["memory"]["weights"], 4 * sum);
    EXPECT_LT(inspect_json("translate", {"--precision", "int8"})["memory"]["weights"],
              j["memory"]["weights"]);
    EXPECT_EQ(inspect_json("classify", {})["architecture"]["labels"], (Json{"with", "without"}));
}

TEST_F(InspectCli, WhatIsWrongIsSaidWithWhatThereIs) {
    expect_refused("translate", {"--text", "ba", "--layer", "7"}, "layers with a map: 1, 2");
    expect_refused("translate", {"--text", "ba", "--head", "3"}, "heads from 1 to 2");
    expect_refused("translate", {"--text", "ba", "--map", "crossed"},
                   "model.decoder.layers.0.encoder_attn");
    expect_refused("translate", {"--text", "ba", "--layer", "top"}, "a number from 1, last or all");
    expect_refused("translate", {"--text", " "}, "the text is empty");
    expect_refused("translate", {"--text", "ba", "--target", ""}, "the target is empty");
    expect_refused("classify", {"--text", "ba", "--target", "ke"}, "this model reads no target");
    expect_refused("classify", {"--head", "1"}, "--head has no effect without --text");
    expect_refused("classify", {"--text", "ba", "--force"}, "--force has no effect");
    EXPECT_EQ(fovea({"inspect", path("nowhere")}).code, 4);
}

}  // namespace
}  // namespace fovea::test
