// Reading checkpoints: nothing is believed that the manifest and its checksums do not confirm.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::int64_t text_limit = std::int64_t{64} << 20;

// The step of a folder's name, -1 where it is not one of ours.
std::int64_t step_of(const std::string& name) {
    if (name.rfind("step-", 0) != 0 || name.size() < 15 || name.size() > 23) return -1;
    for (std::size_t i = 5; i < name.size(); ++i)
        if (name[i] < '0' || name[i] > '9') return -1;
    const std::int64_t step = std::strtoll(name.c_str() + 5, nullptr, 10);
    return base_name(checkpoint_path("", step)) == name ? step : -1;
}

[[noreturn]] void refuse_checkpoint(const std::string& where, const std::string& what) {
    throw Error(where + ": " + what, ErrorKind::bad_input,
                "resume from an older checkpoint of the run");
}

void check_files(const std::string& folder, const Manifest& m) {
    std::set<std::string> known{"MANIFEST.json"};
    for (const ManifestEntry& f : m.files) {
        const std::string path = join_path(folder, f.name);
        if (!known.insert(f.name).second)
            refuse_checkpoint(folder, "the manifest lists " + f.name + " twice");
        if (!file_exists(path)) refuse_checkpoint(path, "is missing");
        const std::int64_t size = file_size(path);
        if (size != f.size)
            refuse_checkpoint(path, text_of("has ", size, " bytes but was saved with ", f.size));
        if (hash_file(path).hex != f.xxh3_128)
            refuse_checkpoint(path, "is damaged: its checksum does not fit");
    }
    for (const std::string& name : list_folder(folder))
        if (!known.count(name))
            refuse_checkpoint(join_path(folder, name), "does not belong to the checkpoint");
    for (const char* name : {"model.safetensors", "optim.safetensors", "state.json"})
        if (!known.count(name))
            refuse_checkpoint(folder, std::string("the manifest does not list ") + name);
}

}  // namespace

std::string checkpoint_path(const std::string& run, std::int64_t step) {
    std::string digits = std::to_string(step);
    if (digits.size() < 10) digits.insert(0, 10 - digits.size(), '0');
    return join_path(run, "step-" + digits);
}

std::vector<std::int64_t> checkpoint_steps(const std::string& run) {
    std::vector<std::int64_t> steps;
    for (const std::string& name : list_folder(run))
        if (const std::int64_t step = step_of(name); step >= 0 && is_folder(join_path(run, name)))
            steps.push_back(step);
    std::sort(steps.begin(), steps.end());
    return steps;
}

OpenCheckpoint open_checkpoint(const std::string& folder) {
    if (!is_folder(folder))
        fail_with(ErrorKind::not_found, "", folder, ": there is no such checkpoint folder");
    const std::string manifest_path = join_path(folder, "MANIFEST.json");
    if (!file_exists(manifest_path))
        refuse_checkpoint(manifest_path, "is missing: the save was not finished");
    OpenCheckpoint c;
    c.folder = folder;
    c.manifest = parse_manifest(read_file(manifest_path, text_limit), manifest_path);
    check_files(folder, c.manifest);
    const std::string state_path = join_path(folder, "state.json");
    c.state = read_file(state_path, text_limit);
    const std::int64_t named = step_of(base_name(folder));
    if (named >= 0 && named != c.manifest.step)
        refuse_checkpoint(folder, text_of("holds step ", c.manifest.step, " by its manifest"));
    for (const ManifestEntry& f : c.manifest.files) {
        if (!f.name.ends_with(".safetensors")) continue;
        const TensorFile file(join_path(folder, f.name));
        if (static_cast<std::int64_t>(file.tensors().size()) != f.tensors)
            refuse_checkpoint(file.path(), text_of("holds ", file.tensors().size(),
                                                   " tensors but was saved with ", f.tensors));
    }
    return c;
}

TensorFile OpenCheckpoint::model() const {
    return TensorFile(join_path(folder, "model.safetensors"));
}
TensorFile OpenCheckpoint::optimizer() const {
    return TensorFile(join_path(folder, "optim.safetensors"));
}

}  // namespace fovea
