#pragma once
// The AMX product of one block, over any tile machine (HardwareTiles, or SoftTiles in tests).
//
// B's panels and A's tiles have one shape for bf16 and int8: a step of 64 bytes along k. Two strips
// of 16 rows by two panels of 16 columns make 2 x 2 tiles of sums; four loads feed four products a
// step. k goes in pieces, so that a piece of two panels (32 KB) stays in L1 while all strips of the
// block (A in L2) pass over it; between pieces the sums wait in tiles in memory, which is exact. A
// finished pair of strips goes out, row by row, under the products of the next.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fovea/kernels/gemm/amx_operands.h"
#include "fovea/kernels/gemm/amx_tiles.h"

namespace fovea::kernels {

template <class Tiles, Format format>
class AmxBlock {
public:
    explicit AmxBlock(const GemmBlock& g)
        : g_(g),
          steps_(g.b->padded_k() / (format == Format::bf16 ? 32 : 64)),
          strips_((g.rows + 15) / 16),
          panels_((g.cols + 15) / 16),
          finish_(finish_tiles_kernel(format)) {}

    void run() {
        place();
        plan_next_rows();
        Tiles::configure();
        if (strips_ == 1) {
            for (std::int64_t p = 0; p < panels_; p += 4) one_strip(p);
        } else {
            for (std::int64_t p = 0; p < panels_; p += 2) two_panels(p);
        }
        drain(1 << 20);
        Tiles::release();
        if (g_.stream) Tiles::fence();
    }

private:
    // Scratch: A's tiles unless the caller prepared them, the scales of its rows, tiles of sums.
    void place() {
        const std::int64_t a_bytes = g_.a_prepared ? 0 : strips_ * steps_ * tile_bytes;
        const std::int64_t scale_bytes = g_.a_prepared ? 0 : strips_ * 16 * 4;
        const std::int64_t sum_bytes = strips_ == 1 ? 8 * tile_bytes : strips_ * 2 * tile_bytes;
        auto* scratch = static_cast<unsigned char*>(
            block_scratch(static_cast<std::size_t>(a_bytes + sum_bytes + scale_bytes)));
        sums_ = scratch + a_bytes;
        a_ = g_.a_prepared;
        scales_ = g_.a_scales;
        if (a_) return;
        auto* scales = reinterpret_cast<float*>(sums_ + sum_bytes);
        prepare_tiles_kernel(format)({g_.a, g_.a_stride, g_.a_transposed, g_.rows, g_.b->k(),
                                      g_.b->padded_k(), scratch, scales,
                                      levels_of(g_.b->format())});
        a_ = scratch;
        scales_ = scales;
    }

    const unsigned char* a_tile(std::int64_t strip, std::int64_t step) const {
        return a_ + (strip * steps_ + step) * tile_bytes;
    }
    const unsigned char* b_tile(std::int64_t panel, std::int64_t step) const {
        const auto* first =
            format == Format::bf16
                ? reinterpret_cast<const unsigned char*>(g_.b->bf16_panel(g_.first_panel + panel))
                : reinterpret_cast<const unsigned char*>(g_.b->int8_panel(g_.first_panel + panel));
        return first + step * tile_bytes;
    }

    template <int c, int a, int b>
    static void dot() {
        if constexpr (format == Format::bf16)
            Tiles::template dot_bf16<c, a, b>();
        else
            Tiles::template dot_int8<c, a, b>();
    }

    // ---- up to 16 rows: one strip by four panels

    void one_strip(std::int64_t panel) {
        const std::int64_t count = std::min<std::int64_t>(4, panels_ - panel);
        // Two sets of sums: one is drained while the other is filled.
        unsigned char* sums = sums_ + (panel / 4 % 2) * 4 * tile_bytes;
        switch (count) {
            case 1:
                strip_panels<1>(panel, sums);
                break;
            case 2:
                strip_panels<2>(panel, sums);
                break;
            case 3:
                strip_panels<3>(panel, sums);
                break;
            default:
                strip_panels<4>(panel, sums);
                break;
        }
        drain(1 << 20);
        finished(sums, 0, 1, panel, count);
    }

    template <int count>
    void strip_panels(std::int64_t panel, unsigned char* sums) {
        start_sums<count>(sums, 0, 1, panel);
        load_sum<0>(sums);
        if constexpr (count > 1) load_sum<1>(sums + tile_bytes);
        if constexpr (count > 2) load_sum<2>(sums + 2 * tile_bytes);
        if constexpr (count > 3) load_sum<3>(sums + 3 * tile_bytes);
        for (std::int64_t s = 0; s < steps_; ++s) {
            Tiles::template load<4>(a_tile(0, s), tile_row_bytes);
            panel_step<0, 5>(panel, s);
            if constexpr (count > 1) panel_step<1, 6>(panel + 1, s);
            if constexpr (count > 2) panel_step<2, 7>(panel + 2, s);
            if constexpr (count > 3) panel_step<3, 5>(panel + 3, s);
            drain(1);
        }
        Tiles::template store<0>(sums, tile_row_bytes);
        if constexpr (count > 1) Tiles::template store<1>(sums + tile_bytes, tile_row_bytes);
        if constexpr (count > 2) Tiles::template store<2>(sums + 2 * tile_bytes, tile_row_bytes);
        if constexpr (count > 3) Tiles::template store<3>(sums + 3 * tile_bytes, tile_row_bytes);
    }

    // One row of A streams B from memory: fetch it some steps ahead.
    template <int c, int b>
    void panel_step(std::int64_t panel, std::int64_t step) {
        constexpr std::int64_t ahead = 4;
        const unsigned char* tile = b_tile(panel, step);
        for (int line = 0; line < 16; ++line)
            __builtin_prefetch(tile + ahead * tile_bytes + line * 64, 0, 3);
        Tiles::template load<b>(tile, tile_row_bytes);
        dot<c, 4, b>();
    }

    // ---- more rows: strips in pairs by panels in pairs

    void two_panels(std::int64_t panel) {
        const bool pair = panel + 1 < panels_;
        const std::int64_t pieces = (steps_ + 15) / 16, piece = (steps_ + pieces - 1) / pieces;
        for (std::int64_t s0 = 0; s0 < steps_; s0 += piece) {
            const std::int64_t s1 = std::min(steps_, s0 + piece);
            next_b_ = next_piece(panel, s0, s1);
            for (std::int64_t strip = 0; strip < strips_; strip += 2) {
                const bool both = strip + 1 < strips_;
                if (both && pair)
                    strip_pair<2, 2>(strip, panel, s0, s1);
                else if (both)
                    strip_pair<2, 1>(strip, panel, s0, s1);
                else if (pair)
                    strip_pair<1, 2>(strip, panel, s0, s1);
                else
                    strip_pair<1, 1>(strip, panel, s0, s1);
            }
        }
    }

    // What the panels' next piece is, to be fetched while this one is at work.
    struct Ahead {
        const unsigned char* at[2] = {nullptr, nullptr};
        std::int64_t bytes = 0, done = 0, per_step = 0;
    };
    Ahead next_piece(std::int64_t panel, std::int64_t s0, std::int64_t s1) const {
        Ahead ahead;
        const bool same = s1 < steps_;
        const std::int64_t next = same ? panel : panel + 2;
        if (next >= panels_) return ahead;
        const std::int64_t first = same ? s1 : 0, pairs = (strips_ + 1) / 2;
        ahead.at[0] = b_tile(next, first);
        ahead.at[1] = next + 1 < panels_ ? b_tile(next + 1, first) : nullptr;
        ahead.bytes = std::min(s1 - s0, steps_ - first) * tile_bytes;
        // Spread over all steps of this piece; whole lines.
        ahead.per_step = (ahead.bytes / ((s1 - s0) * pairs) + 63) / 64 * 64;
        return ahead;
    }
    void fetch_ahead() {
        if (next_b_.done >= next_b_.bytes) return;
        const std::int64_t end = std::min(next_b_.bytes, next_b_.done + next_b_.per_step);
        for (; next_b_.done < end; next_b_.done += 64) {
            __builtin_prefetch(next_b_.at[0] + next_b_.done, 0, 2);
            if (next_b_.at[1]) __builtin_prefetch(next_b_.at[1] + next_b_.done, 0, 2);
        }
    }

    // The rows of A that this thread will convert next, a few lines per step, into L2; up to 512
    // KB, so that they do not push out what is at work there.
    void plan_next_rows() {
        const auto& next = g_.next_a;
        if (!next.at) return;
        const std::int64_t most = (512 << 10) / std::max<std::int64_t>(64, next.bytes);
        rows_left_ = std::min(next.lines, std::max<std::int64_t>(1, most));
        const std::int64_t lines = rows_left_ * (next.bytes / 64 + 1);
        const std::int64_t steps = steps_ * ((strips_ + 1) / 2) * ((panels_ + 1) / 2);
        lines_a_step_ = std::min<std::int64_t>(8, lines / std::max<std::int64_t>(1, steps) + 1);
    }
    void fetch_next_rows() {
        for (std::int64_t i = 0; i < lines_a_step_ && rows_left_ > 0; ++i) {
            __builtin_prefetch(g_.next_a.at + row_at_ * g_.next_a.stride + byte_at_, 0, 2);
            byte_at_ += 64;
            if (byte_at_ >= g_.next_a.bytes) {
                byte_at_ = 0;
                ++row_at_;
                --rows_left_;
            }
        }
    }

    template <int rows, int cols>
    void strip_pair(std::int64_t strip, std::int64_t panel, std::int64_t s0, std::int64_t s1) {
        unsigned char* sums = sums_ + strip * cols * tile_bytes;
        if (s0 == 0) {
            if (g_.epilogue.accumulate) drain(1 << 20);  // these may be the tiles it reads from
            start_sums<cols>(sums, strip, rows, panel);
            next_c_row_ = strip * 16;
        }
        fresh_ = fresh_ && s0 == 0;
        load_sum<0>(sums);
        if constexpr (cols > 1) load_sum<1>(sums + tile_bytes);
        if constexpr (rows > 1) load_sum<2>(sums + cols * tile_bytes);
        if constexpr (rows > 1 && cols > 1) load_sum<3>(sums + 3 * tile_bytes);
        const unsigned char* a0 = a_tile(strip, s0);
        const unsigned char* a1 = rows > 1 ? a_tile(strip + 1, s0) : nullptr;
        const unsigned char* b0 = b_tile(panel, s0);
        const unsigned char* b1 = cols > 1 ? b_tile(panel + 1, s0) : nullptr;
        const std::int64_t count = s1 - s0, rows_a_step = (32 + count - 1) / count;
        for (std::int64_t s = 0; s < count; ++s) {
            Tiles::template load<6>(b0 + s * tile_bytes, tile_row_bytes);
            Tiles::template load<4>(a0 + s * tile_bytes, tile_row_bytes);
            dot<0, 4, 6>();
            if constexpr (cols > 1) {
                Tiles::template load<7>(b1 + s * tile_bytes, tile_row_bytes);
                dot<1, 4, 7>();
            }
            if constexpr (rows > 1) {
                Tiles::template load<5>(a1 + s * tile_bytes, tile_row_bytes);
                dot<2, 5, 6>();
                if constexpr (cols > 1) dot<3, 5, 7>();
            }
            drain(rows_a_step);
            fetch_ahead();
            fetch_next_rows();
            if (s1 == steps_) fetch_output(panel, rows_a_step, strip * 16 + rows * 16);
        }
        drain(1 << 20);
        Tiles::template store<0>(sums, tile_row_bytes);
        if constexpr (cols > 1) Tiles::template store<1>(sums + tile_bytes, tile_row_bytes);
        if constexpr (rows > 1) Tiles::template store<2>(sums + cols * tile_bytes, tile_row_bytes);
        if constexpr (rows > 1 && cols > 1)
            Tiles::template store<3>(sums + 3 * tile_bytes, tile_row_bytes);
        if (s1 == steps_) finished(sums_, strip, rows, panel, cols);
    }

    // The lines of C that this pair of strips will write, fetched before they are written.
    void fetch_output(std::int64_t panel, std::int64_t rows, std::int64_t end_row) {
        if (g_.stream) return;
        const std::int64_t end = std::min({next_c_row_ + rows, end_row, g_.rows});
        for (; next_c_row_ < end; ++next_c_row_) {
            const float* c = g_.c + next_c_row_ * g_.c_stride + panel * 16;
            __builtin_prefetch(c, 1, 3);
            __builtin_prefetch(c + 16, 1, 3);
        }
    }

    // ---- sums in, sums out

    // Tiles of sums that start from C go through memory; the others start from zero.
    template <int cols>
    void start_sums(unsigned char* sums, std::int64_t strip, std::int64_t strips,
                    std::int64_t panel) {
        fresh_ = !g_.epilogue.accumulate;
        if (fresh_) return;
        for (std::int64_t s = 0; s < strips; ++s)
            for (int p = 0; p < cols; ++p) {
                auto* tile = reinterpret_cast<float*>(sums + (s * cols + p) * tile_bytes);
                const std::int64_t row = (strip + s) * 16, col = (panel + p) * 16;
                const std::int64_t n = std::min<std::int64_t>(16, g_.cols - col);
                for (std::int64_t r = 0; r < 16; ++r) {
                    std::memset(tile + r * 16, 0, 64);
                    if (row + r < g_.rows)
                        std::memcpy(tile + r * 16, g_.c + (row + r) * g_.c_stride + col,
                                    static_cast<std::size_t>(n) * 4);
                }
            }
    }
    template <int tile>
    void load_sum(const unsigned char* from) {
        if (fresh_)
            Tiles::template zero<tile>();
        else
            Tiles::template load<tile>(from, tile_row_bytes);
    }

    // `strips` strips and `panels` panels are done: drain() writes them out.
    void finished(const unsigned char* tiles, std::int64_t strip, std::int64_t strips,
                  std::int64_t panel, std::int64_t panels) {
        const std::int64_t row = strip * 16, col = panel * 16;
        out_ = {&g_,      tiles,
                panels,   scales_,
                row,      std::min(strips * 16, g_.rows - row),
                col,      std::min(panels * 16, g_.cols - col),
                g_.stream};
    }
    void drain(std::int64_t rows) {
        if (out_.rows == 0) return;
        FinishedTiles some = out_;
        some.rows = std::min(rows, out_.rows);
        finish_(some);
        out_.row += some.rows;
        out_.rows -= some.rows;
    }

    const GemmBlock& g_;
    const std::int64_t steps_, strips_, panels_;
    const FinishTiles finish_;
    const unsigned char* a_ = nullptr;
    const float* scales_ = nullptr;
    unsigned char* sums_ = nullptr;
    bool fresh_ = true;
    Ahead next_b_;
    std::int64_t next_c_row_ = 0;
    std::int64_t rows_left_ = 0, row_at_ = 0, byte_at_ = 0, lines_a_step_ = 0;
    FinishedTiles out_;
};

}  // namespace fovea::kernels
