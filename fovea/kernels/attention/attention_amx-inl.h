// The numbers of attention_numbers-inl.h on AMX tiles: bit for bit those of Bf16Numbers. Tiles are
// 16 x 16 sums, fed by 16 rows x 32 bf16 (A) and 16 pairs of rows x 16 columns (B):
//
//     Dots    S [16 keys, 16 queries]    += K [16 keys, 32 e]      · Q [32 e, 16 queries]
//     Mix     O [16 columns, 16 queries] += Vᵀ [16 columns, 32 keys] · P [32 keys, 16 queries]
//     Outer   dV [16 keys, 16 columns]   += P [16 keys, 32 queries] · dO [32 queries, 16 columns]
//
// so that lanes are queries here too. Two rows side by side in the words of one are "pairs": what B
// wants, and half of a transposition.
#if defined(FOVEA_KERNELS_ATTENTION_AMX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#undef FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_AMX_INL_H_
#endif

#include <cassert>
#include <cstdint>
#include <cstring>

#include "fovea/kernels/attention/attention-inl.h"
#include "fovea/kernels/attention/attention_numbers-inl.h"
#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/gemm/amx_tiles.h"
#include "fovea/kernels/transpose-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Machine>
struct AmxNumbers {
    static constexpr int kKeys = Bf16Numbers::kKeys, kQueries = Bf16Numbers::kQueries;
    static constexpr bool kInPlace = false;
    using Careful = Bf16Numbers;
    using Value = Bf16;

    struct Session {
        Session() { Machine::configure(); }
        ~Session() { Machine::release(); }
        Session(const Session&) = delete;
        Session& operator=(const Session&) = delete;
    };

    static std::int64_t depth(std::int64_t d) { return round_up(d, std::int64_t{32}); }

    struct Rows {
        const Bf16* rows = nullptr;     // [row][depth]
        const Bf16* columns = nullptr;  // [block of kKeys rows][GradientWidth][kKeys]
        std::int64_t row_stride = 0, column_count = 0;
    };

    class Store {
    public:
        Store(std::int64_t rows, std::int64_t width, Needs needs, bool, const StoreUses& uses,
              AttentionScratch& scratch)
            : width_(width), scratch_(scratch) {
            const std::int64_t n = round_up(rows, std::int64_t{kKeys});
            from_ = scratch.take<const float*>(uses.rows, n);
            rows_.row_stride = depth(width);
            rows_.column_count = GradientWidth(width);
            if (needs != Needs::mix)
                rows_.rows = out_ = scratch.take<Bf16>(uses.values, n * rows_.row_stride);
            if (needs != Needs::dots)
                rows_.columns = out_columns_ =
                    scratch.take<Bf16>(uses.columns, n * rows_.column_count);
        }
        void put(std::int64_t row, const float* from) { from_[row] = from; }
        void finish(std::int64_t used) {
            if (out_)
                for (std::int64_t r = 0; r < round_up(used, std::int64_t{16}); ++r) {
                    Bf16* to = out_ + r * rows_.row_stride;
                    const std::int64_t n = r < used ? width_ : 0;
                    if (n > 0) ToBf16Row(from_[r], n, to);
                    std::fill_n(to + n, rows_.row_stride - n, Bf16{0});
                }
            if (!out_columns_) return;
            // A block of pairs on its way into columns. Taken now: another store that is wider may
            // have let the same memory grow, and move, since this one was made.
            const std::int64_t stride = rows_.column_count;
            auto* pairs =
                scratch_.take<std::uint32_t>(AttentionScratch::packing, kKeys / 2 * stride);
            for (std::int64_t first = 0; first < used; first += kKeys) {
                for (std::int64_t r = first; r < first + kKeys; r += 2)
                    PairRowsPadded(r < used ? from_[r] : nullptr,
                                   r + 1 < used ? from_[r + 1] : nullptr, width_, stride,
                                   pairs + (r - first) / 2 * stride);
                auto* to = reinterpret_cast<float*>(out_columns_ + first * stride);
                Transpose(reinterpret_cast<const float*>(pairs), stride, kKeys / 2, stride, to,
                          kKeys / 2);
            }
        }
        // first: a multiple of kKeys.
        Rows rows(std::int64_t first) const {
            Rows r = rows_;
            if (r.rows) r.rows += first * r.row_stride;
            if (r.columns) r.columns += first * r.column_count;
            return r;
        }

    private:
        std::int64_t width_;
        AttentionScratch& scratch_;
        const float** from_;
        Bf16 *out_ = nullptr, *out_columns_ = nullptr;
        Rows rows_;
    };

    // Queries as pairs of elements: [depth / 2][kQueries] words.
    static std::int64_t query_values(std::int64_t d) { return 2 * depth(d) * kQueries; }
    static void pack_queries(ConstView rows, const float* plus, int, Bf16* to) {
        const std::int64_t n = rows.cols, all = depth(n);
        Bf16* side = to + all * kQueries;  // the rows before they are turned
        float sum[16];
        for (std::int64_t r = 0; r < kQueries; ++r) {
            Bf16* row = side + r * all;
            const std::int64_t have = r < rows.rows ? n : 0;
            if (have > 0 && !plus) ToBf16Row(rows.row(r), n, row);
            if (have > 0 && plus)
                for (std::int64_t e = 0; e < n; e += 16) {
                    const std::int64_t m = HWY_MIN(n - e, std::int64_t{16});
                    for (std::int64_t i = 0; i < m; ++i) sum[i] = rows.row(r)[e + i] + plus[e + i];
                    ToBf16Row(sum, m, row + e);
                }
            std::fill_n(row + have, all - have, Bf16{0});
        }
        Transpose(reinterpret_cast<const float*>(side), all / 2, kQueries, all / 2,
                  reinterpret_cast<float*>(to), kQueries);
    }

    // Query rows as pairs of rows: [kQueries / 2][GradientWidth] words.
    static std::int64_t query_row_values(std::int64_t d) { return GradientWidth(d) * kQueries; }
    static void pack_query_rows(ConstView rows, const float* plus, Bf16* to) {
        const std::int64_t width = GradientWidth(rows.cols);
        auto* words = reinterpret_cast<std::uint32_t*>(to);
        for (std::int64_t r = 0; r < kQueries; r += 2) {
            const float* low = r < rows.rows ? rows.row(r) : nullptr;
            const float* high = r + 1 < rows.rows ? rows.row(r + 1) : nullptr;
            std::uint32_t* at = words + r / 2 * width;
            if (!plus) {
                PairRowsPadded(low, high, rows.cols, width, at);
                continue;
            }
            for (std::int64_t e = 0; e < width; ++e) {
                const bool in = e < rows.cols;
                at[e] = std::uint32_t{in && low ? to_bf16(low[e] + plus[e]) : Bf16{0}} |
                        std::uint32_t{in && high ? to_bf16(high[e] + plus[e]) : Bf16{0}} << 16;
            }
        }
    }

    struct Weights {
        const std::uint32_t* pairs = nullptr;  // [keys / 2][kQueries] words, for Mix
        const Bf16* rows = nullptr;            // [keys][kQueries], for Outer
    };
    // Zeros around [begin, end) up to whole tiles, and behind the vectors in use.
    static Weights weigh(const float* p, int begin, int end, int vectors, Needs needs,
                         AttentionScratch& scratch) {
        const int lanes = vectors * kLanes;
        const int first = begin / 32 * 32, last = (end + 31) / 32 * 32;
        Weights w;
        if (needs != Needs::dots) {
            auto* to = scratch.take<std::uint32_t>(AttentionScratch::weight_columns,
                                                   std::int64_t{last} / 2 * kQueries);
            WeightPairs(p, kQueries, begin, end, first, last, lanes, to);
            w.pairs = to;
        }
        if (needs != Needs::mix) {
            auto* to =
                scratch.take<Bf16>(AttentionScratch::weight_rows, std::int64_t{last} * kQueries);
            WeightRows(p, kQueries, begin, end, first, last, lanes, to);
            w.rows = to;
        }
        return w;
    }

    static void dots(const Rows& x, int begin, int end, std::int64_t d, const Bf16* q, int vectors,
                     float* s) {
        const std::int64_t steps = depth(d) / 32, a_bytes = x.row_stride * 2;
        const bool two = vectors * kLanes > 16;
        const int first = begin / 16, last = (end + 15) / 16;
        for (int j = first; j < last; j += 2) {
            const bool pair = j + 1 < last;
            const Bf16* a = x.rows + j * 16 * x.row_stride;
            Machine::template zero<0>();
            if (two) Machine::template zero<1>();
            if (pair) Machine::template zero<2>();
            if (pair && two) Machine::template zero<3>();
            for (std::int64_t e = 0; e < steps; ++e) {
                const Bf16* b = q + e * 16 * kQueries * 2;
                Machine::template load<4>(a + e * 32, a_bytes);
                Machine::template load<6>(b, kWordRow);
                Machine::template dot_bf16<0, 4, 6>();
                if (two) {
                    Machine::template load<7>(b + 32, kWordRow);
                    Machine::template dot_bf16<1, 4, 7>();
                }
                if (pair) {
                    Machine::template load<5>(a + 16 * x.row_stride + e * 32, a_bytes);
                    Machine::template dot_bf16<2, 5, 6>();
                    if (two) Machine::template dot_bf16<3, 5, 7>();
                }
            }
            float* to = s + j * 16 * kQueries;
            Machine::template store<0>(to, kWordRow);
            if (two) Machine::template store<1>(to + 16, kWordRow);
            if (pair) Machine::template store<2>(to + 16 * kQueries, kWordRow);
            if (pair && two) Machine::template store<3>(to + 16 * kQueries + 16, kWordRow);
        }
    }

    template <bool Careful_>
    static void mix(const Rows& x, int begin, int end, std::int64_t d, const Weights& p,
                    Found found, const float* alpha, int vectors, float* o) {
        static_assert(!Careful_, "values that are not finite go the way of Bf16Numbers");
        if (found == Found::sum_to_scale) ScaleColumns(alpha, d, vectors, o);
        const bool two = vectors * kLanes > 16, fresh = found == Found::nothing;
        const int strips = static_cast<int>(x.column_count / 16);
        for (int c = 0; c < strips; c += 2) {
            const bool pair = c + 1 < strips;
            float* at = o + c * 16 * kQueries;
            Sum<0>(fresh, at);
            if (two) Sum<1>(fresh, at + 16);
            if (pair) Sum<2>(fresh, at + 16 * kQueries);
            if (pair && two) Sum<3>(fresh, at + 16 * kQueries + 16);
            for (int j = begin / 32 * 32; j < end; j += 32) {
                const Bf16* a =
                    x.columns + j / kKeys * kKeys * x.column_count + c * 16 * kKeys + j % kKeys;
                const std::uint32_t* b = p.pairs + j / 2 * kQueries;
                Machine::template load<4>(a, kKeys * 2);
                Machine::template load<6>(b, kWordRow);
                Machine::template dot_bf16<0, 4, 6>();
                if (two) {
                    Machine::template load<7>(b + 16, kWordRow);
                    Machine::template dot_bf16<1, 4, 7>();
                }
                if (pair) {
                    Machine::template load<5>(a + 16 * kKeys, kKeys * 2);
                    Machine::template dot_bf16<2, 5, 6>();
                    if (two) Machine::template dot_bf16<3, 5, 7>();
                }
            }
            Machine::template store<0>(at, kWordRow);
            if (two) Machine::template store<1>(at + 16, kWordRow);
            if (pair) Machine::template store<2>(at + 16 * kQueries, kWordRow);
            if (pair && two) Machine::template store<3>(at + 16 * kQueries + 16, kWordRow);
        }
    }

    template <bool Careful_>
    static void outer(const Weights& p, int begin, int end, int, const Bf16* z, std::int64_t d,
                      float* y) {
        static_assert(!Careful_, "values that are not finite go the way of Bf16Numbers");
        const std::int64_t width = GradientWidth(d), bytes = width * 4;
        const auto* words = reinterpret_cast<const std::uint32_t*>(z);
        const int strips = static_cast<int>(width / 16);
        for (int c = 0; c < strips; c += 2) {
            const bool two = c + 1 < strips;
            Machine::template load<6>(words + c * 16, bytes);
            if (two) Machine::template load<7>(words + (c + 1) * 16, bytes);
            for (int j = begin / 16; j * 16 < end; ++j) {
                float* at = y + j * 16 * width + c * 16;
                Machine::template load<4>(p.rows + j * 16 * kQueries, kQueries * 2);
                Machine::template load<0>(at, bytes);
                Machine::template dot_bf16<0, 4, 6>();
                Machine::template store<0>(at, bytes);
                if (two) {
                    Machine::template load<1>(at + 16, bytes);
                    Machine::template dot_bf16<1, 4, 7>();
                    Machine::template store<1>(at + 16, bytes);
                }
            }
        }
    }

private:
    static constexpr std::int64_t kWordRow = kQueries * 4;  // bytes of a row of words or sums

    static void ScaleColumns(const float* alpha, std::int64_t d, int vectors, float* o) {
        const FloatTag tag;
        for (int n = 0; n < vectors; ++n) {
            const FloatVec by = hn::Load(tag, alpha + n * kLanes);
            for (std::int64_t c = 0; c < d; ++c) {
                float* at = o + c * kQueries + n * kLanes;
                hn::Store(hn::Mul(by, hn::Load(tag, at)), tag, at);
            }
        }
    }

    template <int tile>
    static void Sum(bool fresh, const float* from) {
        if (fresh)
            Machine::template zero<tile>();
        else
            Machine::template load<tile>(from, kWordRow);
    }
};

// What the machine's tiles compute with; levels below AVX-512 never get there.
#if HWY_TARGET == HWY_AVX3
using TileNumbers = AmxNumbers<HardwareTiles>;
#else
using TileNumbers = Bf16Numbers;
#endif

// A score's functions of this level for scores that know all kinds of numbers.
template <class Score, template <class> class Tiles>
AttentionPieces PiecesOf(Precision precision) {
    if (precision == Precision::f32) return PiecesWith<Score, Tiles, F32>();
    return active_isa() == Isa::amx ? PiecesWith<Score, Tiles, TileNumbers>()
                                    : PiecesWith<Score, Tiles, Bf16Numbers>();
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
