#include "fovea/io/safetensors_writer.h"

#include <algorithm>

#include "fovea/base/atomic_file.h"
#include "fovea/base/checked.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

std::string quoted(const std::string& text, const char* what) {
    try {
        return Json(text).dump();
    } catch (const Json::exception&) {
        fail("safetensors: a ", what, " is not UTF-8");
    }
}

void write_values(const SafetensorsWriter::Sink& sink, const TensorToWrite& t) {
    if (t.values.format() == Format::bf16) {
        sink(t.values.bf16_data(), t.values.size() * 2);
        return;
    }
    if (t.values.format() == Format::int8) {
        sink(t.values.int8_data(), t.values.size());
        return;
    }
    const float* from = t.values.data();
    if (t.dtype == DType::F32) {
        sink(from, t.values.size() * 4);
        return;
    }
    constexpr std::int64_t piece = 1 << 16;
    std::vector<std::uint16_t> halves(static_cast<std::size_t>(std::min(piece, t.values.size())));
    for (std::int64_t i = 0; i < t.values.size(); i += piece) {
        const std::int64_t n = std::min(piece, t.values.size() - i);
        std::transform(from + i, from + i + n, halves.begin(),
                       t.dtype == DType::BF16 ? f32_to_bf16 : f32_to_f16);
        sink(halves.data(), n * 2);
    }
}

}  // namespace

TensorToWrite TensorToWrite::of(std::string name, const Tensor& values, DType dtype) {
    expect(!values.empty(), "safetensors: ", name, " has no values to write");
    expect(values.format() != Format::int7, "safetensors: ", name,
           " is int7, which no file holds: int8 does");
    if (values.format() == Format::bf16) dtype = DType::BF16;
    if (values.format() == Format::int8) dtype = DType::I8;  // its scales are a tensor of their own
    expect(values.format() == Format::int8 || dtype == DType::F32 || dtype == DType::F16 ||
               dtype == DType::BF16,
           "safetensors: ", name, " cannot be written as ", name_of(dtype));
    TensorToWrite t{std::move(name), dtype, {}, values, {}};
    for (int i = 0; i < values.shape().rank(); ++i) t.shape.push_back(values.shape()[i]);
    return t;
}

TensorToWrite TensorToWrite::of(std::string name, const std::vector<std::int64_t>& integers) {
    return {std::move(name),
            DType::I64,
            {static_cast<std::int64_t>(integers.size())},
            {},
            std::string(reinterpret_cast<const char*>(integers.data()), integers.size() * 8)};
}

std::int64_t TensorToWrite::byte_count() const {
    std::int64_t bits = bits_of(dtype);
    for (const std::int64_t n : shape) bits = checked_mul(bits, n, "safetensors");
    expect(bits % 8 == 0, "safetensors: ", name, " does not end at a whole byte");
    return bits / 8;
}

SafetensorsWriter::SafetensorsWriter(std::vector<TensorToWrite> tensors, const Metadata& metadata)
    : tensors_(std::move(tensors)) {
    std::sort(tensors_.begin(), tensors_.end(), [](const TensorToWrite& a, const TensorToWrite& b) {
        return a.dtype != b.dtype ? a.dtype > b.dtype : a.name < b.name;
    });
    std::string json = "{";
    if (!metadata.empty()) {
        json += "\"__metadata__\":{";
        for (const auto& [key, value] : metadata)
            json.append(json.back() == '{' ? "" : ",")
                .append(quoted(key, "metadata key"))
                .append(":")
                .append(quoted(value, "metadata value"));
        json += "}";
    }
    for (const TensorToWrite& t : tensors_) {
        expect(t.name != "__metadata__", "safetensors: no tensor may be called __metadata__");
        const std::int64_t bytes = t.byte_count();
        expect(!t.values.empty() || static_cast<std::int64_t>(t.bytes.size()) == bytes,
               "safetensors: ", t.name, " has ", t.bytes.size(), " bytes but needs ", bytes);
        const std::int64_t end = checked_add(data_bytes_, bytes, "safetensors");
        json += text_of(json.size() == 1 ? "" : ",", quoted(t.name, "name"), ":{\"dtype\":\"",
                        name_of(t.dtype), "\",\"shape\":[");
        for (std::size_t i = 0; i < t.shape.size(); ++i)
            json.append(i ? "," : "").append(std::to_string(t.shape[i]));
        json += text_of("],\"data_offsets\":[", data_bytes_, ",", end, "]}");
        data_bytes_ = end;
    }
    json += "}";
    json.append(
        static_cast<std::size_t>(round_up(static_cast<std::int64_t>(json.size()), 8)) - json.size(),
        ' ');
    expect(json.size() <= 100'000'000, "safetensors: the header would have ", json.size(),
           " bytes, beyond the format's limit");
    for (std::size_t i = 0; i < 8; ++i)
        header_.push_back(static_cast<char>((json.size() >> (8 * i)) & 255));
    header_ += json;
    std::vector<std::string> names;
    for (const TensorToWrite& t : tensors_) names.push_back(t.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    expect(twice == names.end(), "safetensors: the name ", twice == names.end() ? "" : *twice,
           " stands twice");
}

std::int64_t SafetensorsWriter::file_size() const {
    return checked_add(static_cast<std::int64_t>(header_.size()), data_bytes_, "safetensors");
}

void SafetensorsWriter::write(const Sink& sink) const {
    sink(header_.data(), static_cast<std::int64_t>(header_.size()));
    for (const TensorToWrite& t : tensors_) {
        if (t.values.empty())
            sink(t.bytes.data(), static_cast<std::int64_t>(t.bytes.size()));
        else
            write_values(sink, t);
    }
}

void write_safetensors(const std::string& path, std::vector<TensorToWrite> tensors,
                       const Metadata& metadata) {
    const SafetensorsWriter writer(std::move(tensors), metadata);
    AtomicFile file(path, writer.file_size());
    writer.write([&](const void* data, std::int64_t bytes) { file.write(data, bytes); });
    file.publish();
}

}  // namespace fovea
