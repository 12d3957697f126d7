#include "fovea/base/json.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string refusal(std::string_view text) {
    try {
        parse_json(text, "f.json");
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        return e.what();
    }
    return "";
}

TEST(Json, WhatIsNotStrictJsonIsRefused) {
    EXPECT_EQ(refusal(R"({"a":[1,"x",null]})"), "");
    EXPECT_NE(refusal(R"({"a":1,"a":2})").find("stands twice"), std::string::npos);
    EXPECT_NE(refusal(R"({"a":1} x)"), "");
    EXPECT_NE(refusal("{"), "");
    EXPECT_NE(refusal(""), "");
    EXPECT_NE(refusal("\"\xff\""), "");
    EXPECT_NE(refusal(std::string(100, '[')).find("nested deeper"), std::string::npos);
    // the parser beneath takes a NUL for the end of the text
    EXPECT_EQ(refusal(std::string_view("{}\0 anything", 12)),
              "f.json: not valid JSON: it holds a NUL");
    EXPECT_NE(refusal(std::string_view("\"a\0b\"", 5)), "");
}

}  // namespace
}  // namespace fovea
