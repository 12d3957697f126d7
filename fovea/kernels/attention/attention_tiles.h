#pragma once
// Which key tiles a tile of query rows must visit, and which keys of a tile each row sees. A key's
// tile is its logical index / tile size. Only tiles that some row's interval touches are visited,
// never the hull of them: a window with a few global keys stays n·w.
#include <cstdint>
#include <vector>

#include "fovea/base/visibility_view.h"

namespace fovea::kernels {

struct TileRange {  // key tiles [begin, end)
    std::int64_t begin = 0, end = 0;
};

// The key tiles that query rows [q_begin, q_end) touch: sorted, disjoint.
void visited_tiles(const VisibilityView& sees, std::int64_t q_begin, std::int64_t q_end,
                   std::int64_t tile_keys, std::vector<TileRange>& ranges);

// Bit masks of up to `width` rows for successive key tiles. Word w of row r, at [w·width + r], has
// bit b set where the row sees key 32 w + b of the tile: lanes are rows, as in the kernels.
class RowMasks {
public:
    struct Seen {
        int begin = 0, end = 0;  // keys of the tile that some row sees lie within [begin, end)
        bool all = false;        // and every row sees all of those
    };

    // Rows [q_begin, q_end), at most `width` of them. Tiles must then be asked for in rising order.
    void start(const VisibilityView& sees, std::int64_t q_begin, std::int64_t q_end, int width);
    Seen look(std::int64_t first_key, int tile_keys, std::uint32_t* words);  // words unless all

private:
    void write_words(std::int64_t first_key, int tile_keys, std::uint32_t* words) const;

    VisibilityView sees_;
    std::int64_t q_begin_ = 0;
    int width_ = 0;
    std::vector<std::int64_t> next_, end_;  // each row's first interval not yet passed, and the end
};

// How many pairs of query tile and key tile the forward kernels have processed; for tests of cost.
std::int64_t attention_tiles_visited();
void count_attention_tiles(std::int64_t n);

}  // namespace fovea::kernels
