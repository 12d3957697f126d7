#include "fovea/cli/task_words.h"

#include <algorithm>
#include <memory>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/recipe.h"
#include "fovea/data/record_shape.h"
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

// The first data file: a word that can be looked at and is not the value of a flag. (A flag without
// a value hides the file behind it, but for --train and these.)
std::string first_file(const std::vector<std::string>& words) {
    static const std::set<std::string> bare = {"--train", "--force", "--dry-run", "--quiet"};
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string& before = words[i - 1];
        const bool value = before.starts_with("--") && before.find('=') == std::string::npos &&
                           !bare.contains(before);
        if (!value && !words[i].starts_with("-") && file_exists(parallel_paths(words[i])[0]))
            return words[i];
    }
    return "";
}

// How many of the flags a task does not have. Those of every verb count for each task alike.
std::ptrdiff_t unknown_flags(const TaskEntry& task, const std::vector<std::string>& words) {
    const std::unique_ptr<Trainer> trainer = task.trainer();
    RunSettings run;
    Settings settings;
    run.describe(settings, trainer->metrics());
    trainer->describe(settings);
    return std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        if (!word.starts_with("--")) return false;
        const std::string name = word.substr(2, word.find('=') - 2);
        return !settings.find(name) && !(name.starts_with("no-") && settings.find(name.substr(3)));
    });
}

// Nothing of these could be read as texts, whatever the flags.
bool holds_texts(RecordShape shape) {
    return shape != RecordShape::pictures && shape != RecordShape::sounds &&
           shape != RecordShape::masked && shape != RecordShape::boxed;
}

// The task that learns from such files, unless a flag is none of it but of the usual one.
TaskOfWords guessed_task(const std::vector<std::string>& words) {
    const TaskEntry& usual = tasks()[0];
    const std::string file = first_file(words);
    const auto guess = guess_shape(file);
    const TaskEntry* task = guess ? task_for(guess->shape) : nullptr;
    if (!task || (task != &usual && holds_texts(guess->shape) &&
                  unknown_flags(*task, words) > unknown_flags(usual, words)))
        return {usual.name};
    return {task->name, file + ": " + guess->why};
}

TaskOfWords task_of_training(const std::vector<std::string>& words) {
    std::string task = value_of_flag(words, "--task");
    if (task.empty()) task = task_of_recipe(value_of_flag(words, "--config"));
    const bool resumes = std::find(words.begin(), words.end(), "--resume") != words.end();
    const std::string out = value_of_flag(words, "--out");
    if (task.empty() && resumes && !out.empty())
        task = task_of_recipe(join_path(out, "config.toml"));
    return task.empty() ? guessed_task(words) : TaskOfWords{task};
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

TaskOfWords task_of_words(const std::vector<std::string>& words) {
    const auto verb = std::find_if(words.begin(), words.end(), [](const std::string& w) {
        return w == "train" || w == "eval" || w == "predict";
    });
    if (verb == words.end()) return {};
    if (*verb == "train") return task_of_training({verb, words.end()});
    // The first folder behind the verb is the model.
    for (auto word = verb + 1; word != words.end(); ++word)
        if (!word->starts_with("-") && is_folder(*word)) return {task_of_model(*word)};
    return {};
}

}  // namespace fovea
