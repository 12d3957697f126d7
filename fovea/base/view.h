#pragma once
// Raw views: what kernels take. A view owns nothing and checks nothing; Tensor converts to it.
#include <cstdint>

namespace fovea {

template <class T>
struct BasicView {
    T* data = nullptr;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t stride = 0;  // elements from one row to the next, >= cols

    BasicView() = default;
    BasicView(T* d, std::int64_t r, std::int64_t c) : data(d), rows(r), cols(c), stride(c) {}
    BasicView(T* d, std::int64_t r, std::int64_t c, std::int64_t s)
        : data(d), rows(r), cols(c), stride(s) {}

    T* row(std::int64_t i) const { return data + i * stride; }
    std::int64_t size() const { return rows * cols; }
    bool dense() const { return stride == cols; }
    // rows [r0, r1) and columns [c0, c1) of this view
    BasicView block(std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) const {
        return {data + r0 * stride + c0, r1 - r0, c1 - c0, stride};
    }
    operator BasicView<const T>() const { return {data, rows, cols, stride}; }
};

using View = BasicView<float>;             // written
using ConstView = BasicView<const float>;  // read

}  // namespace fovea
