// Starting over in a folder that holds an old run: what Fovea wrote goes, whatever else is there
// stays.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "fovea/base/disk.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/checkpoint_folder.h"

namespace fovea {
namespace {

enum class Found { nothing, folder, other };

Found look_at(const std::string& path) {  // links are not followed
    struct stat s {};
    if (::lstat(path.c_str(), &s) != 0) return Found::nothing;
    return S_ISDIR(s.st_mode) ? Found::folder : Found::other;
}

bool is_model_file(std::string_view name) {
    static constexpr std::string_view names[] = {
        "config.json",           "generation_config.json", "model.safetensors", "tokenizer.json",
        "target_tokenizer.json", "tokenizer_config.json",  "fovea.json",        "labels.json"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_event_file(std::string_view name) {
    return name.starts_with("events.out.tfevents.") && name.ends_with(".fovea");
}

bool is_checkpoint_file(std::string_view name) {
    return name == "MANIFEST.json" || name == "state.json" || name == "optim.safetensors" ||
           is_model_file(name);
}

using IsOurs = bool (*)(std::string_view);

struct OldFolder {
    std::string path;
    IsOurs is_ours;
};

// The old run's folders that are real ones; a link of such a name is somebody's own and stays.
std::vector<OldFolder> old_folders(const std::string& run) {
    std::vector<OldFolder> found;
    const auto add = [&](const std::string& path, IsOurs is_ours) {
        if (look_at(path) == Found::folder) found.push_back({path, is_ours});
    };
    for (const std::int64_t step : checkpoint_steps(run))
        add(checkpoint_path(run, step), is_checkpoint_file);
    add(join_path(run, "model"), is_model_file);
    add(join_path(run, "events"), is_event_file);
    return found;
}

constexpr const char* run_files[] = {"LATEST", "BEST", "metrics.jsonl", "config.toml"};

}  // namespace

bool holds_run(const std::string& run) {
    return is_folder(run) &&
           (file_exists(join_path(run, "metrics.jsonl")) || !checkpoint_steps(run).empty());
}

void CheckpointFolder::clear() {
    const std::vector<OldFolder> folders = old_folders(run_);
    for (const OldFolder& folder : folders)
        for (const std::string& name : list_folder(folder.path))
            if (!folder.is_ours(name) || look_at(join_path(folder.path, name)) == Found::folder)
                fail_with(ErrorKind::usage, "move it away, or choose another --out",
                          join_path(folder.path, name),
                          ": is none of Fovea's files; --force does not remove it");
    remove_leftovers();
    // The marks first: a kill in the middle must not leave one that names what is gone.
    for (const char* name : run_files)
        if (look_at(join_path(run_, name)) == Found::other)
            disk::unlink_file(join_path(run_, name));
    for (const OldFolder& folder : folders) disk::remove_tree(folder.path);
    disk::sync_folder(run_);
    parent_ = -1;
}

}  // namespace fovea
