#pragma once
// The assignment problem: each row of a cost matrix gets a column of its own (or the other way
// round, where there are fewer columns), such that the sum of costs is least. Shortest augmenting
// paths with potentials (Jonker & Volgenant 1987; Crouse 2016 for rectangles), O(n² m).
// Thread-safety: pure functions.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

// `cost` [rows, columns], row-major, finite. Gives the column of each row, −1 for rows that get
// none (where there are more rows than columns): min(rows, columns) of them are assigned.
std::vector<std::int64_t> cheapest_assignment(std::span<const double> cost, std::int64_t rows,
                                              std::int64_t columns);

}  // namespace fovea
