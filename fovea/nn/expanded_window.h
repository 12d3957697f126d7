#pragma once
// Attention that sees what is near in full and what is far at falling resolution: a window, and
// beyond it means over spans that double in length.
//
// Level i = 1 … m cuts each sequence of n rows into blocks of B_i = w 2^(i−1) rows, counted from
// its first row (the last block may be shorter); block b of level i is the mean of its rows of k
// and of v, appended to the keys. A row at position p sees
//   the window   p − w … p + w
//   to the right block s_i of level i, s_i = ⌊e_{i−1} / B_i⌋, e_0 = p + w + 1, e_i = (s_i + 1) B_i
//   to the left  block s_i of level i, s_i = ⌊a_{i−1} / B_i⌋, a_0 = p − w − 1, a_i = s_i B_i − 1
// as long as e_{i−1} < n and a_{i−1} ≥ 0. Blocks may reach into what is already seen, so that there
// is no gap; they are shared by all rows, so that there are fewer than 2 n / w of them. Each row
// sees at most 2 w + 1 + 2 m keys. Blocks look both ways: not for models that read left to right.
//
// Thread-safety: a value that does not change.
#include <cstdint>
#include <vector>

#include "fovea/tensor/tensor.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

class ExpandedWindow {
public:
    ExpandedWindow(const Segments& segments, std::int64_t window, std::int64_t summaries);

    // Rows of k or of v with the means behind them.
    Tensor appended(const Tensor& rows) const;
    std::int64_t keys() const;  // rows of that
    // The logical list of a sequence: its rows, then its blocks level by level.
    KeyList list(std::int64_t sequence) const;
    // What a row at this position sees of that list.
    std::vector<KeyInterval> sees(std::int64_t sequence, std::int64_t position) const;

private:
    Segments segments_;
    std::int64_t window_;
    std::vector<Segments> blocks_;  // of each level: one segment a block
    // For each level, the number of each sequence's first block in it; one entry more at the end.
    std::vector<std::vector<std::int64_t>> first_;
    std::vector<std::int64_t> sizes_;  // B_i
};

// Self-attention over whole sequences: each row at its own position.
Visibility expanded_self(const ExpandedWindow& window, const Segments& segments);

}  // namespace fovea
