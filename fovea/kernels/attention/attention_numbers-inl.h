// The kinds of numbers the kernel is a template over: tile sizes, how operands are stored, and the
// three products on them. (AMX's is in attention_amx-inl.h.)
//
//     Store       rows x_j of keys, values or distances, put in one by one; rows(first) is what
//                 Dots and Mix take, x_0 being row `first`
//     queries     a tile of query rows as Dots takes it, lanes are rows (pack_queries)
//     query rows  the same row by row, as Outer takes it (pack_query_rows)
//     weights     a tile P [keys][kQueries] of weights or gradients, as Mix and Outer take it
//     (weigh)
#if defined(FOVEA_KERNELS_ATTENTION_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_NUMBERS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_NUMBERS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_NUMBERS_INL_H_
#endif

#include <cstdint>

#include "fovea/base/checked.h"
#include "fovea/base/view.h"
#include "fovea/kernels/attention/attention_bf16-inl.h"
#include "fovea/kernels/attention/attention_driver.h"
#include "fovea/kernels/attention/attention_layout-inl.h"
#include "fovea/kernels/attention/attention_products-inl.h"
#include "fovea/kernels/bf16-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Which of a thread's buffers a Store lives in.
struct StoreUses {
    AttentionScratch::Use values, columns, rows;
};
inline constexpr StoreUses kKeyStore{AttentionScratch::keys, AttentionScratch::keys_columns,
                                     AttentionScratch::key_rows};
inline constexpr StoreUses kValueStore{AttentionScratch::values, AttentionScratch::values_columns,
                                       AttentionScratch::value_rows};
inline constexpr StoreUses kTableStore{AttentionScratch::table, AttentionScratch::table_columns,
                                       AttentionScratch::table_rows};

// What a store's rows are needed for, beyond Dots.
enum class Needs { dots, dots_and_mix, mix };

// The gradient of a tile's products into what they are packed from: widths are whole vectors.
inline std::int64_t GradientWidth(std::int64_t d) { return round_up(d, std::int64_t{16}); }

template <bool Rounded>
inline void RoundRows(float* x, std::int64_t n) {
    if constexpr (Rounded) {
        const FloatTag d;
        for (std::int64_t i = 0; i < n; i += kLanes)
            hn::Store(RoundToBf16(d, hn::Load(d, x + i)), d, x + i);
    }
}

// f32 arithmetic; Rounded: on values rounded to bf16, in AMX's order.
template <bool Rounded>
struct FloatNumbers {
    // The key tile decides bits, the query tile does not (but for bf16's blocks of 32 queries).
    static constexpr int kKeys = Rounded ? 128 : 64;
    static constexpr int kQueries = Rounded ? 32 : 48;
    static constexpr bool kInPlace = !Rounded;
    using Careful = FloatNumbers;
    using Value = float;
    using Rows = const float* const*;
    using Weights = const float*;
    struct Session {};  // nothing to set up before products

    static std::int64_t depth(std::int64_t d) {
        return Rounded ? round_up(d, std::int64_t{32}) : d;
    }

    class Store {
    public:
        Store(std::int64_t rows, std::int64_t width, Needs, bool in_place, const StoreUses& uses,
              AttentionScratch& scratch)
            : width_(width), stride_(depth(width)) {
            rows_ = scratch.take<const float*>(uses.rows, rows);
            if (!in_place) values_ = scratch.floats(uses.values, rows * stride_ + kLanes);
        }
        void put(std::int64_t row, const float* from) {
            if (!values_) {
                rows_[row] = from;
                return;
            }
            float* to = values_ + row * stride_;
            PackRow(from, width_, stride_, to);
            if constexpr (Rounded) RoundRows<true>(to, stride_);
            rows_[row] = to;
        }
        void finish(std::int64_t) {}
        Rows rows(std::int64_t first) const { return rows_ + first; }

    private:
        std::int64_t width_, stride_;
        const float** rows_;
        float* values_ = nullptr;
    };

    static std::int64_t query_values(std::int64_t d) { return depth(d) * kQueries; }
    static void pack_queries(ConstView rows, const float* plus, int vectors, float* to) {
        PackColumns(rows, plus, vectors, kQueries, to);
        if constexpr (Rounded) {
            std::fill_n(to + rows.cols * kQueries, (depth(rows.cols) - rows.cols) * kQueries, 0.0f);
            RoundRows<true>(to, rows.cols * kQueries);
        }
    }

    static std::int64_t query_row_values(std::int64_t d) { return GradientWidth(d) * kQueries; }
    static void pack_query_rows(ConstView rows, const float* plus, float* to) {
        const std::int64_t width = GradientWidth(rows.cols);
        for (std::int64_t r = 0; r < rows.rows; ++r) {
            PackRow(rows.row(r), rows.cols, width, to + r * width);
            if (plus)
                for (std::int64_t e = 0; e < rows.cols; ++e) to[r * width + e] += plus[e];
        }
        RoundRows<Rounded>(to, rows.rows * width);
    }

    static Weights weigh(const float* p, int begin, int end, int vectors, Needs,
                         AttentionScratch& scratch) {
        if constexpr (!Rounded) return p;
        const FloatTag d;
        float* to = scratch.floats(AttentionScratch::weight_columns, std::int64_t{end} * kQueries);
        for (int j = begin; j < end; ++j)
            for (int n = 0; n < vectors; ++n) {
                const int at = j * kQueries + n * kLanes;
                hn::Store(RoundToBf16(d, hn::Load(d, p + at)), d, to + at);
            }
        return to;
    }

    // `d`: elements of a row, unpadded, here and below.
    static void dots(Rows x, int begin, int end, std::int64_t d, const float* q, int vectors,
                     float* s) {
        if constexpr (Rounded)
            Bf16Dots(x, begin, end, depth(d), q, kQueries, vectors, s);
        else
            Dots(x, begin, end, d, q, kQueries, vectors, s);
    }
    template <bool Careful_>
    static void mix(Rows x, int begin, int end, std::int64_t d, Weights p, Found found,
                    const float* alpha, int vectors, float* o) {
        if constexpr (Rounded)
            Bf16Mix<Careful_>(x, begin, end, d, p, kQueries, found, alpha, vectors, o);
        else
            Mix<Careful_>(x, begin, end, d, p, kQueries, found, alpha, vectors, o);
    }
    // y: row 0 of the tile the weights belong to, GradientWidth(d) apart.
    template <bool Careful_>
    static void outer(Weights p, int begin, int end, int count, const float* z, std::int64_t d,
                      float* y) {
        const std::int64_t width = GradientWidth(d);
        const float* from = p + begin * kQueries;
        if constexpr (Rounded)
            Bf16Outer<Careful_>(from, kQueries, end - begin, count, z, width, width,
                                y + begin * width, width);
        else
            Outer<Careful_>(from, kQueries, end - begin, count, z, width, width, y + begin * width,
                            width);
    }
};

using F32 = FloatNumbers<false>;
using Bf16Numbers = FloatNumbers<true>;

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
