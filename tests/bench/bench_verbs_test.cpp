// The benches of whole models as a script sees them: rows of JSON with the promised fields.
#include <gtest/gtest.h>

#include <set>

#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

Json rows_of(std::vector<std::string> words) {
    words.push_back("--json");
    const Outcome o = fovea(words);
    EXPECT_EQ(o.code, 0) << o.err;
    return parse_json(o.out, "bench");
}

void expect_fields(const Json& row, const std::string& bench, const std::string& unit) {
    EXPECT_EQ(row.at("bench"), bench);
    EXPECT_EQ(row.at("unit"), unit);
    EXPECT_EQ(row.at("better"), "higher");
    EXPECT_EQ(row.at("threads"), 1);
    EXPECT_GT(row.at("value").get<double>(), 0) << row;
    EXPECT_TRUE(row.at("case").is_string());
}

const std::vector<std::string> tiny = {"--quick", "--seconds",      "0.1", "--threads",
                                       "1",       "--batch-tokens", "128", "--vocab-size",
                                       "100"};

std::vector<std::string> with_tiny(std::vector<std::string> words) {
    words.insert(words.end(), tiny.begin(), tiny.end());
    return words;
}

TEST(BenchAttention, GivesARowAMechanismAndDrawsThem) {
    const Json rows =
        rows_of({"bench", "attention", "--quick", "--threads", "1", "--only", "1024"});
    std::set<std::string> cases;
    for (const Json& row : rows) {
        EXPECT_EQ(row.at("unit"), "ms");
        EXPECT_GT(row.at("value").get<double>(), 0) << row;
        cases.insert(row.at("case").get<std::string>());
    }
    for (const char* name :
         {"global fwd 1024", "window:128 fwd+bwd 1024", "expanded:128,4 fwd 1024",
          "hybrid:128 fwd+bwd 1024", "gru fwd 1024", "bag fwd+bwd 1024"})
        EXPECT_TRUE(cases.contains(name)) << name;
    const Outcome one =
        fovea({"bench", "attention", "--quick", "--only", "bag fwd 1024", "--svg", "/dev/null"});
    EXPECT_EQ(one.code, 2) << one.err;  // one length is no line
}

TEST(BenchRnn, GivesARowACellAndKindOfWork) {
    const Json rows = rows_of({"bench", "rnn", "--quick", "--no-peer", "--threads", "1",
                               "--seconds", "0.05", "--only", "gru"});
    std::set<std::string> cases;
    for (const Json& row : rows) {
        expect_fields(row, "rnn", "rows/s");
        cases.insert(row.at("case").get<std::string>());
    }
    EXPECT_EQ(cases, (std::set<std::string>{"gru 1x256 train", "gru 1x256 step 1",
                                            "gru 1x256 step 8", "gru 1x256 step 64"}));
}

TEST(BenchTrain, GivesARowAPrecision) {
    const Json rows = rows_of(with_tiny({"bench", "train", "--preset", "tiny", "--no-peer"}));
    ASSERT_EQ(rows.size(), 2u) << rows;
    for (const Json& row : rows) {
        expect_fields(row, "train", "tokens/s");
        EXPECT_EQ(row.at("case"), "tiny 128 tokens");
        EXPECT_GT(row.at("share").get<double>(), 0);
        EXPECT_FALSE(row.contains("peer"));
        EXPECT_FALSE(row.contains("ratio"));
    }
    EXPECT_EQ(rows[0].at("precision"), "f32");
    EXPECT_EQ(rows[1].at("precision"), "bf16");
}

TEST(BenchTrain, MeasuresOnlyWhatIsAskedFor) {
    const Json rows = rows_of(
        with_tiny({"bench", "train", "--preset", "tiny", "--no-peer", "--only", "tokens f32"}));
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].at("precision"), "f32");
}

TEST(BenchTrain, SaysSoWhereThereIsNoPeer) {
    const Outcome o = fovea(with_tiny({"bench", "train", "--preset", "tiny", "--precision", "f32",
                                       "--python", "/no/such/python", "--json"}));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("no PyTorch"), std::string::npos) << o.err;
    const Json rows = parse_json(o.out, "bench");
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_FALSE(rows[0].contains("ratio"));
}

TEST(BenchTrain, KnowsItsOwnMemory) {
    const Outcome o = fovea({"bench", "training-memory", "--preset", "tiny", "--batch-tokens", "64",
                             "--vocab-size", "100", "--updates", "1"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_GT(std::stod(o.out), 1e6);
    EXPECT_LT(std::stod(o.out), 1e9);
}

TEST(BenchScaling, HasLengthsAndLayers) {
    const Json rows = rows_of({"bench", "scaling", "--no-peer", "--quick", "--seconds", "0.05",
                               "--threads", "1", "--batch-tokens", "64", "--vocab-size", "100"});
    std::set<std::string> names;
    for (const Json& row : rows) {
        expect_fields(row, "scaling", "tokens/s");
        names.insert(row.at("case").get<std::string>());
    }
    EXPECT_EQ(names, (std::set<std::string>{"length 32", "length 64", "layers 1+1", "layers 2+2",
                                            "layers 4+4", "layers 6+6", "layers 8+8"}));
}

TEST(BenchTranslate, GivesARowABeamAndPrecision) {
    const Json rows = rows_of({"bench", "translate", "--no-peer", "--quick", "--seconds", "0.1",
                               "--preset", "tiny", "--vocab-size", "300", "--length", "4",
                               "--batch", "4", "--threads", "1", "--starts", "2"});
    ASSERT_EQ(rows.size(), 7u) << rows;
    std::set<std::string> names;
    for (std::size_t i = 0; i < 6; ++i) {
        expect_fields(rows[i], "translate", "tokens/s");
        names.insert(rows[i].at("case").get<std::string>() + " " +
                     rows[i].at("precision").get<std::string>());
    }
    EXPECT_EQ(names.size(), 6u);
    EXPECT_TRUE(names.contains("tiny beam 4 int8"));
    EXPECT_EQ(rows[6].at("bench"), "start-up");
    EXPECT_EQ(rows[6].at("better"), "lower");
    EXPECT_GT(rows[6].at("value").get<double>(), 0);
}

TEST(BenchTranslate, SlowBesideCTranslate2) {
    const Outcome o = fovea({"bench", "translate", "--quick", "--seconds", "0.1", "--preset",
                             "tiny", "--vocab-size", "300", "--length", "4", "--batch", "4",
                             "--threads", "1", "--starts", "0", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    if (o.err.find("no CTranslate2") != std::string::npos) GTEST_SKIP() << o.err;
    const Json rows = parse_json(o.out, "bench");
    ASSERT_EQ(rows.size(), 6u);
    for (const Json& row : rows) {
        EXPECT_TRUE(row.at("peer").get<std::string>().starts_with("CTranslate2")) << row;
        EXPECT_GT(row.at("ratio").get<double>(), 0) << row;
        // Greedy or not, f32 on both sides finds the same translation.
        EXPECT_EQ(row.value("note", "").find("differ"), std::string::npos) << row;
    }
}

// With the peers, where they are installed.
TEST(BenchTrain, SlowBesidePyTorch) {
    const Outcome o = fovea(with_tiny({"bench", "train", "--preset", "tiny", "--json"}));
    ASSERT_EQ(o.code, 0) << o.err;
    if (o.err.find("no PyTorch") != std::string::npos) GTEST_SKIP() << o.err;
    for (const Json& row : parse_json(o.out, "bench")) {
        EXPECT_TRUE(row.at("peer").get<std::string>().starts_with("PyTorch")) << row;
        EXPECT_GT(row.at("peer_value").get<double>(), 0) << row;
        EXPECT_GT(row.at("ratio").get<double>(), 0) << row;
        // From the same weights on the same batches the losses are the same but for dropout.
        EXPECT_EQ(row.value("note", "").find("losses differ"), std::string::npos) << row;
    }
}

}  // namespace
}  // namespace fovea::test
