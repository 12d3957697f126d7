#include "fovea/cli/setting_flags.h"

#include "fovea/cli/help.h"

namespace fovea {
namespace {

void take(Setting& s, const std::string& value) {
    s.set(value);
    s.given = true;
}

CLI::Option* add_flag(CLI::App& verb, Setting& s) {
    const std::string name = "--" + s.name;
    if (s.is_switch)
        return verb.add_flag_callback(
            name, [&s] { take(s, "true"); }, s.help);
    CLI::Option* o = s.is_list ? verb.add_option_function<std::vector<std::string>>(
                                     name,
                                     [&s](const std::vector<std::string>& values) {
                                         for (const std::string& v : values) take(s, v);
                                     },
                                     s.help)
                               : verb.add_option_function<std::string>(
                                     name, [&s](const std::string& v) { take(s, v); }, s.help);
    if (s.is_list)
        o->allow_extra_args(false)->expected(1)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
    // The choices as CLI11 keeps them, in the type's name: help and completion read them there.
    std::string type = s.options.is_path ? "PATH" : "VALUE";
    if (!s.options.choices.empty()) {
        type += ":{";
        for (const std::string& c : s.options.choices) type += (type.back() == '{' ? "" : ",") + c;
        type += "}";
    }
    o->type_name(type);
    o->default_str(s.default_text());
    return o;
}

}  // namespace

void add_setting_flags(CLI::App& verb, Settings& settings) {
    for (Setting& s : settings.all())
        add_flag(verb, s)->group(s.options.hidden   ? hidden_group
                                 : s.options.common ? s.options.group
                                                    : more_group_of(s.options.group));
}

}  // namespace fovea
