#include "fovea/base/assignment.h"

#include <cmath>
#include <limits>

#include "fovea/base/checked.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

// Rows <= columns. Rows are assigned one after the other; each by the shortest path, in reduced
// costs cost − u − v ≥ 0, from it over assigned columns to a free one (Dijkstra without a heap).
class Augmenting {
public:
    Augmenting(std::span<const double> cost, std::int64_t rows, std::int64_t columns, bool turned)
        : cost_(cost),
          rows_(static_cast<std::size_t>(rows)),
          columns_(static_cast<std::size_t>(columns)),
          turned_(turned),
          u_(rows_, 0.0),
          v_(columns_, 0.0),
          row_of_(columns_, none) {}

    // The row of each column, `none` where it has none.
    static constexpr std::size_t none = SIZE_MAX;
    const std::vector<std::size_t>& solve() {
        for (std::size_t row = 0; row < rows_; ++row) augment(row);
        return row_of_;
    }

private:
    double cost(std::size_t row, std::size_t column) const {
        return turned_ ? cost_[column * rows_ + row] : cost_[row * columns_ + column];
    }

    void augment(std::size_t first) {
        constexpr double far = std::numeric_limits<double>::infinity();
        std::vector<double> shortest(columns_, far);
        std::vector<std::size_t> before(columns_, none);  // row from which a column was reached
        std::vector<bool> done(columns_, false), row_done(rows_, false);
        std::size_t row = first, end = none;
        double length = 0;
        while (end == none) {
            row_done[row] = true;
            std::size_t nearest = none;
            for (std::size_t c = 0; c < columns_; ++c) {
                if (done[c]) continue;
                const double through = length + cost(row, c) - u_[row] - v_[c];
                if (through < shortest[c]) {
                    shortest[c] = through;
                    before[c] = row;
                }
                // of equally near columns a free one ends the search
                if (nearest == none || shortest[c] < shortest[nearest] ||
                    (shortest[c] == shortest[nearest] && row_of_[c] == none &&
                     row_of_[nearest] != none))
                    nearest = c;
            }
            length = shortest[nearest];
            done[nearest] = true;
            if (row_of_[nearest] == none)
                end = nearest;
            else
                row = row_of_[nearest];
        }
        move_potentials(first, length, shortest, done, row_done);
        for (std::size_t c = end;;) {  // turn the path round
            const std::size_t r = before[c];
            const std::size_t next = column_of(r);
            row_of_[c] = r;
            if (r == first) return;
            c = next;
        }
    }

    std::size_t column_of(std::size_t row) const {
        for (std::size_t c = 0; c < columns_; ++c)
            if (row_of_[c] == row) return c;
        return none;
    }

    void move_potentials(std::size_t first, double length, const std::vector<double>& shortest,
                         const std::vector<bool>& done, const std::vector<bool>& row_done) {
        u_[first] += length;
        for (std::size_t c = 0; c < columns_; ++c) {
            if (!done[c]) continue;
            const std::size_t r = row_of_[c];
            if (r != none && row_done[r]) u_[r] += length - shortest[c];
            v_[c] -= length - shortest[c];
        }
    }

    std::span<const double> cost_;
    std::size_t rows_, columns_;
    bool turned_;
    std::vector<double> u_, v_;
    std::vector<std::size_t> row_of_;
};

}  // namespace

std::vector<std::int64_t> cheapest_assignment(std::span<const double> cost, std::int64_t rows,
                                              std::int64_t columns) {
    expect(rows >= 0 && columns >= 0 &&
               checked_mul(rows, columns) == static_cast<std::int64_t>(cost.size()),
           "assignment: ", cost.size(), " costs for ", rows, " x ", columns);
    for (const double c : cost) expect(std::isfinite(c), "assignment: a cost is not finite");
    std::vector<std::int64_t> column(static_cast<std::size_t>(rows), -1);
    if (rows == 0 || columns == 0) return column;
    const bool turned = rows > columns;
    Augmenting work(cost, turned ? columns : rows, turned ? rows : columns, turned);
    const std::vector<std::size_t>& row_of = work.solve();
    for (std::size_t c = 0; c < row_of.size(); ++c) {
        if (row_of[c] == Augmenting::none) continue;
        if (turned)
            column[c] = static_cast<std::int64_t>(row_of[c]);
        else
            column[row_of[c]] = static_cast<std::int64_t>(c);
    }
    return column;
}

}  // namespace fovea
