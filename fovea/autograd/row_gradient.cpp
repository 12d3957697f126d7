#include "fovea/autograd/row_gradient.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <vector>

#include "fovea/base/threads.h"

namespace fovea {
namespace {

// Ids with their places, sorted by id: a radix sort of eleven bits at a time, as far as the largest
// id goes.
std::vector<std::uint64_t> sorted_with_places(const Ids& ids) {
    std::vector<std::uint64_t> keys(ids.size()), other(ids.size());
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto id = static_cast<std::uint32_t>(ids[i]);
        keys[i] = (static_cast<std::uint64_t>(id) << 32) | i;
        largest = std::max(largest, id);
    }
    for (int shift = 0; shift < 32 && (largest >> shift) > 0; shift += 11) {
        std::array<std::size_t, 2049> begin{};
        const auto digit = [&](std::uint64_t key) { return (key >> (32 + shift)) & 2047; };
        for (const std::uint64_t key : keys) ++begin[digit(key) + 1];
        for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
        for (const std::uint64_t key : keys) other[begin[digit(key)]++] = key;
        keys.swap(other);
    }
    return keys;
}

// The rows of `sum` [rows, values] become those of `wider`, which holds all of them; new ones are
// zero.
Tensor spread(const RowGradient& sum, const Ids& wider, std::int64_t cols) {
    Tensor to({static_cast<std::int64_t>(wider.size()), cols});
    float* out = to.write();
    const float* from = sum.values.data();
    std::size_t next = 0;
    for (const std::int32_t row : wider) {
        if (next < sum.rows.size() && sum.rows[next] == row) {
            std::memcpy(out, from + static_cast<std::int64_t>(next) * cols,
                        static_cast<std::size_t>(cols) * sizeof(float));
            ++next;
        } else {
            std::fill_n(out, cols, 0.0f);
        }
        out += cols;
    }
    return to;
}

Ids united(const Ids& a, const Ids& b) {
    Ids all;
    all.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

}  // namespace

RowsInto RowGradient::into(const Ids& ids, std::int64_t cols) {
    const std::vector<std::uint64_t> keys = sorted_with_places(ids);
    Ids looked_up;
    for (const std::uint64_t key : keys)
        if (const auto id = static_cast<std::int32_t>(key >> 32);
            looked_up.empty() || looked_up.back() != id)
            looked_up.push_back(id);
    const bool add = !values.empty();
    const Ids all = add ? united(rows, looked_up) : std::move(looked_up);
    values = add ? spread(*this, all, cols) : Tensor({static_cast<std::int64_t>(all.size()), cols});
    rows = all;
    RowsInto to{Ids(ids.size()), values.view(), add};
    std::int32_t row = 0;
    for (const std::uint64_t key : keys) {
        while (rows[static_cast<std::size_t>(row)] != static_cast<std::int32_t>(key >> 32)) ++row;
        to.places[key & 0xffffffffu] = row;
    }
    return to;
}

RowGradient& RowGradient::operator+=(const RowGradient& other) {
    const std::int64_t cols = values.cols();
    expect(other.values.cols() == cols, "gradients: rows of ", other.values.cols(),
           " cannot be added to rows of ", cols);
    const Ids all = united(rows, other.rows);
    Tensor sum = spread(*this, all, cols);
    const Tensor more = spread(other, all, cols);
    float* to = sum.write();
    const float* from = more.data();
    parallel_for(sum.size(), 1 << 15, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t i = b; i < e; ++i) to[i] += from[i];
    });
    rows = all;
    values = sum;
    return *this;
}

Tensor RowGradient::dense(const Shape& shape) const {
    Tensor all = Tensor::zeros(shape);
    const std::int64_t cols = shape.cols();
    float* to = all.write();
    for (std::size_t i = 0; i < rows.size(); ++i)
        std::memcpy(to + rows[i] * cols, values.data() + static_cast<std::int64_t>(i) * cols,
                    static_cast<std::size_t>(cols) * sizeof(float));
    return all;
}

}  // namespace fovea
