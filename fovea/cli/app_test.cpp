#include "fovea/cli/app.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/cli/completion.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/suggest.h"

namespace fovea {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

void each_verb(const CLI::App& app, const std::function<void(const CLI::App&)>& visit) {
    for (const CLI::App* sub : verbs_of(app)) {
        if (sub->get_group() == hidden_group) continue;
        visit(*sub);
        each_verb(*sub, visit);
    }
}

TEST(Suggest, CountsEdits) {
    EXPECT_EQ(edit_distance("", "abc"), 3);
    EXPECT_EQ(edit_distance("train", "train"), 0);
    EXPECT_EQ(edit_distance("trian", "train"), 1);  // a swap is one edit
    EXPECT_EQ(edit_distance("batchsize", "batch-size"), 1);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Suggest, FindsTheNearWordOnly) {
    const std::vector<std::string> verbs{"demo", "doctor", "bench", "train"};
    EXPECT_EQ(nearest_word("trian", verbs), "train");
    EXPECT_EQ(nearest_word("doc", verbs), "doctor");
    EXPECT_EQ(nearest_word("xyzzy", verbs), "");
    EXPECT_EQ(nearest_word(std::string(100000, 'a'), verbs), "");
}

TEST(Help, EveryVerbHasASentenceAndExamplesOfItsOwn) {
    const auto app = make_app();
    each_verb(*app, [](const CLI::App& verb) {
        const std::string name = full_name(verb);
        EXPECT_FALSE(verb.get_description().empty()) << name;
        const auto examples = examples_of(verb);
        EXPECT_GE(examples.size(), 3u) << name << " wants three examples";
        for (const std::string& example : examples)
            EXPECT_NE(example.find("fovea "), std::string::npos) << name << ": " << example;
    });
}

TEST(Help, ShortListHasAtMostTwelveVerbs) {
    const auto app = make_app();
    int common = 0;
    for (const CLI::App* verb : verbs_of(*app))
        if (verb->get_group() != hidden_group && verb->get_group() != more_group) ++common;
    EXPECT_LE(common, 12);
}

TEST(Help, CommonFlagsAreAtMostTwelve) {
    const auto app = make_app();
    each_verb(*app, [](const CLI::App& verb) {
        int common = 0;
        for (const CLI::Option* option : verb.get_options())
            if (!option->get_positional() && option->get_group() == "Options" &&
                !option->check_lname("help") && !option->check_lname("help-all"))
                ++common;
        EXPECT_LE(common, 12) << full_name(verb) << ": move some to the group More";
    });
}

TEST(Help, FitsItsWidth) {
    const auto app = make_app();
    for (const int width : {60, 80, 110}) {
        std::istringstream in(help_text(*app, true, width));
        for (std::string line; std::getline(in, line);)
            EXPECT_LE(static_cast<int>(line.size()), width) << line;
    }
}

TEST(Completion, OffersVerbsFlagsAndValues) {
    const auto app = make_app();
    EXPECT_EQ(completions(*app, {"compl"}), std::vector<std::string>{"completion"});
    EXPECT_EQ(completions(*app, {"completion", ""}),
              (std::vector<std::string>{"bash", "fish", "zsh"}));
    EXPECT_EQ(completions(*app, {"completion", "--thr"}), std::vector<std::string>{"--threads"});
    EXPECT_EQ(completions(*app, {"completion", "--color", "a"}),
              (std::vector<std::string>{"always", "auto"}));
    EXPECT_TRUE(completions(*app, {"completion", "--threads", ""}).empty());
    for (const std::string& word : completions(*app, {""})) EXPECT_NE(word[0], '_');
}

TEST(Options, JsonIsSeenBeforeParsing) {
    const auto asks = [](std::vector<const char*> words) {
        words.insert(words.begin(), "fovea");
        return wants_json(static_cast<int>(words.size()), words.data());
    };
    EXPECT_TRUE(asks({"bench", "--json"}));
    EXPECT_TRUE(asks({"--format", "jsonl"}));
    EXPECT_TRUE(asks({"--format=json"}));
    EXPECT_FALSE(asks({"--format", "text"}));
    EXPECT_FALSE(asks({"--", "--json"}));
    EXPECT_FALSE(asks({}));
}

}  // namespace
}  // namespace fovea
