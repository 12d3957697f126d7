#include "fovea/base/settings.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Fields {
    bool fast = false;
    int heads = 8;
    std::int64_t tokens = 4096;
    float dropout = 0.1f;
    double rate = 3e-4;
    std::string pool = "mean";
    std::optional<double> lr;
    std::vector<std::string> files;
    Settings s;

    Fields() {
        s.add("fast", fast, "quickly");
        s.add("heads", heads, "heads", {.min = 1, .max = 64});
        s.add("max-tokens", tokens, "tokens", {.min = 1});
        s.add("dropout", dropout, "share", {.min = 0, .max = 1, .below_max = true});
        s.add("rate", rate, "rate");
        s.add("pool", pool, "pooling", {.choices = {"first", "mean"}});
        s.add("lr", lr, "highest rate", {.min = 0, .otherwise = "by the preset"});
        s.add("file", files, "again for more");
    }
    std::string refusal(const std::string& name, const std::string& value) {
        try {
            s.set(name, value);
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            return e.what();
        }
        return "accepted";
    }
};

TEST(Settings, WriteThroughToTheFields) {
    Fields f;
    f.s.set("fast", "true");
    f.s.set("max_tokens", "12");  // as JSON spells it
    f.s.set("dropout", "0.25");
    f.s.set("lr", "1e-3");
    f.s.set("file", "a");
    f.s.set("file", "b");
    EXPECT_TRUE(f.fast);
    EXPECT_EQ(f.tokens, 12);
    EXPECT_EQ(f.dropout, 0.25f);
    EXPECT_EQ(f.lr, 1e-3);
    EXPECT_EQ(f.files, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(f.s.given("lr"));
    EXPECT_FALSE(f.s.given("heads"));
}

TEST(Settings, ShowNumbersAsPeopleWriteThem) {
    Fields f;
    EXPECT_EQ(f.s.find("dropout")->text(), "0.1");
    EXPECT_EQ(f.s.find("rate")->text(), "0.0003");
    EXPECT_EQ(f.s.find("lr")->text(), "");
    EXPECT_EQ(f.s.find("lr")->default_text(), "by the preset");
}

TEST(Settings, RefuseWhatCannotBe) {
    Fields f;
    EXPECT_EQ(f.refusal("heads", "0"), "--heads is `0`, but it may be from 1 to 64");
    EXPECT_EQ(f.refusal("heads", "3.5"), "--heads is `3.5`, but a whole number is wanted");
    EXPECT_EQ(f.refusal("max-tokens", "-5"), "--max-tokens is `-5`, but it may be at least 1");
    EXPECT_EQ(f.refusal("dropout", "1"), "--dropout is `1`, but it may be from 0 to below 1");
    EXPECT_EQ(f.refusal("lr", "nan"), "--lr is `nan`, but a finite number is wanted");
    EXPECT_EQ(f.refusal("rate", "inf"), "--rate is `inf`, but a finite number is wanted");
    EXPECT_EQ(f.refusal("rate", "fast"), "--rate is `fast`, but a number is wanted");
    EXPECT_EQ(f.refusal("pool", "max"), "--pool is `max`, but it may be one of first, mean");
    EXPECT_EQ(f.refusal("fast", "perhaps"), "--fast is `perhaps`, but true or false is wanted");
    EXPECT_EQ(f.refusal("speed", "1"), "there is no setting `speed`");
    EXPECT_EQ(f.heads, 8);  // untouched
}

TEST(Settings, TakeAJsonRequest) {
    Fields f;
    f.s.set_all(
        parse_json(R"({"heads": 4, "fast": true, "pool": "first", "file": ["a", "b"]})", "r"),
        "request");
    EXPECT_EQ(f.heads, 4);
    EXPECT_TRUE(f.fast);
    EXPECT_EQ(f.pool, "first");
    EXPECT_EQ(f.files.size(), 2u);
    EXPECT_THROW(f.s.set_all(parse_json("[1]", "r"), "request"), Error);
}

}  // namespace
}  // namespace fovea
