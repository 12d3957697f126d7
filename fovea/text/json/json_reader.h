#pragma once
// A thin, strict face on simdjson for the large JSON files of this room: every error says where in
// the file it is.
#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fovea/base/error.h"

namespace fovea::text {

// A value and its path ("tokenizer.json: model.vocab").
class JsonValue {
public:
    JsonValue(simdjson::dom::element e, std::string path) : element_(e), path_(std::move(path)) {}

    const std::string& path() const { return path_; }
    bool is_null() const { return element_.is_null(); }
    bool is_string() const { return element_.is_string(); }
    bool is_array() const { return element_.is_array(); }
    bool is_object() const { return element_.is_object(); }

    std::string_view string() const { return get<std::string_view>("a string"); }
    bool boolean() const { return get<bool>("true or false"); }
    double number() const { return get<double>("a number"); }
    std::int64_t integer() const { return get<std::int64_t>("a whole number"); }
    simdjson::dom::array array() const { return get<simdjson::dom::array>("an array"); }
    simdjson::dom::object object() const { return get<simdjson::dom::object>("an object"); }

    // A field; missing and null are the same to find(), at() wants it there (null allowed).
    std::optional<JsonValue> find(std::string_view key) const {
        simdjson::dom::element e;
        if (object().at_key(key).get(e) != simdjson::SUCCESS || e.is_null()) return std::nullopt;
        return JsonValue(e, path_ + "." + std::string(key));
    }
    JsonValue at(std::string_view key) const {
        simdjson::dom::element e;
        if (object().at_key(key).get(e) != simdjson::SUCCESS)
            throw Error(text_of(path_, ": has no \"", key, "\""), ErrorKind::bad_input);
        return JsonValue(e, path_ + "." + std::string(key));
    }

    // Optional fields with a default.
    bool boolean_or(std::string_view key, bool otherwise) const {
        const auto v = find(key);
        return v ? v->boolean() : otherwise;
    }
    std::int64_t integer_or(std::string_view key, std::int64_t otherwise) const {
        const auto v = find(key);
        return v ? v->integer() : otherwise;
    }
    std::string string_or(std::string_view key, std::string_view otherwise) const {
        const auto v = find(key);
        return std::string(v ? v->string() : otherwise);
    }

    // Calls f(JsonValue) for every element of an array.
    template <class F>
    void each(F f) const {
        std::size_t i = 0;
        for (const simdjson::dom::element e : array())
            f(JsonValue(e, text_of(path_, "[", i++, "]")));
    }

private:
    template <class T>
    T get(const char* wanted) const {
        T value{};
        if (element_.get(value) != simdjson::SUCCESS)
            throw Error(text_of(path_, ": should be ", wanted), ErrorKind::bad_input);
        return value;
    }
    simdjson::dom::element element_;
    std::string path_;
};

// A parsed document; values live as long as it does.
class JsonDocument {
public:
    JsonDocument(std::string_view json, std::string where)
        : padded_(json), where_(std::move(where)) {
        const auto result = parser_.parse(padded_);
        if (result.error() != simdjson::SUCCESS)
            throw Error(text_of(where_, ": not JSON: ", simdjson::error_message(result.error())),
                        ErrorKind::bad_input);
        root_ = result.value_unsafe();
    }
    JsonValue root() const { return {root_, where_}; }

private:
    simdjson::dom::parser parser_{std::size_t{1} << 31};
    simdjson::padded_string padded_;
    std::string where_;
    simdjson::dom::element root_;
};

}  // namespace fovea::text
