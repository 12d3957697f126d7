#pragma once
// The weights of a Hugging Face model folder: model.safetensors, or several shards listed in
// model.safetensors.index.json; or one .safetensors file. Python pickles are refused: they can run
// code. File names in an index may not lead out of the folder.
// Thread-safety: an opened folder does not change; any number of threads may read from it.
#include <map>
#include <string>
#include <vector>

#include "fovea/io/safetensors.h"

namespace fovea {

class ModelWeights {
public:
    explicit ModelWeights(const std::string& folder_or_file);

    const std::string& path() const { return path_; }
    std::vector<std::string> names() const;  // in file order
    bool has(const std::string& name) const { return where_.count(name) > 0; }
    const TensorInfo& info(const std::string& name) const;
    Tensor read(const std::string& name) const;  // as f32
    std::string read_bytes(const std::string& name) const;
    std::int64_t bytes() const;  // of all tensors
    const std::vector<TensorFile>& files() const { return files_; }

private:
    void open_shards(const std::string& folder, const std::string& index_path);
    const TensorFile& file_of(const std::string& name) const;

    std::string path_;
    std::vector<TensorFile> files_;
    std::map<std::string, std::size_t> where_;
};

}  // namespace fovea
