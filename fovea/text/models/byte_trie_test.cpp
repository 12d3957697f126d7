#include "fovea/text/models/byte_trie.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fovea/base/rng.h"

namespace fovea::text {
namespace {

std::int32_t find(const ByteTrie& t, std::string_view key) {
    ByteTrie::Base at = t.root();
    std::int32_t value = ByteTrie::no_value;
    for (const char c : key)
        if (!t.step(at, static_cast<unsigned char>(c), value)) return -2;
    return value;
}

TEST(ByteTrie, EmptyOneHasNothing) {
    const ByteTrie a, b(std::vector<std::pair<std::string_view, std::int32_t>>{});
    EXPECT_EQ(find(a, "x"), -2);
    EXPECT_EQ(find(b, "x"), -2);
}

TEST(ByteTrie, FindsKeysAndPrefixes) {
    using namespace std::string_view_literals;
    const ByteTrie t(
        {{"a"sv, 0}, {"abc"sv, 1}, {"\0"sv, 2}, {"\xFF\xFE"sv, 3}, {""sv, 9}, {"a"sv, 5}});
    EXPECT_EQ(find(t, "a"), 5);  // the last of equal keys
    EXPECT_EQ(find(t, "ab"), -1);
    EXPECT_EQ(find(t, "abc"), 1);
    EXPECT_EQ(find(t, "abcd"), -2);
    EXPECT_EQ(find(t, "\0"sv), 2);
    EXPECT_EQ(find(t, "\xFF\xFE"), 3);
}

TEST(ByteTrie, AgreesWithAMap) {
    Rng rng(3);
    std::map<std::string, std::int32_t> map;
    const auto word = [&](std::int64_t letters) {
        std::string s;
        for (std::int64_t i = 1 + rng.below(7); i > 0; --i)
            s += static_cast<char>(rng.below(letters));
        return s;
    };
    for (int i = 0; i < 30000; ++i) map[word(i % 2 ? 6 : 256)] = i;
    std::vector<std::pair<std::string_view, std::int32_t>> keys(map.begin(), map.end());
    const ByteTrie t(std::move(keys));
    for (const auto& [key, value] : map) ASSERT_EQ(find(t, key), value);
    for (int i = 0; i < 30000; ++i) {
        const std::string w = word(i % 2 ? 7 : 256);
        const auto at = map.find(w);
        if (at == map.end()) {
            const auto next = map.lower_bound(w);
            const bool prefix = next != map.end() && next->first.starts_with(w);
            ASSERT_EQ(find(t, w), prefix ? -1 : -2);
        } else {
            ASSERT_EQ(find(t, w), at->second);
        }
    }
}

}  // namespace
}  // namespace fovea::text
