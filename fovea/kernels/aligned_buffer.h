#pragma once
// Raw memory for packed operands: 64-byte aligned, never zeroed, huge pages where large. Grows
// only.
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fovea::kernels {

class AlignedBuffer {
public:
    // Memory for at least `count` values of T; what it held before is lost when it grows.
    template <class T>
    T* reserve(std::int64_t count) {
        grow(static_cast<std::size_t>(count) * sizeof(T));
        return static_cast<T*>(data_.get());
    }
    template <class T>
    T* as() const {
        return static_cast<T*>(data_.get());
    }
    std::size_t bytes() const { return bytes_; }

private:
    void grow(std::size_t bytes);
    struct Free {
        void operator()(void* p) const;
    };
    std::unique_ptr<void, Free> data_;
    std::size_t bytes_ = 0;
};

}  // namespace fovea::kernels
