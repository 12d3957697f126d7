// Positions of the queries and keys of a pair of tiles, for scores that depend on distance.
#if defined(FOVEA_KERNELS_ATTENTION_POSITIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_POSITIONS_INL_H_
#undef FOVEA_KERNELS_ATTENTION_POSITIONS_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_POSITIONS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "fovea/kernels/attention/attention_keys-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using IntTag = hn::RebindToSigned<FloatTag>;
using IntVec = hn::Vec<IntTag>;

// Entries of a table by distance: row t of it is distance `first` + t.
template <class N>
class TablePositions {
public:
    static constexpr int W = N::kQueries;

    TablePositions(const Positions& given, std::int64_t first, std::int64_t size)
        : given_(given), first_(first), size_(size) {}

    void load(const QueryTile<N>& q) {
        for (int r = 0; r < W; ++r) {
            const int row = std::min(r, q.count - 1);
            q_[r] = static_cast<std::int32_t>(given_.q ? given_.q[q.first + row] : q.position(r));
        }
    }

    // In order without gaps, so that lanes read neighbouring entries.
    bool consecutive() const { return !given_.q; }

    std::int32_t key(const KeyTile<N>& k, int j) const {
        return static_cast<std::int32_t>(given_.k ? given_.k[k.row[j]] : k.first + j);
    }

    // The entry of the first lane's query and key j; may lie outside for a pair that is not seen.
    std::int64_t entry(const KeyTile<N>& k, int j, int lane) const {
        return std::int64_t{q_[lane]} - key(k, j) - first_;
    }
    std::int64_t clamped(const KeyTile<N>& k, int j, int lane) const {
        return std::clamp<std::int64_t>(entry(k, j, lane), 0, size_ - 1);
    }
    // The entries of a vector of lanes, kept within the table.
    HWY_INLINE IntVec entries(std::int32_t key_position, int lane) const {
        const IntTag d;
        const IntVec t = hn::Sub(hn::LoadU(d, q_ + lane),
                                 hn::Set(d, key_position + static_cast<std::int32_t>(first_)));
        return hn::Min(hn::Max(t, hn::Zero(d)), hn::Set(d, static_cast<std::int32_t>(size_ - 1)));
    }

    struct Range {
        int begin, end;
    };
    // All entries that pairs of these tiles may ask for.
    Range range(const QueryTile<N>& q, const KeyTile<N>& k) const {
        const auto [q_min, q_max] = std::minmax_element(q_, q_ + q.count);
        std::int64_t k_min = key(k, k.begin), k_max = k_min;
        for (int j = k.begin; j < k.end; ++j) {
            k_min = std::min<std::int64_t>(k_min, key(k, j));
            k_max = std::max<std::int64_t>(k_max, key(k, j));
        }
        return {
            static_cast<int>(std::clamp<std::int64_t>(*q_min - k_max - first_, 0, size_ - 1)),
            static_cast<int>(std::clamp<std::int64_t>(*q_max - k_min - first_, 0, size_ - 1)) + 1};
    }

private:
    Positions given_;
    std::int64_t first_, size_;
    alignas(64) std::int32_t q_[W];
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
