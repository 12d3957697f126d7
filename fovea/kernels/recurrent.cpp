#include "fovea/kernels/recurrent.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/gemm/gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/recurrent.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Some lanes of a row: all of a vector's, or the last few values.
struct CellLanes {
    using D = hn::ScalableTag<float>;
    using V = hn::Vec<D>;
    std::int64_t n;
    bool whole;

    HWY_INLINE V load(const float* p) const {
        return whole ? hn::LoadU(D(), p) : LoadSome(D(), p, n);
    }
    HWY_INLINE void store(V v, float* p) const {
        if (whole) {
            hn::StoreU(v, D(), p);
        } else {
            StoreSome(v, D(), p, n);
        }
    }
};
using CellVec = CellLanes::V;

HWY_INLINE CellVec OneMinus(CellVec v) { return hn::Sub(hn::Set(CellLanes::D(), 1.0f), v); }

// cell(lanes, j) for the values j, j + 1, … of a row of h.
template <class Cell>
HWY_INLINE void EachValue(std::int64_t h, const Cell& cell) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(CellLanes::D()));
    std::int64_t j = 0;
    for (; j + lanes <= h; j += lanes) cell(CellLanes{lanes, true}, j);
    if (j < h) cell(CellLanes{h - j, false}, j);
}

// Cho et al. 2014, in the form of Chung et al. that cuDNN and PyTorch compute (the reset gate
// after the product):
//   r = σ(x_r + z_r)   u = σ(x_u + z_u)   n = tanh(x_n + r z_n)   h' = (1 − u) n + u h
// with z = h W' + b. PyTorch calls u the update gate z. Kept: r, u, n, z_n.
struct GruRow {
    std::int64_t h;
    const float *x, *z, *before;
    float *y, *gates;

    HWY_INLINE void operator()(CellLanes at, std::int64_t j) const {
        const CellLanes::D d;
        const CellVec r = Sigmoid(d, hn::Add(at.load(x + j), at.load(z + j)));
        const CellVec u = Sigmoid(d, hn::Add(at.load(x + h + j), at.load(z + h + j)));
        const CellVec zn = at.load(z + 2 * h + j);
        const CellVec n = Tanh(d, Fma(r, zn, at.load(x + 2 * h + j)));
        // n + u (h − n)
        at.store(Fma(u, hn::Sub(at.load(before + j), n), n), y + j);
        if (!gates) return;
        at.store(r, gates + j);
        at.store(u, gates + h + j);
        at.store(n, gates + 2 * h + j);
        at.store(zn, gates + 3 * h + j);
    }
};

struct GruBackRow {
    std::int64_t h;
    const float *gates, *before, *dy;
    float *carry, *dx, *dz;

    HWY_INLINE void operator()(CellLanes at, std::int64_t j) const {
        const CellLanes::D d;
        const CellVec r = at.load(gates + j), u = at.load(gates + h + j),
                      n = at.load(gates + 2 * h + j), zn = at.load(gates + 3 * h + j);
        const CellVec dh = hn::Add(at.load(dy + j), at.load(carry + j));
        const CellVec du =
            hn::Mul(hn::Mul(dh, hn::Sub(at.load(before + j), n)), hn::Mul(u, OneMinus(u)));
        const CellVec dn = hn::Mul(hn::Mul(dh, OneMinus(u)), NegFma(n, n, hn::Set(d, 1.0f)));
        const CellVec dr = hn::Mul(hn::Mul(dn, zn), hn::Mul(r, OneMinus(r)));
        at.store(dr, dx + j);
        at.store(dr, dz + j);
        at.store(du, dx + h + j);
        at.store(du, dz + h + j);
        at.store(dn, dx + 2 * h + j);
        at.store(hn::Mul(dn, r), dz + 2 * h + j);
        at.store(hn::Mul(dh, u), carry + j);
    }
};

// Hochreiter & Schmidhuber 1997, with Gers's forget gate:
//   i, f, o = σ(x + z)   g = tanh(x_g + z_g)   c' = f c + i g   h' = o tanh c'
// Gates lie as i, f, g, o; a state is h | c. Kept: i, f, g, o.
struct LstmRow {
    std::int64_t h;
    const float *x, *z, *before;
    float *y, *gates;

    HWY_INLINE CellVec sum(CellLanes at, std::int64_t j) const {
        return hn::Add(at.load(x + j), at.load(z + j));
    }
    HWY_INLINE void operator()(CellLanes at, std::int64_t j) const {
        const CellLanes::D d;
        const CellVec i = Sigmoid(d, sum(at, j)), f = Sigmoid(d, sum(at, h + j)),
                      g = Tanh(d, sum(at, 2 * h + j)), o = Sigmoid(d, sum(at, 3 * h + j));
        const CellVec c = Fma(f, at.load(before + h + j), hn::Mul(i, g));
        at.store(hn::Mul(o, Tanh(d, c)), y + j);
        at.store(c, y + h + j);
        if (!gates) return;
        at.store(i, gates + j);
        at.store(f, gates + h + j);
        at.store(g, gates + 2 * h + j);
        at.store(o, gates + 3 * h + j);
    }
};

struct LstmBackRow {
    std::int64_t h;
    const float *gates, *before, *y, *dy;
    float *carry, *dx, *dz;

    HWY_INLINE void give(CellLanes at, CellVec v, std::int64_t j) const {
        at.store(v, dx + j);
        at.store(v, dz + j);
    }
    HWY_INLINE void operator()(CellLanes at, std::int64_t j) const {
        const CellLanes::D d;
        const CellVec i = at.load(gates + j), f = at.load(gates + h + j),
                      g = at.load(gates + 2 * h + j), o = at.load(gates + 3 * h + j);
        const CellVec one = hn::Set(d, 1.0f), tc = Tanh(d, at.load(y + h + j));
        const CellVec dh = hn::Add(at.load(dy + j), at.load(carry + j));
        const CellVec dc = Fma(hn::Mul(dh, o), NegFma(tc, tc, one),
                               hn::Add(at.load(dy + h + j), at.load(carry + h + j)));
        give(at, hn::Mul(hn::Mul(dc, g), hn::Mul(i, OneMinus(i))), j);
        give(at, hn::Mul(hn::Mul(dc, at.load(before + h + j)), hn::Mul(f, OneMinus(f))), h + j);
        give(at, hn::Mul(hn::Mul(dc, i), NegFma(g, g, one)), 2 * h + j);
        give(at, hn::Mul(hn::Mul(dh, tc), hn::Mul(o, OneMinus(o))), 3 * h + j);
        at.store(hn::Zero(d), carry + j);
        at.store(hn::Mul(dc, f), carry + h + j);
    }
};

void gru_row(std::int64_t h, const float* x, const float* z, const float* before, float* y,
             float* gates) {
    EachValue(h, GruRow{h, x, z, before, y, gates});
}
void lstm_row(std::int64_t h, const float* x, const float* z, const float* before, float* y,
              float* gates) {
    EachValue(h, LstmRow{h, x, z, before, y, gates});
}
void gru_back_row(std::int64_t h, const float* gates, const float* before, const float*,
                  const float* dy, float* carry, float* dx, float* dz) {
    EachValue(h, GruBackRow{h, gates, before, dy, carry, dx, dz});
}
void lstm_back_row(std::int64_t h, const float* gates, const float* before, const float* y,
                   const float* dy, float* carry, float* dx, float* dz) {
    EachValue(h, LstmBackRow{h, gates, before, y, dy, carry, dx, dz});
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(gru_row);
HWY_EXPORT(lstm_row);
HWY_EXPORT(gru_back_row);
HWY_EXPORT(lstm_back_row);

using CellRow = void (*)(std::int64_t, const float*, const float*, const float*, float*, float*);
using CellBackRow = void (*)(std::int64_t, const float*, const float*, const float*, const float*,
                             float*, float*, float*);

// Rows of `block` whose first columns are h.
ConstView hidden_of(ConstView block, std::int64_t h) { return block.block(0, block.rows, 0, h); }

void forward(const TimeSteps& time, const RecurrentForward& to, CellRow cell) {
    const std::int64_t h = to.w->k(), gates = to.w->n(), state = to.y.cols;
    if (time.steps() == 0) return;
    for (std::int64_t i = 0; i < time.alive(0); ++i) {
        if (to.start.data)
            std::copy_n(to.start.row(time.order[static_cast<std::size_t>(i)]), state,
                        to.before.row(i));
        else
            std::fill_n(to.before.row(i), state, 0.0f);
    }
    thread_local AlignedBuffer products;
    const View z(products.reserve<float>(time.alive(0) * gates), time.alive(0), gates);
    for (std::int64_t t = 0; t < time.steps(); ++t) {
        const std::int64_t first = time.first[static_cast<std::size_t>(t)], n = time.alive(t);
        const std::int64_t later = t + 1 < time.steps() ? time.alive(t + 1) : 0;
        const View before = to.before.block(first, first + n, 0, state);
        gemm_packed(hidden_of(before, h), *to.w, z.block(0, n, 0, gates), {.bias = to.bias});
        parallel_for(n, rows_per_piece(4 * h), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t row = time.row(i, t);
                cell(h, to.x.row(row), z.row(i), before.row(i), to.y.row(row),
                     to.gates ? to.gates + (first + i) * 4 * h : nullptr);
                if (i < later) std::copy_n(to.y.row(row), state, to.before.row(first + n + i));
            }
        });
    }
}

void backward(const TimeSteps& time, const RecurrentBackward& to, CellBackRow cell) {
    const std::int64_t h = to.w->n(), gates = to.w->k();
    const View carry = to.dstart;
    fill(carry.data, 0.0f, carry.size());
    for (std::int64_t t = time.steps(); t-- > 0;) {
        const std::int64_t first = time.first[static_cast<std::size_t>(t)], n = time.alive(t);
        parallel_for(n, rows_per_piece(4 * h), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const std::int64_t row = time.row(i, t);
                cell(h, to.gates + (first + i) * 4 * h, to.before.row(first + i), to.y.row(row),
                     to.dy.row(row), carry.row(i), to.dx.row(row), to.dz.row(first + i));
            }
        });
        gemm_packed(to.dz.block(first, first + n, 0, gates), *to.w, carry.block(0, n, 0, h),
                    {.accumulate = true});
    }
}

}  // namespace

TimeSteps::TimeSteps(std::span<const std::int64_t> offsets, bool from_the_end)
    : order(offsets.size() - 1), backwards(from_the_end) {
    std::iota(order.begin(), order.end(), 0);
    const auto length = [&](std::int64_t s) {
        return offsets[static_cast<std::size_t>(s) + 1] - offsets[static_cast<std::size_t>(s)];
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return length(a) > length(b); });
    for (const std::int64_t s : order) {
        begins.push_back(offsets[static_cast<std::size_t>(s)]);
        ends.push_back(offsets[static_cast<std::size_t>(s) + 1]);
    }
    first.push_back(0);
    std::size_t alive = order.size();
    for (std::int64_t t = 0;; ++t) {
        while (alive > 0 && ends[alive - 1] - begins[alive - 1] <= t) --alive;
        if (alive == 0) break;
        first.push_back(first.back() + static_cast<std::int64_t>(alive));
    }
}

void gru_forward(const TimeSteps& time, const RecurrentForward& to) {
    forward(time, to, FOVEA_DISPATCH(gru_row));
}
void gru_backward(const TimeSteps& time, const RecurrentBackward& to) {
    backward(time, to, FOVEA_DISPATCH(gru_back_row));
}
void lstm_forward(const TimeSteps& time, const RecurrentForward& to) {
    forward(time, to, FOVEA_DISPATCH(lstm_row));
}
void lstm_backward(const TimeSteps& time, const RecurrentBackward& to) {
    backward(time, to, FOVEA_DISPATCH(lstm_back_row));
}

}  // namespace fovea::kernels
#endif
