#include "fovea/tensor/tensor.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "fovea/tensor/memory.h"

namespace fovea {
namespace {

std::atomic<std::uint64_t> next_id{1};

std::uint16_t round_to_bf16(float x) {  // to nearest, ties to even; NaN stays NaN
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    if ((bits & 0x7f800000u) == 0)
        return static_cast<std::uint16_t>((bits >> 16) & 0x8000u);  // flushed
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

std::int64_t bytes_of(Format format, const Shape& shape) {
    const std::int64_t n = shape.size();
    switch (format) {
        case Format::f32:
            return checked_mul(n, 4);
        case Format::bf16:
            return checked_mul(n, 2);
        case Format::int8:
        case Format::int7:
            return checked_add(round_up(n, 64), checked_mul(shape.rows(), 4));
    }
    return 0;
}

}  // namespace

struct Tensor::Storage {
    Storage(Format f, const Shape& s)
        : format(f), bytes(bytes_of(f, s)), data(detail::allocate_block(bytes)) {}
    ~Storage() {
        if (void (*hook)(std::uint64_t) = on_release.load(std::memory_order_relaxed)) hook(id);
        detail::release_block(data, bytes);
    }
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    Format format;
    bool trainable = false;
    bool row_sparse = false;
    std::int64_t bytes;
    void* data;
    std::uint64_t id = next_id.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t version = 0;
    std::uint64_t tape = 0;
    std::atomic<void (*)(std::uint64_t)> on_release{nullptr};  // set by readers: any thread
    std::optional<Segments> row_names;
};

Tensor::Tensor(const Shape& shape)
    : storage_(std::make_shared<Storage>(Format::f32, shape)), shape_(shape) {
    expect(shape.rank() > 0, "tensor: a shape of rank 0 (use {1} for a scalar)");
}

Tensor Tensor::full(const Shape& shape, float value) {
    Tensor t(shape);
    std::fill_n(t.write(), t.size(), value);
    return t;
}

Tensor Tensor::of(const Shape& shape, std::span<const float> values) {
    expect(shape.size() == static_cast<std::int64_t>(values.size()), "tensor: ", values.size(),
           " values for the shape ", shape);
    Tensor t(shape);
    std::copy(values.begin(), values.end(), t.write());
    return t;
}

Tensor Tensor::shape_only(const Shape& shape) {
    Tensor t;
    t.shape_ = shape;
    return t;
}

const Shape& Tensor::shape() const { return shape_; }

const float* Tensor::data() const {
    if (!storage_) return nullptr;
    expect(storage_->format == Format::f32, "tensor: f32 data wanted, but ", shape_,
           " is stored as ", name_of(storage_->format));
    return static_cast<const float*>(storage_->data);
}

float* Tensor::write() {
    if (!storage_) return nullptr;
    expect(storage_->format == Format::f32, "tensor: only f32 data is written, but ", shape_,
           " is stored as ", name_of(storage_->format));
    ++storage_->version;
    return static_cast<float*>(storage_->data);
}

float Tensor::item() const {
    expect(size() == 1, "item: the tensor is ", shape_, " but must have one element");
    return data()[0];
}

Tensor Tensor::reshaped(const Shape& shape) const {
    expect(shape.size() == shape_.size(), "reshape: ", shape_, " cannot become ", shape);
    Tensor t = *this;
    t.shape_ = shape;
    return t;
}

Format Tensor::format() const { return storage_ ? storage_->format : Format::f32; }

Tensor Tensor::to(Format format) const {
    if (format == this->format()) return *this;
    if (format == Format::f32) return as_f32();
    expect(this->format() == Format::f32, "tensor: only f32 can be rounded, not ",
           name_of(this->format()));
    Tensor t;
    t.shape_ = shape_;
    t.storage_ = std::make_shared<Storage>(format, shape_);
    const float* from = data();
    if (format == Format::bf16) {
        std::transform(from, from + size(), static_cast<std::uint16_t*>(t.storage_->data),
                       round_to_bf16);
        return t;
    }
    auto* to = static_cast<std::int8_t*>(t.storage_->data);
    auto* scales = reinterpret_cast<float*>(to + round_up(size(), 64));
    const float levels = levels_of(format);
    for (std::int64_t r = 0; r < rows(); ++r) {
        float largest = 0;
        for (std::int64_t c = 0; c < cols(); ++c)
            largest = std::max(largest, std::fabs(from[r * cols() + c]));
        const float scale = largest / levels, inverse = largest > 0 ? levels / largest : 0.0f;
        scales[r] = scale;
        for (std::int64_t c = 0; c < cols(); ++c)
            to[r * cols() + c] =
                static_cast<std::int8_t>(std::nearbyintf(from[r * cols() + c] * inverse));
    }
    return t;
}

Tensor Tensor::of_int8(const Shape& shape, std::span<const std::int8_t> values,
                       std::span<const float> scales) {
    expect(shape.size() == static_cast<std::int64_t>(values.size()) &&
               shape.rows() == static_cast<std::int64_t>(scales.size()),
           "tensor: ", values.size(), " values and ", scales.size(), " scales for the shape ",
           shape);
    Tensor t;
    t.shape_ = shape;
    t.storage_ = std::make_shared<Storage>(Format::int8, shape);
    auto* to = static_cast<std::int8_t*>(t.storage_->data);
    std::copy(values.begin(), values.end(), to);
    std::copy(scales.begin(), scales.end(),
              reinterpret_cast<float*>(to + round_up(shape.size(), 64)));
    return t;
}

Tensor Tensor::as_f32() const {
    Tensor t(shape_);
    float* to = t.write();
    if (format() == Format::bf16) {
        std::transform(bf16_data(), bf16_data() + size(), to, [](std::uint16_t b) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
        });
        return t;
    }
    const std::span<const float> scales = int8_scales();
    for (std::int64_t i = 0; i < size(); ++i)
        to[i] = static_cast<float>(int8_data()[i]) * scales[static_cast<std::size_t>(i / cols())];
    return t;
}

const std::uint16_t* Tensor::bf16_data() const {
    expect(format() == Format::bf16, "tensor: bf16 data wanted, but it is ", name_of(format()));
    return static_cast<const std::uint16_t*>(storage_->data);
}

const std::int8_t* Tensor::int8_data() const {
    expect(is_whole(format()), "tensor: int8 data wanted, but it is ", name_of(format()));
    return static_cast<const std::int8_t*>(storage_->data);
}

std::span<const float> Tensor::int8_scales() const {
    return {reinterpret_cast<const float*>(int8_data() + round_up(size(), 64)),
            static_cast<std::size_t>(rows())};
}

std::uint64_t Tensor::id() const { return storage_ ? storage_->id : 0; }
std::uint64_t Tensor::version() const { return storage_ ? storage_->version : 0; }
bool Tensor::trainable() const { return storage_ && storage_->trainable; }

void Tensor::set_trainable(bool on) {
    expect(!empty(), "tensor: an empty tensor cannot be trainable");
    expect(!on || format() == Format::f32, "tensor: weights stored as ", name_of(format()),
           " cannot be trained, only f32");
    storage_->trainable = on;
}

bool Tensor::row_sparse() const { return storage_ && storage_->row_sparse; }

void Tensor::set_row_sparse(bool on) {
    expect(!empty(), "tensor: an empty tensor has no rows to be looked up");
    storage_->row_sparse = on;
}

void Tensor::on_release(void (*hook)(std::uint64_t id)) const {
    expect(!empty(), "tensor: an empty tensor is never freed");
    storage_->on_release.store(hook, std::memory_order_relaxed);
}

std::uint64_t Tensor::tape() const { return storage_ ? storage_->tape : 0; }
void Tensor::set_tape(std::uint64_t serial) { storage_->tape = serial; }

const std::optional<Segments>& Tensor::row_names() const {
    static const std::optional<Segments> none;
    return storage_ ? storage_->row_names : none;
}

void Tensor::set_row_names(const Segments& segments) {
    expect(segments.total() == rows(), "tensor: names for ", segments.total(), " rows, but it has ",
           rows());
    storage_->row_names = segments;
}

}  // namespace fovea
