#pragma once
// Named settings over the fields of a struct, declared once. The same name is a flag of the command
// line (--max-tokens), a key of a recipe (max-tokens = 4096) and a field of a JSON request.
//
//   void ClassifyTraining::describe(Settings& s) {
//       s.add("max-tokens", batches.max_tokens, "tokens of a batch", {.group = "batch", .min = 1});
//       s.add("pool", pooling, "how rows become one vector", {.choices = {"first", "mean"}});
//   }
//
// The fields must outlive the Settings. Values are checked where they are set: a wrong one is a
// usage error that names the setting, what it is and what it may be.
// Not thread-safe: it belongs to whoever owns the fields.
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

struct SettingOptions {
    std::string group = "more";  // run, batch, data, model, search, output, …: a title in the help
    bool common = false;         // in the short help too
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    bool below_max = false;              // max itself is too much (dropout 1)
    std::vector<std::string> choices{};  // of a text
    std::string hint{};                  // the way out of a wrong value
    std::string otherwise{};             // of an optional field: what holds where it is not given
    bool is_path = false;                // a file or folder: made absolute when written down
    bool hidden = false;                 // in no help
    bool about_run = true;               // part of what a run computes: written to config.toml
};

struct Setting {
    std::string name, help;
    SettingOptions options;
    bool is_switch = false;                       // a bool: --name, or name = true
    bool is_list = false;                         // may be given several times
    std::function<std::string()> text;            // the value now; "" where there is none
    std::function<void(const std::string&)> set;  // throws usage errors
    bool given = false;                           // by a person, not by default
    // What the help shows in brackets.
    std::string default_text() const { return text().empty() ? options.otherwise : text(); }
};

class Settings {
public:
    void add(std::string name, bool& value, std::string help, SettingOptions options = {});
    void add(std::string name, int& value, std::string help, SettingOptions options = {});
    void add(std::string name, std::int64_t& value, std::string help, SettingOptions options = {});
    void add(std::string name, std::uint64_t& value, std::string help, SettingOptions options = {});
    void add(std::string name, float& value, std::string help, SettingOptions options = {});
    void add(std::string name, double& value, std::string help, SettingOptions options = {});
    void add(std::string name, std::string& value, std::string help, SettingOptions options = {});
    void add(std::string name, std::optional<bool>& value, std::string help,
             SettingOptions options = {});
    void add(std::string name, std::optional<int>& value, std::string help,
             SettingOptions options = {});
    void add(std::string name, std::optional<std::int64_t>& value, std::string help,
             SettingOptions options = {});
    void add(std::string name, std::optional<float>& value, std::string help,
             SettingOptions options = {});
    void add(std::string name, std::optional<double>& value, std::string help,
             SettingOptions options = {});
    void add(std::string name, std::vector<std::string>& value, std::string help,
             SettingOptions options = {});

    std::vector<Setting>& all() { return settings_; }
    const std::vector<Setting>& all() const { return settings_; }
    Setting* find(const std::string& name);  // "max_tokens" is "max-tokens"; nullptr: none
    bool given(const std::string& name) const;
    void set(const std::string& name, const std::string& value);  // an unknown name is an error
    void set_all(const Json& object, const std::string& where);   // fields of a request

private:
    template <class T>
    void add_number(std::string name, T& value, std::string help, SettingOptions options);
    template <class T>
    void add_optional(std::string name, std::optional<T>& value, std::string help,
                      SettingOptions options);
    Setting& push(std::string name, std::string help, SettingOptions options);

    std::vector<Setting> settings_;
};

// A number as people write it: 3e-4, 1000, 0.1; never 0.10000000149.
std::string number_text(double value);
std::string number_text(float value);

}  // namespace fovea
