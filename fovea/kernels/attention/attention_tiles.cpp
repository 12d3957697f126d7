#include "fovea/kernels/attention/attention_tiles.h"

#include <algorithm>
#include <atomic>
#include <cassert>

namespace fovea::kernels {
namespace {

std::atomic<std::int64_t> visited{0};

std::uint32_t bits_between(std::int64_t begin, std::int64_t end) {  // of a word, 0 <= b <= e <= 32
    const auto below = [](std::int64_t n) {
        return n >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
    };
    return below(end) & ~below(begin);
}

}  // namespace

void visited_tiles(const VisibilityView& sees, std::int64_t q_begin, std::int64_t q_end,
                   std::int64_t tile_keys, std::vector<TileRange>& ranges) {
    ranges.clear();
    bool sorted = true;
    for (std::int64_t i = q_begin; i < q_end; ++i)
        for (const KeyInterval& x : sees.of_row(i)) {
            const TileRange r{x.begin / tile_keys, (x.end + tile_keys - 1) / tile_keys};
            // Neighbouring rows mostly touch the same tiles: extend the last range in place.
            if (!ranges.empty() && r.begin >= ranges.back().begin && r.begin <= ranges.back().end) {
                ranges.back().end = std::max(ranges.back().end, r.end);
                continue;
            }
            sorted = sorted && (ranges.empty() || r.begin > ranges.back().end);
            ranges.push_back(r);
        }
    if (sorted) return;
    std::sort(ranges.begin(), ranges.end(),
              [](const TileRange& a, const TileRange& b) { return a.begin < b.begin; });
    std::size_t kept = 0;
    for (const TileRange& r : ranges) {
        if (kept > 0 && r.begin <= ranges[kept - 1].end)
            ranges[kept - 1].end = std::max(ranges[kept - 1].end, r.end);
        else
            ranges[kept++] = r;
    }
    ranges.resize(kept);
}

void RowMasks::start(const VisibilityView& sees, std::int64_t q_begin, std::int64_t q_end,
                     int width) {
    assert(q_end - q_begin <= width);
    sees_ = sees;
    q_begin_ = q_begin;
    width_ = width;
    next_.clear();
    end_.clear();
    for (std::int64_t i = q_begin; i < q_end; ++i) {
        next_.push_back(sees.rows[static_cast<std::size_t>(i)]);
        end_.push_back(sees.rows[static_cast<std::size_t>(i) + 1]);
    }
}

RowMasks::Seen RowMasks::look(std::int64_t first_key, int tile_keys, std::uint32_t* words) {
    const std::int64_t end_key = first_key + tile_keys;
    // Mostly all rows see the same single piece of the tile (often all of it): no masks then.
    Seen seen{tile_keys, 0, true};
    for (std::size_t r = 0; r < next_.size(); ++r) {
        std::int64_t& at = next_[r];
        while (at < end_[r] && sees_.intervals[static_cast<std::size_t>(at)].end <= first_key) ++at;
        int b = tile_keys, e = 0;
        for (std::int64_t x = at; x < end_[r]; ++x) {
            const KeyInterval& interval = sees_.intervals[static_cast<std::size_t>(x)];
            if (interval.begin >= end_key) break;
            seen.all = seen.all && x == at;
            b = std::min(b, static_cast<int>(std::max(interval.begin, first_key) - first_key));
            e = static_cast<int>(std::min(interval.end, end_key) - first_key);
        }
        seen.all = seen.all && (r == 0 || (b == seen.begin && e == seen.end));
        seen.begin = std::min(seen.begin, b);
        seen.end = std::max(seen.end, e);
    }
    seen.begin = std::min(seen.begin, seen.end);
    if (!seen.all) write_words(first_key, tile_keys, words);
    return seen;
}

void RowMasks::write_words(std::int64_t first_key, int tile_keys, std::uint32_t* words) const {
    const std::int64_t end_key = first_key + tile_keys;
    std::fill_n(words, (tile_keys + 31) / 32 * width_, 0u);
    for (std::size_t r = 0; r < next_.size(); ++r)
        for (std::int64_t x = next_[r]; x < end_[r]; ++x) {
            const KeyInterval& interval = sees_.intervals[static_cast<std::size_t>(x)];
            if (interval.begin >= end_key) break;
            const std::int64_t b = std::max(interval.begin, first_key) - first_key;
            const std::int64_t e = std::min(interval.end, end_key) - first_key;
            for (std::int64_t w = b / 32; w * 32 < e; ++w)
                words[w * width_ + static_cast<std::int64_t>(r)] |=
                    bits_between(std::max<std::int64_t>(0, b - w * 32), e - w * 32);
        }
}

std::int64_t attention_tiles_visited() { return visited.load(std::memory_order_relaxed); }
void count_attention_tiles(std::int64_t n) { visited.fetch_add(n, std::memory_order_relaxed); }

}  // namespace fovea::kernels
