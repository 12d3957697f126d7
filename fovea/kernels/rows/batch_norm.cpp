#include "fovea/kernels/rows/batch_norm.h"

#include <algorithm>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/batch_norm.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct PlusValue {
    template <class D, class V>
    HWY_INLINE V operator()(D, V sum, V x) const {
        return hn::Add(sum, x);
    }
};
struct PlusSquare {
    template <class D, class V>
    HWY_INLINE V operator()(D, V sum, V x, V mean) const {
        const V c = hn::Sub(x, mean);
        return Fma(c, c, sum);
    }
};
struct PlusDot {
    template <class D, class V>
    HWY_INLINE V operator()(D, V sum, V x, V mean, V dy) const {
        return Fma(dy, hn::Sub(x, mean), sum);
    }
};
struct ScaleColumns {
    template <class D, class V>
    HWY_INLINE V operator()(D, V x, V mean, V factor, V beta) const {
        return Fma(hn::Sub(x, mean), factor, beta);
    }
};
struct CentredGradient {
    template <class D, class V>
    HWY_INLINE V operator()(D, V dy, V x, V mean, V factor, V a, V b) const {
        return hn::Mul(factor, NegFma(hn::Sub(x, mean), b, hn::Sub(dy, a)));
    }
};

void add_values(const float* x, float* sum, std::int64_t n) { Map(n, sum, PlusValue(), sum, x); }
void add_squares(const float* x, const float* mean, float* sum, std::int64_t n) {
    Map(n, sum, PlusSquare(), sum, x, mean);
}
void add_dots(const float* x, const float* mean, const float* dy, float* sum, std::int64_t n) {
    Map(n, sum, PlusDot(), sum, x, mean, dy);
}
void scale_columns_row(const float* x, const float* mean, const float* factor, const float* beta,
                       float* y, std::int64_t n) {
    Map(n, y, ScaleColumns(), x, mean, factor, beta);
}
void centred_gradient_row(const float* dy, const float* x, const float* mean, const float* factor,
                          const float* a, const float* b, float* dx, std::int64_t n, bool add) {
    MapInto(add, n, dx, CentredGradient(), dy, x, mean, factor, a, b);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(add_values);
HWY_EXPORT(add_squares);
HWY_EXPORT(add_dots);
HWY_EXPORT(scale_columns_row);
HWY_EXPORT(centred_gradient_row);

constexpr std::int64_t chunk_rows = 64;

// out[j] = Σᵢ of what add_row(i, sum) adds to the columns of `sum`.
template <class AddRow>
void sum_over_rows(std::int64_t rows, std::int64_t cols, float* partial, float* out,
                   const AddRow& add_row) {
    const std::int64_t chunks = ceil_div(rows, chunk_rows);
    parallel_for(chunks, 1, [&](std::int64_t c, std::int64_t) {
        float* sum = partial + c * cols;
        std::fill_n(sum, cols, 0.0f);
        for (std::int64_t i = c * chunk_rows; i < std::min(rows, (c + 1) * chunk_rows); ++i)
            add_row(i, sum);
    });
    for (std::int64_t step = 1; step < chunks; step *= 2)
        for (std::int64_t c = 0; c + step < chunks; c += 2 * step)
            add(partial + c * cols, partial + (c + step) * cols, partial + c * cols, cols);
    std::copy_n(partial, cols, out);
}
}  // namespace

std::int64_t column_partial_size(std::int64_t rows, std::int64_t cols) {
    return std::max<std::int64_t>(1, ceil_div(rows, chunk_rows)) * cols;
}

void column_statistics(ConstView x, float* mean, float* variance, float* partial) {
    const auto values = FOVEA_DISPATCH(add_values);
    const auto squares = FOVEA_DISPATCH(add_squares);
    const float share = 1.0f / static_cast<float>(x.rows);
    sum_over_rows(x.rows, x.cols, partial, mean,
                  [&](std::int64_t i, float* sum) { values(x.row(i), sum, x.cols); });
    scale(mean, share, mean, x.cols);
    sum_over_rows(x.rows, x.cols, partial, variance,
                  [&](std::int64_t i, float* sum) { squares(x.row(i), mean, sum, x.cols); });
    scale(variance, share, variance, x.cols);
}

void scale_columns(ConstView x, const float* mean, const float* factor, const float* beta, View y) {
    const auto one_row = FOVEA_DISPATCH(scale_columns_row);
    parallel_for(x.rows, rows_per_piece(x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            one_row(x.row(i), mean, factor, beta, y.row(i), x.cols);
    });
}

void column_gradients(ConstView dy, ConstView x, const float* mean, float* dbeta, float* dot,
                      float* partial) {
    const auto values = FOVEA_DISPATCH(add_values);
    const auto dots = FOVEA_DISPATCH(add_dots);
    sum_over_rows(x.rows, x.cols, partial, dbeta,
                  [&](std::int64_t i, float* sum) { values(dy.row(i), sum, x.cols); });
    sum_over_rows(x.rows, x.cols, partial, dot, [&](std::int64_t i, float* sum) {
        dots(x.row(i), mean, dy.row(i), sum, x.cols);
    });
}

void centred_gradient(ConstView dy, ConstView x, const float* mean, const float* factor,
                      const float* a, const float* b, View dx, bool accumulate) {
    const auto one_row = FOVEA_DISPATCH(centred_gradient_row);
    parallel_for(x.rows, rows_per_piece(x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            one_row(dy.row(i), x.row(i), mean, factor, a, b, dx.row(i), x.cols, accumulate);
    });
}

}  // namespace fovea::kernels
#endif
