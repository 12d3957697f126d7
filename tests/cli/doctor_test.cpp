#include <gtest/gtest.h>

#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

TEST(Doctor, TellsTheMachineAsMarkdown) {
    const Outcome o = fovea({"doctor", "--no-timing"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.err, "");
    for (const char* what : {"| CPU |", "| instruction sets |", "| cores |", "| memory |",
                             "| bf16 products |", "| libraries | fmt"})
        EXPECT_NE(o.out.find(what), std::string::npos) << what << "\n" << o.out;
}

TEST(Doctor, TellsTheSameAsJson) {
    const Outcome o = fovea({"doctor", "--no-timing", "--json", "--threads", "1"});
    EXPECT_EQ(o.code, 0) << o.err;
    const Json j = parse_json(o.out, "doctor");
    EXPECT_EQ(j.at("schema"), "fovea.doctor");
    EXPECT_EQ(j.at("threads"), 1);
    EXPECT_GT(j.at("memory").at("allowed").get<double>(), 1e8);
    EXPECT_GE(j.at("cores").at("allowed").get<int>(), 1);
    EXPECT_EQ(j.at("isa").at("found").at(0), "scalar");
}

TEST(Doctor, TimesMatrixProducts) {
    const Outcome o = fovea({"doctor", "--json"});
    const Json j = parse_json(o.out, "doctor");
    ASSERT_EQ(j.at("gemm").size(), 2u);
    for (const Json& g : j.at("gemm")) EXPECT_GT(g.at("gflops").get<double>(), 0.0);
}

TEST(Doctor, ObeysTheEnvironment) {
    const Json scalar = parse_json(
        fovea({"doctor", "--no-timing", "--json"}, {.env = {{"FOVEA_ISA", "scalar"}}}).out, "out");
    EXPECT_EQ(scalar.at("isa").at("used"), "scalar");
    const Json threads = parse_json(
        fovea({"doctor", "--no-timing", "--json"}, {.env = {{"FOVEA_THREADS", "3"}}}).out, "out");
    EXPECT_EQ(threads.at("threads"), 3);
    EXPECT_EQ(fovea({"doctor"}, {.env = {{"FOVEA_ISA", "mmx"}}}).code, 2);
}

}  // namespace
}  // namespace fovea::test
