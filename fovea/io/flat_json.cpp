#include "fovea/io/flat_json.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

constexpr std::size_t deepest = 16;

// Called by the JSON parser piece by piece; returning false stops it.
class Collector {
public:
    std::map<std::string, FlatJson::Value> values;
    std::string problem;

    bool null() { return scalar({}); }
    bool boolean(bool) { return scalar({}); }
    bool number_integer(std::int64_t x) {
        return scalar({.kind = FlatJson::Value::Kind::negative,
                       .bits = static_cast<std::uint64_t>(x),
                       .text_value = {}});
    }
    bool number_unsigned(std::uint64_t x) {
        return scalar({.kind = FlatJson::Value::Kind::natural, .bits = x, .text_value = {}});
    }
    bool number_float(double x, const std::string&) {
        return scalar(
            {.kind = FlatJson::Value::Kind::fraction, .fraction_value = x, .text_value = {}});
    }
    bool string(std::string& x) {
        return scalar({.kind = FlatJson::Value::Kind::text, .text_value = x});
    }
    bool binary(Json::binary_t&) { return false; }
    bool start_object(std::size_t) { return open(FlatJson::Value::Kind::object); }
    bool start_array(std::size_t) { return open(FlatJson::Value::Kind::array); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& k) {
        if (k.find('\x1f') != std::string::npos || k.empty())
            return stop("a key is empty or holds a control character");
        key_ = k;
        return true;
    }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) {
        return stop("not valid JSON at byte " + std::to_string(at));
    }

private:
    struct Level {
        std::string path;
        bool is_array;
    };

    // The path of the value that comes now.
    bool place(std::string& path) {
        if (levels_.empty()) return true;
        Level& level = levels_.back();
        FlatJson::Value& parent = values[level.path];
        const std::string name = level.is_array ? std::to_string(parent.members) : key_;
        ++parent.members;
        path = FlatJson::in(level.path, name);
        return !values.count(path) || stop("\"" + name + "\" stands twice");
    }
    bool scalar(FlatJson::Value value) {
        std::string path;
        if (!place(path)) return false;
        values[path] = std::move(value);
        return true;
    }
    bool open(FlatJson::Value::Kind kind) {
        std::string path;
        if (!place(path)) return false;
        if (levels_.size() >= deepest) return stop("nested too deep");
        values[path].kind = kind;
        levels_.push_back({path, kind == FlatJson::Value::Kind::array});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }
    bool stop(std::string what) {
        if (problem.empty()) problem = std::move(what);
        return false;
    }

    std::vector<Level> levels_;
    std::string key_;
};

}  // namespace

FlatJson::FlatJson(std::string_view text, std::string where) : where_(std::move(where)) {
    Collector collector;
    expect_input(text.find('\0') == std::string_view::npos, where_,
                 ": not valid JSON: holds a NUL");
    const bool parsed = Json::sax_parse(text.begin(), text.end(), &collector);
    expect_input(parsed, where_, ": ", collector.problem);
    values_ = std::move(collector.values);
}

void FlatJson::wrong(const std::string& path) const {
    std::string readable = path;
    std::replace(readable.begin(), readable.end(), '\x1f', '.');
    throw Error(where_ + ": \"" + readable + "\" is missing or of the wrong type",
                ErrorKind::bad_input);
}

const FlatJson::Value& FlatJson::find(const std::string& path) const {
    const auto it = values_.find(path);
    if (it == values_.end()) wrong(path);
    return it->second;
}

std::int64_t FlatJson::integer(const std::string& path) const {
    const Value& v = find(path);
    const bool fits =
        v.kind == Value::Kind::negative ||
        (v.kind == Value::Kind::natural && v.bits <= static_cast<std::uint64_t>(INT64_MAX));
    if (!fits) wrong(path);
    return static_cast<std::int64_t>(v.bits);
}

std::uint64_t FlatJson::natural(const std::string& path) const {
    const Value& v = find(path);
    if (v.kind != Value::Kind::natural) wrong(path);
    return v.bits;
}

double FlatJson::number(const std::string& path) const {
    const Value& v = find(path);
    if (v.kind == Value::Kind::fraction && std::isfinite(v.fraction_value)) return v.fraction_value;
    if (v.kind == Value::Kind::natural) return static_cast<double>(v.bits);
    if (v.kind == Value::Kind::negative)
        return static_cast<double>(static_cast<std::int64_t>(v.bits));
    wrong(path);
}

const std::string& FlatJson::text(const std::string& path) const {
    const Value& v = find(path);
    if (v.kind != Value::Kind::text) wrong(path);
    return v.text_value;
}

std::int64_t FlatJson::members(const std::string& path) const {
    const Value& v = find(path);
    if (v.kind != Value::Kind::object) wrong(path);
    return v.members;
}

std::int64_t FlatJson::items(const std::string& path) const {
    const Value& v = find(path);
    if (v.kind != Value::Kind::array) wrong(path);
    return v.members;
}

}  // namespace fovea
