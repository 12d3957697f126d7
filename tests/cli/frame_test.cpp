// The command line's manners, seen from outside: exit codes, errors, help, where words go.
#include <gtest/gtest.h>

#include "fovea/base/json.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Frame, HelpGoesToStandardOutput) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, {"help"}, {"--help"}, {"-h"}, {"help", "all"}}) {
        const Outcome o = fovea(words);
        EXPECT_EQ(o.code, 0);
        EXPECT_TRUE(has(o.out, "usage: fovea VERB")) << o.out;
        EXPECT_EQ(o.err, "");
    }
}

TEST(Frame, HelpOfAVerbIsTheSameThreeWays) {
    const Outcome flag = fovea({"completion", "--help"});
    const Outcome verb = fovea({"help", "completion"});
    EXPECT_EQ(flag.code, 0);
    EXPECT_EQ(flag.out, verb.out);
    EXPECT_TRUE(has(flag.out, "usage: fovea completion SHELL")) << flag.out;
    EXPECT_TRUE(has(flag.out, "examples:"));
    EXPECT_FALSE(has(flag.out, "--threads"));
    EXPECT_TRUE(has(fovea({"completion", "--help-all"}).out, "--threads"));
}

TEST(Frame, Version) {
    const Outcome o = fovea({"--version"});
    EXPECT_EQ(o.code, 0);
    EXPECT_EQ(o.out.substr(0, 6), "fovea ");
}

TEST(Frame, UnknownVerbIsSuggested) {
    const Outcome o = fovea({"complition"});
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err, "error: no verb `complition` for `fovea`\nhint: did you mean `completion`?\n");
    const Outcome far = fovea({"xyzzyx"});
    EXPECT_EQ(far.code, 2);
    EXPECT_TRUE(has(far.err, "hint: fovea help lists them"));
}

TEST(Frame, UnknownFlagIsSuggested) {
    const Outcome o = fovea({"completion", "bash", "--treads", "2"});
    EXPECT_EQ(o.code, 2);
    EXPECT_EQ(
        o.err,
        "error: no flag `--treads` for `fovea completion`\nhint: did you mean `--threads`?\n");
    EXPECT_EQ(fovea({"--nonsense"}).code, 2);
}

TEST(Frame, WrongValuesAreUsageErrors) {
    EXPECT_EQ(fovea({"completion"}).code, 2);
    EXPECT_EQ(fovea({"completion", "tcsh"}).code, 2);
    EXPECT_EQ(fovea({"help", "--threads", "many"}).code, 2);
    EXPECT_EQ(fovea({"help", "--threads", "-3"}).code, 2);
    EXPECT_EQ(fovea({"completion", "bash", "fish"}).code, 2);
    const Outcome o = fovea({"help", "--color", "alway"});
    EXPECT_TRUE(has(o.err, "did you mean `always`?")) << o.err;
    EXPECT_EQ(fovea({"help"}, {.env = {{"FOVEA_THREADS", "x"}}}).code, 2);
}

TEST(Frame, GlobalFlagsMayFollowTheVerb) {
    EXPECT_EQ(fovea({"completion", "bash", "--threads", "2", "-q"}).code, 0);
    EXPECT_EQ(fovea({"--threads", "2", "-q", "completion", "bash"}).code, 0);
}

TEST(Frame, ErrorsAreJsonWhenJsonIsWanted) {
    const Outcome o = fovea({"complition", "--json"});
    EXPECT_EQ(o.code, 2);
    const Json j = parse_json(o.err, "stderr");
    EXPECT_EQ(j.at("error").at("code"), "usage");
    EXPECT_TRUE(has(j.at("error").at("message").get<std::string>(), "complition"));
    EXPECT_TRUE(has(j.at("error").at("hint").get<std::string>(), "completion"));
}

TEST(Frame, ColourIsAskedFor) {
    EXPECT_FALSE(has(fovea({"xyzzyx"}).err, "\x1b"));
    EXPECT_TRUE(has(fovea({"xyzzyx"}, {.env = {{"CLICOLOR_FORCE", "1"}}}).err, "\x1b"));
    EXPECT_FALSE(
        has(fovea({"xyzzyx"}, {.env = {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}}).err, "\x1b"));
}

TEST(Frame, FullDiskIsAnError) {
    const Outcome o = run({"sh", "-c", std::string(FOVEA_BINARY) + " help > /dev/full"});
    EXPECT_EQ(o.code, 1);
    EXPECT_TRUE(has(o.err, "cannot write to standard output")) << o.err;
}

TEST(Frame, BashCompletionWorksInBash) {
    if (run({"bash", "-c", "true"}).code != 0) GTEST_SKIP() << "no bash here";
    const std::string script =
        "PATH=$(dirname " FOVEA_BINARY
        "):$PATH; source <(fovea completion bash);"
        "COMP_WORDS=(fovea compl); COMP_CWORD=1; _fovea; echo \"${COMPREPLY[@]}\";"
        "COMP_WORDS=(fovea completion ''); COMP_CWORD=2; _fovea;"
        "echo \"${COMPREPLY[@]}\"";
    const Outcome o = run({"bash", "-c", script});
    EXPECT_EQ(o.out, "completion\nbash fish zsh\n") << o.err;
}

TEST(Frame, MarkdownNamesEveryVerb) {
    const Outcome o = fovea({"help", "--markdown"});
    EXPECT_EQ(o.code, 0);
    EXPECT_TRUE(has(o.out, "## fovea completion")) << o.out;
    EXPECT_FALSE(has(o.out, "__complete"));
}

TEST(Frame, ManPageNamesEveryVerbInPlainAscii) {
    const Outcome o = fovea({"help", "--man"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(has(o.out, "\n.TH FOVEA 1 ")) << o.out.substr(0, 300);
    EXPECT_FALSE(has(o.out, "__complete"));
    for (const char c : o.out)
        ASSERT_LT(static_cast<unsigned char>(c), 0x80) << "groff wants names";
    // Each verb of the Markdown is there, and its flags with hyphens that can be copied.
    const std::string markdown = fovea({"help", "--markdown"}).out;
    int verbs = 0;
    for (std::size_t at = 0; (at = markdown.find("\n## ", at)) != std::string::npos; ++verbs) {
        at += 4;
        EXPECT_TRUE(
            has(o.out, "\n.SS " + markdown.substr(at, markdown.find('\n', at) - at) + "\n"));
    }
    EXPECT_GT(verbs, 10);
    EXPECT_TRUE(has(o.out, "\\fB\\-\\-markdown\\fR\n")) << "flags are bold";
    EXPECT_EQ(fovea({"help", "--man", "--markdown"}).code, 2);
}

}  // namespace
}  // namespace fovea::test
