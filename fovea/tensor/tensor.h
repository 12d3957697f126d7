#pragma once
// A cheap handle to dense row-major data. Activations and gradients are f32; only weights may be
// stored as bf16, int8 or int7, and only linear, embedding and cached attention look at the format.
//
// Copying a Tensor copies the handle. Ops never write to their inputs; only the optimizer writes
// parameters (write() raises the version, by which packed forms are found stale).
// Thread-safe as shared_ptr is: distinct handles may be used from distinct threads as long as
// nobody writes.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fovea/base/format.h"
#include "fovea/base/view.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/shape.h"

namespace fovea {

class Tensor {
public:
    Tensor() = default;                   // no data: empty() is true
    explicit Tensor(const Shape& shape);  // NOT zeroed: the maker overwrites it
    static Tensor full(const Shape& shape, float value);
    static Tensor zeros(const Shape& shape) { return full(shape, 0.0f); }
    static Tensor of(const Shape& shape, std::span<const float> values);
    static Tensor of(const Shape& shape, std::initializer_list<float> values) {
        return of(shape, std::span<const float>(values.begin(), values.size()));
    }
    static Tensor scalar(float value) { return full({1}, value); }
    // A shape without data, for checks before memory is asked for: empty() is true.
    static Tensor shape_only(const Shape& shape);

    bool empty() const { return !storage_; }
    const Shape& shape() const;
    std::int64_t size() const { return storage_ ? shape_.size() : 0; }
    std::int64_t rows() const { return shape_.rows(); }
    std::int64_t cols() const { return shape_.cols(); }

    const float* data() const;  // f32 only
    float* write();             // for the maker of a new tensor and for the optimizer
    std::span<const float> span() const { return {data(), static_cast<std::size_t>(size())}; }
    std::vector<float> values() const { return {data(), data() + size()}; }
    float item() const;  // of a tensor of one element
    float at(std::int64_t row, std::int64_t col) const { return data()[row * cols() + col]; }

    operator ConstView() const { return {data(), rows(), cols()}; }
    View view() { return {write(), rows(), cols()}; }

    // The same data under another shape of the same size. Shares everything, id and version too.
    Tensor reshaped(const Shape& shape) const;

    // Weights only. Rounded to bf16, or to int8 or int7 with a scale per row (output channel); and
    // back to the f32 values that they stand for.
    Format format() const;
    Tensor to(Format format) const;
    static Tensor of_int8(const Shape& shape, std::span<const std::int8_t> values,
                          std::span<const float> scales);
    const std::uint16_t* bf16_data() const;
    const std::int8_t* int8_data() const;        // of int7 too
    std::span<const float> int8_scales() const;  // [rows]: value = int8 · scale[row]

    std::uint64_t id() const;       // never reused; 0 for an empty handle
    std::uint64_t version() const;  // raised by each write()

    // `hook(id)` runs when the data is freed, for whoever keeps something made from it by its id
    // (packed weights). One hook a tensor; setting the same again changes nothing.
    void on_release(void (*hook)(std::uint64_t id)) const;

    // Autograd's marks. A trainable tensor is a parameter: gradients are kept for it.
    bool trainable() const;
    void set_trainable(bool on);
    // A parameter that is looked up by rows: its gradient is kept for the rows that were looked up
    // alone (autograd/row_gradient.h), and the optimizer leaves the others as they are.
    bool row_sparse() const;
    void set_row_sparse(bool on);
    std::uint64_t tape() const;  // serial of the tape that recorded it, 0 for none
    void set_tape(std::uint64_t serial);

    // Which sample and which row of it each row is: carried from the positions (the only op that
    // knows sequences before attention) to dropout. Not set: rows are anonymous.
    const std::optional<Segments>& row_names() const;
    void set_row_names(const Segments& segments);

private:
    Tensor as_f32() const;

    struct Storage;
    std::shared_ptr<Storage> storage_;
    Shape shape_;
};

}  // namespace fovea
