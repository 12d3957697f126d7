#include "fovea/data/made_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<std::string> words_in(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string w; in >> w;) words.push_back(w);
    return words;
}

TEST(MadePairs, TargetsFollowTheRule) {
    for (const std::string& kind : made_pair_kinds()) {
        std::set<std::size_t> lengths;
        for (const TextPair& p :
             made_pairs({.kind = kind, .count = 300, .shortest = 2, .longest = 6})) {
            auto source = words_in(p.source);
            const auto target = words_in(p.target);
            if (kind == "recall") {
                const std::string asked = source.back();
                source.resize(source.size() - 2);
                std::map<std::string, std::string> values;
                for (std::size_t i = 0; i < source.size(); i += 2)
                    EXPECT_TRUE(values.emplace(source[i], source[i + 1]).second);
                EXPECT_EQ(target, std::vector<std::string>{values.at(asked)});
                lengths.insert(source.size() / 2);
                continue;
            }
            if (kind == "names") {
                ASSERT_EQ(source.size(), target.size());
                for (std::size_t i = 0; i < source.size(); ++i)
                    EXPECT_EQ(source[i] == target[i], i % 2 == 1) << p.source;
                lengths.insert(source.size() / 2);
                continue;
            }
            lengths.insert(source.size());
            if (kind == "reversal") std::reverse(source.begin(), source.end());
            if (kind == "sorting") {
                std::sort(source.begin(), source.end(),
                          [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
                EXPECT_EQ(std::adjacent_find(source.begin(), source.end()), source.end());
            }
            EXPECT_EQ(source, target) << kind;
        }
        EXPECT_EQ(lengths, (std::set<std::size_t>{2, 3, 4, 5, 6})) << kind;
    }
}

TEST(MadePairs, TagsAreTheTargetsWords) {
    TextPair pair;
    pair.source = "d b a";
    pair.target = "a b d";
    EXPECT_EQ(tagged_lines(pair), "d\ta\nb\tb\na\td\n\n");
    EXPECT_THROW(tagged_lines(made_pairs({.kind = "recall", .count = 1})[0]), Error);
}

TEST(MadePairs, APairDependsOnItsNumberAlone) {
    const auto few = made_pairs({.kind = "reversal", .count = 5});
    const auto many = made_pairs({.kind = "reversal", .count = 50});
    for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].source, many[i].source);
    EXPECT_NE(made_pairs({.kind = "reversal", .count = 1, .seed = 2})[0].source, few[0].source);
}

TEST(MadePairs, WrongWishes) {
    EXPECT_THROW(made_pairs({.kind = "dreams"}), Error);
    EXPECT_THROW(made_pairs({.kind = "sorting", .longest = 101}), Error);
    EXPECT_THROW(made_pairs({.kind = "copy", .shortest = 0}), Error);
    EXPECT_THROW(made_pairs({.kind = "copy", .shortest = 9, .longest = 8}), Error);
}

}  // namespace
}  // namespace fovea
