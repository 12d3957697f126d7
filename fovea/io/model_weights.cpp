#include "fovea/io/model_weights.h"

#include <filesystem>
#include <unordered_set>

#include "fovea/base/checked.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/weight_index.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

bool lies_within(const fs::path& inner, const fs::path& outer) {
    const fs::path relative = inner.lexically_relative(outer);
    return !relative.empty() && *relative.begin() != "..";
}

// A shard (a plain name, see weight_index.h) may be a link to the blobs of the same download cache
// (cache/model/snapshots/id -> cache/model/blobs), and nowhere else outside of the folder.
std::string shard_path(const std::string& folder, const std::string& name,
                       const std::string& index_path) {
    const std::string path = join_path(folder, name);
    if (!file_exists(path))
        fail_with(ErrorKind::not_found, "fetch all shards of the model", index_path, ": the shard ",
                  name, " is missing");
    const fs::path real = fs::canonical(path), home = fs::canonical(folder);
    expect_input(
        lies_within(real, home) || lies_within(real, (home / "../../blobs").lexically_normal()),
        index_path, ": the shard ", name, " is a link that leads out of the folder");
    return path;
}

}  // namespace

ModelWeights::ModelWeights(const std::string& path) : path_(path) {
    if (!file_exists(path))
        fail_with(ErrorKind::not_found, "", path, ": there is no such model folder or file");
    if (!is_folder(path)) {
        files_.emplace_back(path);
    } else if (const auto one = join_path(path, "model.safetensors"); file_exists(one)) {
        files_.emplace_back(one);
    } else if (const auto index = join_path(path, "model.safetensors.index.json");
               file_exists(index)) {
        open_shards(path, index);
    } else if (file_exists(join_path(path, "pytorch_model.bin"))) {
        fail_with(ErrorKind::bad_input,
                  "convert it with the library it came from: save_pretrained(folder, "
                  "safe_serialization=True)",
                  path,
                  ": holds only pytorch_model.bin, a Python pickle, which could run code and "
                  "is not read");
    } else {
        fail_with(ErrorKind::not_found, "a model folder holds config.json and model.safetensors",
                  path, ": holds no model.safetensors");
    }
    for (std::size_t i = 0; i < files_.size(); ++i)
        for (const TensorInfo& t : files_[i].tensors())
            expect_input(where_.emplace(t.name, i).second, files_[i].path(), ": the tensor \"",
                         t.name, "\" stands in another shard too");
}

void ModelWeights::open_shards(const std::string& folder, const std::string& index_path) {
    const WeightIndex index =
        parse_weight_index(read_file(index_path, std::int64_t{64} << 20), index_path);
    std::map<std::string, std::size_t> opened;
    std::unordered_set<std::string> promised;
    std::int64_t total = 0;
    for (const auto& [name, shard] : index.shard_of) {
        promised.insert(name);
        if (opened.emplace(shard, files_.size()).second)
            files_.emplace_back(shard_path(folder, shard, index_path));
        const TensorFile& f = files_[opened[shard]];
        expect_input(f.find(name) != nullptr, f.path(), ": lacks the tensor \"", name,
                     "\" that the index promises");
    }
    for (const TensorFile& f : files_)
        for (const TensorInfo& t : f.tensors()) {
            total = checked_add(total, t.end - t.begin);
            expect_input(promised.count(t.name) > 0, f.path(), ": the tensor \"", t.name,
                         "\" is not in the index");
        }
    const std::int64_t said = index.total_size.value_or(total);
    expect_input(said == total, index_path, ": total_size is ", said, " but the shards hold ",
                 total, " bytes");
}

std::vector<std::string> ModelWeights::names() const {
    std::vector<std::string> all;
    for (const TensorFile& f : files_)
        for (const TensorInfo& t : f.tensors()) all.push_back(t.name);
    return all;
}

const TensorFile& ModelWeights::file_of(const std::string& name) const {
    const auto it = where_.find(name);
    expect_input(it != where_.end(), path_, ": holds no tensor \"", name, "\"");
    return files_[it->second];
}

const TensorInfo& ModelWeights::info(const std::string& name) const {
    return file_of(name).at(name);
}

Tensor ModelWeights::read(const std::string& name) const { return file_of(name).read(name); }

std::string ModelWeights::read_bytes(const std::string& name) const {
    const TensorFile& file = file_of(name);
    return file.read_bytes(file.at(name));
}

std::int64_t ModelWeights::bytes() const {
    std::int64_t sum = 0;
    for (const TensorFile& f : files_)
        if (!f.tensors().empty()) sum = checked_add(sum, f.tensors().back().end);
    return sum;
}

}  // namespace fovea
