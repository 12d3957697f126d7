#include "fovea/cli/task_words.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/recipe.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"

namespace fovea {
namespace {

// The value behind `--name VALUE` or `--name=VALUE`; "" where it is not there.
std::string value_of_flag(const std::vector<std::string>& words, const std::string& name) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--") return "";
        if (words[i] == name && i + 1 < words.size()) return words[i + 1];
        if (words[i].starts_with(name + "=")) return words[i].substr(name.size() + 1);
    }
    return "";
}

// The task that a recipe names. A recipe that cannot be read is told of when it is applied.
std::string task_of_recipe(const std::string& path) {
    if (path.empty() || !file_exists(path) || is_folder(path)) return "";
    try {
        for (const auto& [key, value] : read_recipe(path, "train"))
            if (key == "task") return value;
    } catch (const Error&) {
    }
    return "";
}

std::string task_of_training(const std::vector<std::string>& words) {
    std::string task = value_of_flag(words, "--task");
    if (task.empty()) task = task_of_recipe(value_of_flag(words, "--config"));
    const bool resumes = std::find(words.begin(), words.end(), "--resume") != words.end();
    const std::string out = value_of_flag(words, "--out");
    if (task.empty() && resumes && !out.empty())
        task = task_of_recipe(join_path(out, "config.toml"));
    return task.empty() ? tasks()[0].name : task;
}

// What a folder says of itself, else what its config.json fits (a Hugging Face model). Whoever
// opens it says what is wrong with it.
std::string task_of_model(const std::string& path) {
    const std::string told = task_of_folder(path);
    if (!told.empty()) return told;
    try {
        ModelFolder folder;
        folder.config = read_json(join_path(find_model_folder(path), "config.json"));
        return folder.config.is_object() ? task_of_config(folder) : "";
    } catch (const std::exception&) {
        return "";
    }
}

}  // namespace

std::string task_of_words(const std::vector<std::string>& words) {
    const auto verb = std::find_if(words.begin(), words.end(), [](const std::string& w) {
        return w == "train" || w == "eval" || w == "predict";
    });
    if (verb == words.end()) return "";
    if (*verb == "train") return task_of_training(words);
    // The first folder behind the verb is the model.
    for (auto word = verb + 1; word != words.end(); ++word)
        if (!word->starts_with("-") && is_folder(*word)) return task_of_model(*word);
    return "";
}

}  // namespace fovea
