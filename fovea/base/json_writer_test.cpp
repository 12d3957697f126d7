#include "fovea/base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

void write_all(JsonWriter& w) {
    w.open('{');
    w.key("text").value("a\"b\\c");
    w.key("numbers").open('[');
    w.value(-1);
    w.value(std::uint64_t{18446744073709551615u});
    w.value(-0.0);
    w.value(1e-7);
    w.close(']');
    w.key("none").null();
    w.key("empty").open('[');
    w.close(']');
    w.key("yes").value(true);
    w.close('}');
}

TEST(JsonWriter, WritesOneLine) {
    JsonWriter w;
    write_all(w);
    EXPECT_EQ(w.text(), R"({"text":"a\"b\\c","numbers":[-1,18446744073709551615,-0.0,1e-07],)"
                        R"("none":null,"empty":[],"yes":true})");
}

TEST(JsonWriter, WritesIndented) {
    JsonWriter w(JsonWriter::Style::indented);
    write_all(w);
    EXPECT_EQ(w.take(), R"({
  "text": "a\"b\\c",
  "numbers": [
    -1,
    18446744073709551615,
    -0.0,
    1e-07
  ],
  "none": null,
  "empty": [],
  "yes": true
})");
}

// As nlohmann's writer does, character by character.
TEST(JsonWriter, EscapesEveryByteAsJsonAsks) {
    for (int c = 0; c < 128; ++c) {
        const std::string s = "x" + std::string(1, static_cast<char>(c)) + "é";
        JsonWriter w;
        w.value(s);
        EXPECT_EQ(w.text(), to_text(Json(s))) << c;
        EXPECT_EQ(parse_json(w.text(), "w").get<std::string>(), s) << c;
    }
}

TEST(JsonWriter, RepairsBrokenUtf8AndRefusesWhatJsonHasNot) {
    JsonWriter w;
    w.value("caf\xE9!");
    EXPECT_EQ(w.text(), "\"caf\uFFFD!\"");
    EXPECT_THROW(w.value(std::numeric_limits<double>::infinity()), Error);
}

}  // namespace
}  // namespace fovea
