#pragma once
// Typed fields of a JSON object, read strictly: a field that is there must have the right type and
// lie within its bounds; a field that is absent leaves the default. Errors name file and field.
#include <cmath>
#include <limits>
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

class JsonFields {
public:
    JsonFields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
        expect_input(object.is_object(), where_, ": a JSON object is wanted");
    }

    bool has(const char* key) const { return object_.contains(key) && !object_.at(key).is_null(); }

    void read(const char* key, int& out, int lowest = std::numeric_limits<int>::min(),
              int highest = std::numeric_limits<int>::max()) const {
        if (!has(key)) return;
        const Json& j = object_.at(key);
        expect_input(j.is_number_integer(), where_, ": \"", key, "\" must be a whole number");
        const bool huge =
            j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(highest);
        expect_input(!huge && j.get<std::int64_t>() >= lowest && j.get<std::int64_t>() <= highest,
                     where_, ": \"", key, "\" is ", to_text(j), " but must be between ", lowest,
                     " and ", highest);
        out = j.get<int>();
    }

    void read(const char* key, float& out, double lowest, double highest) const {
        if (!has(key)) return;
        const Json& j = object_.at(key);
        expect_input(j.is_number(), where_, ": \"", key, "\" must be a number");
        const double v = j.get<double>();
        expect_input(std::isfinite(v) && v >= lowest && v <= highest, where_, ": \"", key, "\" is ",
                     to_text(j), " but must be between ", lowest, " and ", highest);
        out = static_cast<float>(v);
    }

    void read(const char* key, bool& out) const {
        if (!has(key)) return;
        expect_input(object_.at(key).is_boolean(), where_, ": \"", key, "\" must be true or false");
        out = object_.at(key).get<bool>();
    }

    void read(const char* key, std::string& out) const {
        if (!has(key)) return;
        expect_input(object_.at(key).is_string(), where_, ": \"", key, "\" must be a text");
        out = object_.at(key).get<std::string>();
    }

    const std::string& where() const { return where_; }

private:
    const Json& object_;
    std::string where_;
};

}  // namespace fovea
