#pragma once
// Writing safetensors files, byte for byte as the reference library does: widest types first, then
// by name; the header padded with spaces to a multiple of 8. The file appears under its name whole
// and synced, or not at all. Not thread-safe: one writer, one thread.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fovea/io/dtype.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Metadata = std::map<std::string, std::string>;

// One tensor to write. f32 values may be stored as F32, F16 or BF16 (converted piece by piece),
// int8 values as I8 without their scales; anything else is raw bytes of the stated type.
struct TensorToWrite {
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    Tensor values;      // f32, bf16 or int8; or
    std::string bytes;  // raw, little-endian

    static TensorToWrite of(std::string name, const Tensor& values, DType dtype = DType::F32);
    static TensorToWrite of(std::string name, const std::vector<std::int64_t>& integers);  // I64
    std::int64_t byte_count() const;
};

// Sizes are known before anything is written.
class SafetensorsWriter {
public:
    SafetensorsWriter(std::vector<TensorToWrite> tensors, const Metadata& metadata);
    std::int64_t file_size() const;
    std::int64_t count() const { return static_cast<std::int64_t>(tensors_.size()); }
    // Hands the file to `sink` piece by piece.
    using Sink = std::function<void(const void* data, std::int64_t bytes)>;
    void write(const Sink& sink) const;

private:
    std::vector<TensorToWrite> tensors_;  // in file order
    std::string header_;                  // with its length in front
    std::int64_t data_bytes_ = 0;
};

void write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                       const Metadata& metadata = {{"format", "pt"}});

}  // namespace fovea
