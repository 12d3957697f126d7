#include "fovea/base/json_fields.h"

#include <climits>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string short_text(const Json& j) {
    std::string text = to_text(j);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

}  // namespace

JsonFields::JsonFields(Json object, std::string where)
    : json_(std::move(object)), where_(std::move(where)) {
    expect_input(json_.is_object(), where_, ": is ", short_text(json_),
                 " but must be a JSON object");
}

void JsonFields::fail_field(std::string_view name, const std::string& what) const {
    throw Error(text_of(where_, ": \"", name, "\" ", what), ErrorKind::bad_input);
}

void JsonFields::missing(std::string_view name) const {
    throw Error(text_of(where_, ": lacks \"", name, "\""), ErrorKind::bad_input);
}

bool JsonFields::has(std::string_view name) const {
    const auto it = json_.find(name);
    return it != json_.end() && !it->is_null();
}

const Json* JsonFields::find(Names names) {
    const Json* found = nullptr;
    for (const std::string_view name : names) {
        if (found || !has(name)) continue;
        current_ = name;
        found = &*json_.find(name);
    }
    return found;
}

std::int64_t JsonFields::integer(const Json& j, NumberRange range, std::int64_t least,
                                 std::int64_t most) {
    if (!j.is_number_integer() ||
        (j.is_number_unsigned() && j.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)))
        fail_field(current_, "is " + short_text(j) + " but must be a whole number");
    const auto n = j.get<std::int64_t>();
    if (n < least || n > most || static_cast<double>(n) < range.min ||
        static_cast<double>(n) > range.max)
        fail_field(current_, text_of("is ", n, " but must be from ",
                                     std::max(range.min, static_cast<double>(least)), " to ",
                                     std::min(range.max, static_cast<double>(most))));
    return n;
}

double JsonFields::number(const Json& j, NumberRange range) {
    if (!j.is_number()) fail_field(current_, "is " + short_text(j) + " but must be a number");
    const auto x = j.get<double>();
    if (!std::isfinite(x) || x < range.min || x > range.max)
        fail_field(current_, text_of("is ", short_text(j), " but must be from ", range.min, " to ",
                                     range.max));
    return x;
}

bool JsonFields::read(Names names, int& value, NumberRange range) {
    const Json* j = find(names);
    if (j) value = static_cast<int>(integer(*j, range, INT_MIN, INT_MAX));
    return j;
}

bool JsonFields::read(Names names, std::int64_t& value, NumberRange range) {
    const Json* j = find(names);
    if (j) value = integer(*j, range, INT64_MIN, INT64_MAX);
    return j;
}

bool JsonFields::read(Names names, float& value, NumberRange range) {
    double wide = value;
    if (!read(names, wide, range)) return false;
    value = static_cast<float>(wide);
    if (!std::isfinite(value)) fail_field(current_, "is too large for 32 bits");
    return true;
}

bool JsonFields::read(Names names, double& value, NumberRange range) {
    const Json* j = find(names);
    if (j) value = number(*j, range);
    return j;
}

bool JsonFields::read(Names names, bool& value) {
    const Json* j = find(names);
    if (j && !j->is_boolean())
        fail_field(current_, "is " + short_text(*j) + " but must be true or false");
    if (j) value = j->get<bool>();
    return j;
}

bool JsonFields::read(Names names, std::string& value) {
    const Json* j = find(names);
    if (j && !j->is_string())
        fail_field(current_, "is " + short_text(*j) + " but must be a string");
    if (j) value = j->get<std::string>();
    return j;
}

bool JsonFields::read(Names names, std::vector<int>& value, NumberRange range) {
    const Json* j = find(names);
    if (!j) return false;
    if (!j->is_array())
        fail_field(current_, "is " + short_text(*j) + " but must be a list of whole numbers");
    value.clear();
    for (const Json& item : *j)
        value.push_back(static_cast<int>(integer(item, range, INT_MIN, INT_MAX)));
    return true;
}

bool JsonFields::read_choice(std::string_view name, std::initializer_list<std::string_view> words,
                             int& choice) {
    std::string word;
    if (!read(name, word)) return false;
    std::string all;
    int i = 0;
    for (const std::string_view w : words) {
        if (word == w) {
            choice = i;
            return true;
        }
        all += text_of(i++ ? ", " : "", w);
    }
    fail_field(name, "is \"" + word + "\" but must be one of " + all);
}

}  // namespace fovea
