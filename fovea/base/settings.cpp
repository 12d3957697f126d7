#include "fovea/base/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "fovea/base/error.h"

namespace fovea {
namespace {

template <class T>
std::string shortest_text(T value) {
    return fmt::format("{}", value);  // what reads back as the same number
}

std::string bounds_text(const SettingOptions& o) {
    const bool low = std::isfinite(o.min), high = std::isfinite(o.max);
    const std::string top = number_text(o.max);
    if (low && high)
        return o.below_max ? text_of("from ", number_text(o.min), " to below ", top)
                           : text_of("from ", number_text(o.min), " to ", top);
    if (low) return text_of("at least ", number_text(o.min));
    return o.below_max ? text_of("below ", top) : text_of("at most ", top);
}

[[noreturn]] void wrong_value(const std::string& name, const std::string& value,
                              const std::string& wanted, const std::string& hint = {}) {
    throw Error(text_of("--", name, " is `", value, "`, but ", wanted), ErrorKind::usage, hint);
}

template <class T>
T parse_number(const std::string& name, const std::string& text, const SettingOptions& o) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || stop != end)
        wrong_value(name, text,
                    std::is_integral_v<T> ? "a whole number is wanted" : "a number is wanted");
    const auto number = static_cast<double>(value);
    if (!std::isfinite(number)) wrong_value(name, text, "a finite number is wanted");
    if (number < o.min || number > o.max || (o.below_max && number >= o.max))
        wrong_value(name, text, "it may be " + bounds_text(o), o.hint);
    return value;
}

bool parse_bool(const std::string& name, const std::string& text) {
    if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "0" || text == "no" || text == "off") return false;
    wrong_value(name, text, "true or false is wanted");
}

void check_choice(const std::string& name, const std::string& text, const SettingOptions& o) {
    if (o.choices.empty() || std::find(o.choices.begin(), o.choices.end(), text) != o.choices.end())
        return;
    std::string list;
    for (const std::string& c : o.choices) list += (list.empty() ? "" : ", ") + c;
    wrong_value(name, text, "it may be one of " + list, o.hint);
}

std::string dashed(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

std::string text_of_json(const Json& j) { return j.is_string() ? j.get<std::string>() : j.dump(); }

}  // namespace

std::string number_text(double value) { return shortest_text(value); }
std::string number_text(float value) { return shortest_text(value); }

Setting& Settings::push(std::string name, std::string help, SettingOptions options) {
    expect(!find(name), "settings: --", name, " is declared twice");
    Setting& s = settings_.emplace_back();
    s.name = std::move(name);
    s.help = std::move(help);
    s.options = std::move(options);
    return s;
}

template <class T>
void Settings::add_number(std::string name, T& value, std::string help, SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.text = [&value] { return shortest_text(value); };
    s.set = [&value, n = s.name, o = s.options](const std::string& text) {
        value = parse_number<T>(n, text, o);
    };
}

template <class T>
void Settings::add_optional(std::string name, std::optional<T>& value, std::string help,
                            SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.text = [&value] { return value ? shortest_text(*value) : std::string(); };
    s.set = [&value, n = s.name, o = s.options](const std::string& text) {
        value = parse_number<T>(n, text, o);
    };
}

void Settings::add(std::string name, bool& value, std::string help, SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.is_switch = true;
    s.text = [&value] { return value ? "true" : "false"; };
    s.set = [&value, n = s.name](const std::string& text) { value = parse_bool(n, text); };
}
void Settings::add(std::string name, std::optional<bool>& value, std::string help,
                   SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.is_switch = true;
    s.text = [&value] { return value ? (*value ? "true" : "false") : ""; };
    s.set = [&value, n = s.name](const std::string& text) { value = parse_bool(n, text); };
}
void Settings::add(std::string name, int& value, std::string help, SettingOptions options) {
    add_number(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::int64_t& value, std::string help,
                   SettingOptions options) {
    add_number(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::uint64_t& value, std::string help,
                   SettingOptions options) {
    add_number(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, float& value, std::string help, SettingOptions options) {
    add_number(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, double& value, std::string help, SettingOptions options) {
    add_number(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::optional<int>& value, std::string help,
                   SettingOptions options) {
    add_optional(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::optional<std::int64_t>& value, std::string help,
                   SettingOptions options) {
    add_optional(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::optional<float>& value, std::string help,
                   SettingOptions options) {
    add_optional(std::move(name), value, std::move(help), std::move(options));
}
void Settings::add(std::string name, std::optional<double>& value, std::string help,
                   SettingOptions options) {
    add_optional(std::move(name), value, std::move(help), std::move(options));
}

void Settings::add(std::string name, std::string& value, std::string help, SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.text = [&value] { return value; };
    s.set = [&value, n = s.name, o = s.options](const std::string& text) {
        check_choice(n, text, o);
        value = text;
    };
}

void Settings::add(std::string name, std::vector<std::string>& value, std::string help,
                   SettingOptions options) {
    Setting& s = push(std::move(name), std::move(help), std::move(options));
    s.is_list = true;
    s.text = [&value] {
        std::string all;
        for (const std::string& v : value) all += (all.empty() ? "" : "\n") + v;
        return all;
    };
    s.set = [&value, n = s.name, o = s.options](const std::string& text) {
        check_choice(n, text, o);
        value.push_back(text);
    };
}

Setting* Settings::find(const std::string& name) {
    const std::string wanted = dashed(name);
    for (Setting& s : settings_)
        if (s.name == wanted) return &s;
    return nullptr;
}

bool Settings::given(const std::string& name) const {
    for (const Setting& s : settings_)
        if (s.name == name) return s.given;
    fail("settings: nobody declared --", name);
}

void Settings::set(const std::string& name, const std::string& value) {
    Setting* s = find(name);
    if (!s)
        throw Error("there is no setting `" + name + "`", ErrorKind::usage,
                    "the help lists the settings");
    s->set(value);
    s->given = true;
}

void Settings::set_all(const Json& object, const std::string& where) {
    expect_input(object.is_object(), where, ": an object of settings is wanted");
    for (const auto& [name, value] : object.items()) {
        if (!value.is_array()) {
            set(name, text_of_json(value));
            continue;
        }
        for (const Json& v : value) set(name, text_of_json(v));
    }
}

}  // namespace fovea
