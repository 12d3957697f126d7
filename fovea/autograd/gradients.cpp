#include "fovea/autograd/gradients.h"

#include <algorithm>

#include "fovea/base/threads.h"

namespace fovea {
namespace {

void add_in_place(Tensor& to, const Tensor& from) {
    expect(to.size() == from.size(), "gradients: ", from.shape(), " cannot be added to ",
           to.shape());
    float* t = to.write();
    const float* f = from.data();
    parallel_for(to.size(), 1 << 15, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t i = b; i < e; ++i) t[i] += f[i];
    });
}

}  // namespace

Tensor& Gradients::own(Entry& e) {
    Tensor& value = e.rows ? e.rows->values : e.value;
    if (e.shared) {
        value = Tensor::of(value.shape(), value.span());
        e.shared = false;
    }
    return value;
}

void Gradients::make_dense(Entry& e, const Shape& shape) {
    if (e.rows) e = {e.rows->dense(shape), false};
}

Into Gradients::into(const GradTarget& x) {
    const auto [it, fresh] = entries_.try_emplace(x.id);
    if (fresh) it->second.value = Tensor(x.shape);
    make_dense(it->second, x.shape);
    // As x is shaped: whoever came first may have had another shape of the same tensor in hand.
    return {{own(it->second).write(), x.rows(), x.cols()}, !fresh};
}

bool Gradients::takes_rows(const GradTarget& x) const {
    if (!x.row_sparse || !x.trainable) return false;
    const auto it = entries_.find(x.id);
    return it == entries_.end() || it->second.rows.has_value();
}

RowsInto Gradients::into_rows(const GradTarget& x, const Ids& ids) {
    expect(takes_rows(x), "gradients: that of ", x.shape, " is not kept by rows");
    const auto [it, fresh] = entries_.try_emplace(x.id);
    if (fresh) it->second.rows.emplace();
    return it->second.rows->into(ids, x.cols());
}

void Gradients::add(const GradTarget& x, const Tensor& dx) {
    expect(x.shape.size() == dx.size(), "gradients: ", dx.shape(), " for a tensor of ", x.shape);
    const auto [it, fresh] = entries_.try_emplace(x.id);
    if (fresh) {
        it->second = {dx.shape() == x.shape ? dx : dx.reshaped(x.shape), true};
    } else {
        make_dense(it->second, x.shape);
        add_in_place(own(it->second), dx);
    }
}

Tensor Gradients::operator[](const Tensor& x) const {
    const auto it = entries_.find(x.id());
    if (it == entries_.end()) return Tensor::zeros(x.shape());
    if (it->second.rows) return it->second.rows->dense(x.shape());
    return it->second.value.reshaped(x.shape());
}

const RowGradient* Gradients::rows(const Tensor& x) const {
    const auto it = entries_.find(x.id());
    return it != entries_.end() && it->second.rows ? &*it->second.rows : nullptr;
}

Tensor& Gradients::at(const Tensor& x) {
    const auto it = entries_.find(x.id());
    expect(it != entries_.end(), "gradients: none for the tensor of ", x.shape());
    return own(it->second);
}

Gradients& Gradients::operator+=(const Gradients& other) {
    for (const auto& [id, entry] : other.entries_) {
        const auto [it, fresh] = entries_.try_emplace(id);
        if (fresh) {
            it->second = {entry.value, true, entry.rows};
            continue;
        }
        Entry& to = it->second;
        if (to.rows && entry.rows) {
            *to.rows += *entry.rows;
        } else if (to.rows) {
            make_dense(to, entry.value.shape());
            add_in_place(to.value, entry.value);
        } else {
            add_in_place(own(to), entry.rows ? entry.rows->dense(to.value.shape()) : entry.value);
        }
    }
    return *this;
}

Tensor Gradients::take(std::uint64_t id) {
    const auto it = entries_.find(id);
    if (it == entries_.end()) return {};
    Tensor t = std::move(it->second.value);
    entries_.erase(it);
    return t;
}

}  // namespace fovea
