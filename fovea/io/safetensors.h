#pragma once
// Reading safetensors files: an 8-byte length, a JSON header, the tensors' bytes. Every rule of
// the format is enforced before anything is allocated: what is read afterwards cannot lie outside
// the file, overlap or be larger than the file. No code is in such a file, so none can run.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/io/dtype.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct TensorInfo {
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;  // any rank; [] is a single value
    std::int64_t begin = 0, end = 0;  // bytes, from the end of the header
    std::int64_t elements() const;
};

std::string text_of_shape(const std::vector<std::int64_t>& shape);  // "[2, 3]"

struct SafetensorsHeader {
    std::vector<TensorInfo> tensors;  // in the order of their bytes
    std::map<std::string, std::string> metadata;
};

// Parses and checks a header against the number of bytes that follow it.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_bytes,
                                           const std::string& where);

// An open file. Reading is thread-safe; tensors are read when asked for, not before.
class TensorFile {
public:
    explicit TensorFile(const std::string& path);

    const std::string& path() const { return path_; }
    const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
    const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
    const TensorInfo* find(const std::string& name) const;  // nullptr where there is none
    const TensorInfo& at(const std::string& name) const;    // an error where there is none

    Tensor read(const std::string& name) const;  // as f32; a single value as [1]; rank 4 at most
    Tensor read(const TensorInfo& info) const;
    std::string read_bytes(const TensorInfo& info) const;
    std::vector<std::int64_t> read_integers(const std::string& name) const;  // I8 … I64, U8 … U32

private:
    void read_at(std::int64_t offset, void* to, std::int64_t bytes) const;

    struct Descriptor;
    std::string path_;
    std::shared_ptr<Descriptor> file_;
    std::int64_t data_begin_ = 0;
    SafetensorsHeader header_;
    std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace fovea
