#include "fovea/base/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

using Costs = std::vector<double>;

double sum_of(const Costs& cost, std::int64_t rows, std::int64_t columns) {
    const auto found = cheapest_assignment(cost, rows, columns);
    std::vector<bool> taken(static_cast<std::size_t>(columns), false);
    double sum = 0;
    std::int64_t assigned = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t c = found[static_cast<std::size_t>(r)];
        if (c < 0) continue;
        EXPECT_LT(c, columns);
        EXPECT_FALSE(taken[static_cast<std::size_t>(c)]) << "column " << c << " twice";
        taken[static_cast<std::size_t>(c)] = true;
        sum += cost[static_cast<std::size_t>(r * columns + c)];
        ++assigned;
    }
    EXPECT_EQ(assigned, std::min(rows, columns));
    return sum;
}

// Over all ways to give the fewer ones partners among the more.
double least_sum(const Costs& cost, std::int64_t rows, std::int64_t columns) {
    const std::int64_t few = std::min(rows, columns), many = std::max(rows, columns);
    std::vector<std::int64_t> order(static_cast<std::size_t>(many));
    std::iota(order.begin(), order.end(), 0);
    double least = std::numeric_limits<double>::infinity();
    do {
        double sum = 0;
        for (std::int64_t i = 0; i < few; ++i) {
            const std::int64_t j = order[static_cast<std::size_t>(i)];
            sum +=
                cost[static_cast<std::size_t>(rows <= columns ? i * columns + j : j * columns + i)];
        }
        least = std::min(least, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    return least;
}

TEST(Assignment, IsTheCheapestOfAll) {
    Rng rng(1);
    for (int round = 0; round < 300; ++round) {
        const std::int64_t rows = 1 + rng.below(6), columns = 1 + rng.below(6);
        Costs cost(static_cast<std::size_t>(rows * columns));
        // whole numbers have ties, others and negative ones have none
        for (double& c : cost)
            c = round % 2 ? static_cast<double>(rng.below(4)) : rng.uniform(-5, 5);
        EXPECT_NEAR(sum_of(cost, rows, columns), least_sum(cost, rows, columns), 1e-9)
            << rows << " x " << columns;
    }
}

// scipy.optimize.linear_sum_assignment of scipy 1.17: the columns of its rows.
TEST(Assignment, ScipysExample) {
    EXPECT_EQ(cheapest_assignment(Costs{4, 1, 3, 2, 0, 5, 3, 2, 2}, 3, 3),
              (std::vector<std::int64_t>{1, 0, 2}));
    // more rows than columns: row 1 gets none
    EXPECT_EQ(cheapest_assignment(Costs{1, 10, 8, 9, 10, 1}, 3, 2),
              (std::vector<std::int64_t>{0, -1, 1}));
}

TEST(Assignment, LargeOnesSatisfyTheBoundOfEachRow) {
    Rng rng(2);
    const std::int64_t n = 120, m = 200;
    Costs cost(static_cast<std::size_t>(n * m));
    for (double& c : cost) c = rng.uniform();
    double bound = 0;  // the least cost of each row is no more than what it pays
    for (std::int64_t r = 0; r < n; ++r)
        bound += *std::min_element(cost.begin() + r * m, cost.begin() + (r + 1) * m);
    const double sum = sum_of(cost, n, m);
    EXPECT_GE(sum, bound);
    EXPECT_LT(sum, 1.5 * bound);
}

TEST(Assignment, NothingAndNonsense) {
    EXPECT_TRUE(cheapest_assignment({}, 0, 3).empty());
    EXPECT_EQ(cheapest_assignment({}, 2, 0), (std::vector<std::int64_t>{-1, -1}));
    EXPECT_THROW(cheapest_assignment(Costs{1, 2, 3}, 2, 2), Error);
    EXPECT_THROW(cheapest_assignment(Costs{1, std::nan("")}, 1, 2), Error);
}

}  // namespace
}  // namespace fovea
