#pragma once
// Typed fields of a JSON object (config.json and its like), read strictly: a field of the wrong
// type or out of range is an error that names file, field and what was expected. Fields nobody asks
// about are passed over: Hugging Face's files hold dozens that do not concern us. The caller names
// the fields, so a config struct and its reader stand side by side in the model's file:
//
//   JsonFields f(read_json(path), path);
//   f.read("d_model", c.d_model, {1});
//   f.read({"encoder_attention_heads", "num_attention_heads"}, c.heads, {1});
//   f.require("dropout", c.dropout, {0, 1});
//
// Not thread-safe: it remembers the field being read, for errors.
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

struct NumberRange {
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
};

class JsonFields {
public:
    using Names = std::initializer_list<std::string_view>;  // the first that is there counts

    JsonFields(Json object, std::string where);

    // Absent or null: the value stays as it is, and false is returned.
    bool read(Names names, int& value, NumberRange range = {});
    bool read(Names names, std::int64_t& value, NumberRange range = {});
    bool read(Names names, float& value, NumberRange range = {});
    bool read(Names names, double& value, NumberRange range = {});
    bool read(Names names, bool& value);
    bool read(Names names, std::string& value);
    bool read(Names names, std::vector<int>& value, NumberRange range = {});
    template <class T>
    bool read(std::string_view name, T& value) {
        return read(Names{name}, value);
    }
    template <class T>
    bool read(std::string_view name, T& value, NumberRange range) {
        return read(Names{name}, value, range);
    }

    // Absent is an error.
    template <class T>
    void require(std::string_view name, T& value) {
        if (!read(Names{name}, value)) missing(name);
    }
    template <class T>
    void require(std::string_view name, T& value, NumberRange range) {
        if (!read(Names{name}, value, range)) missing(name);
    }

    // One of a few words; `words[i]` gives i.
    bool read_choice(std::string_view name, std::initializer_list<std::string_view> words,
                     int& choice);

    bool has(std::string_view name) const;
    const Json& json() const { return json_; }
    const std::string& where() const { return where_; }
    [[noreturn]] void fail_field(std::string_view name, const std::string& what) const;

private:
    const Json* find(Names names);  // nullptr where absent or null
    [[noreturn]] void missing(std::string_view name) const;
    std::int64_t integer(const Json& j, NumberRange range, std::int64_t least, std::int64_t most);
    double number(const Json& j, NumberRange range);

    Json json_;
    std::string where_;
    std::string current_;  // the name being read, for errors
};

}  // namespace fovea
