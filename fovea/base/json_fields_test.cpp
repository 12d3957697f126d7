#include "fovea/base/json_fields.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

template <class Body>
std::string complaint(Body&& body) {
    try {
        body();
    } catch (const Error& e) {
        return e.what();
    }
    return "";
}

JsonFields fields(const std::string& json) {
    return JsonFields(parse_json(json, "config.json"), "config.json");
}

TEST(JsonFields, ReadsWhatIsThereAndKeepsDefaults) {
    auto f = fields(R"({"d_model":512,"dropout":0.1,"scale":true,"act":"relu","heads":null,
                        "sizes":[1,2],"eps":1,"more":{}})");
    int d = 1, heads = 8;
    float dropout = 0, eps = 0;
    bool scale = false;
    std::string act;
    std::vector<int> sizes;
    EXPECT_TRUE(f.read({"hidden_size", "d_model"}, d, {.min = 1}));
    EXPECT_TRUE(f.read("dropout", dropout, NumberRange{.min = 0, .max = 1}));
    EXPECT_TRUE(f.read("scale", scale));
    EXPECT_TRUE(f.read("act", act));
    EXPECT_FALSE(f.read("heads", heads));
    EXPECT_FALSE(f.read("absent", heads));
    EXPECT_TRUE(f.read("sizes", sizes));
    f.require("eps", eps);
    EXPECT_EQ(d, 512);
    EXPECT_FLOAT_EQ(dropout, 0.1f);
    EXPECT_TRUE(scale);
    EXPECT_EQ(act, "relu");
    EXPECT_EQ(heads, 8);
    EXPECT_EQ(sizes, (std::vector<int>{1, 2}));
    EXPECT_EQ(eps, 1);
    int choice = -1;
    EXPECT_TRUE(f.read_choice("act", {"gelu", "relu"}, choice));
    EXPECT_EQ(choice, 1);
}

template <class T>
std::string read_as(const std::string& value, NumberRange range) {
    return complaint([&] {
        T t{};
        fields("{\"x\":" + value + "}").read("x", t, range);
    });
}

TEST(JsonFields, WrongTypesAndRangesAreNamed) {
    EXPECT_EQ(read_as<int>("\"12\"", {}),
              "config.json: \"x\" is \"12\" but must be a whole number");
    EXPECT_EQ(read_as<int>("1.5", {}), "config.json: \"x\" is 1.5 but must be a whole number");
    EXPECT_EQ(read_as<int>("true", {}), "config.json: \"x\" is true but must be a whole number");
    EXPECT_EQ(read_as<int>("0", {.min = 1, .max = 9}),
              "config.json: \"x\" is 0 but must be from 1 to 9");
    EXPECT_NE(read_as<int>("3000000000", {}), "");
    EXPECT_NE(read_as<std::int64_t>("18446744073709551615", {}), "");
    EXPECT_NE(read_as<int>("1e308", {}), "");
    EXPECT_NE(read_as<float>("1e308", {}), "");
    EXPECT_NE(read_as<float>("\"nan\"", {}), "");
    EXPECT_NE(read_as<double>("0", {.min = 1e-12}), "");
    EXPECT_NE(read_as<std::vector<int>>("[1,\"a\"]", {}), "");
    EXPECT_NE(read_as<std::vector<int>>("3", {}), "");
    bool b = false;
    std::string s;
    int c = 0;
    EXPECT_EQ(complaint([&] { fields(R"({"x":1})").read("x", b); }),
              "config.json: \"x\" is 1 but must be true or false");
    EXPECT_EQ(complaint([&] { fields(R"({"x":1})").read("x", s); }),
              "config.json: \"x\" is 1 but must be a string");
    EXPECT_EQ(complaint([&] {
                  fields(R"({"x":"tanh"})").read_choice("x", {"gelu", "relu"}, c);
              }),
              "config.json: \"x\" is \"tanh\" but must be one of gelu, relu");
    EXPECT_EQ(complaint([&] { fields("{}").require("x", c); }), "config.json: lacks \"x\"");
    EXPECT_EQ(complaint([&] { fields("[1]"); }), "config.json: is [1] but must be a JSON object");
}

}  // namespace
}  // namespace fovea
