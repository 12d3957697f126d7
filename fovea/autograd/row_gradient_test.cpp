#include "fovea/autograd/row_gradient.h"

#include <gtest/gtest.h>

#include "fovea/autograd/tape.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

// What a kernel does with the place it is given.
void scatter(const RowsInto& to, const std::vector<float>& dy) {
    std::vector<bool> written(static_cast<std::size_t>(to.view.rows), to.add);
    const auto cols = static_cast<std::size_t>(to.view.cols);
    for (std::size_t i = 0; i < to.places.size(); ++i) {
        float* row = to.view.row(to.places[i]);
        for (std::size_t j = 0; j < cols; ++j)
            row[j] = dy[i * cols + j] +
                     (written[static_cast<std::size_t>(to.places[i])] ? row[j] : 0.0f);
        written[static_cast<std::size_t>(to.places[i])] = true;
    }
}

Tensor table_of(std::int64_t rows, std::int64_t cols) {
    Tensor t = Tensor::zeros({rows, cols});
    t.set_trainable(true);
    t.set_row_sparse(true);
    return t;
}

TEST(RowGradient, PlacesAreRowsInRisingOrder) {
    const Tensor table = table_of(5'000'000, 2);
    Gradients g;
    ASSERT_TRUE(g.takes_rows(table));
    scatter(g.into_rows(table, {4'999'999, 7, 3000, 7}), {1, 2, 3, 4, 5, 6, 7, 8});
    const RowGradient* rows = g.rows(table);
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->rows, (Ids{7, 3000, 4'999'999}));
    EXPECT_EQ(rows->values.values(), (std::vector<float>{10, 12, 5, 6, 1, 2}));
    scatter(g.into_rows(table, {8, 7}), {1, 1, 100, 100});
    EXPECT_EQ(g.rows(table)->rows, (Ids{7, 8, 3000, 4'999'999}));
    EXPECT_EQ(g.rows(table)->values.values(), (std::vector<float>{110, 112, 1, 1, 5, 6, 1, 2}));
}

TEST(RowGradient, ManyIdsOfAllSizesFindTheirRows) {
    Rng rng(3);
    const Tensor table = table_of(1 << 25, 1);
    Ids ids;
    for (int i = 0; i < 5000; ++i)
        ids.push_back(static_cast<std::int32_t>(rng.below(i % 2 ? 1 << 25 : 100)));
    Gradients g;
    const RowsInto to = g.into_rows(table, ids);
    const Ids& rows = g.rows(table)->rows;
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
    for (std::size_t i = 0; i < ids.size(); ++i)
        ASSERT_EQ(rows[static_cast<std::size_t>(to.places[i])], ids[i]);
}

TEST(RowGradient, MicroBatchesAddAndAnEmptyBatchIsNothing) {
    const Tensor table = table_of(9, 1);
    Gradients a, b, none;
    scatter(a.into_rows(table, {5, 1}), {50, 10});
    scatter(b.into_rows(table, {8, 5}), {8, 5});
    scatter(none.into_rows(table, {}), {});
    Gradients sum;
    sum += a;
    sum += b;
    sum += none;
    EXPECT_EQ(sum[table].values(), (std::vector<float>{0, 10, 0, 0, 0, 55, 0, 0, 8}));
    EXPECT_EQ(sum.rows(table)->rows.size(), 3u);
    EXPECT_EQ(a[table].values()[5], 50);  // its values were not written through
}

TEST(RowGradient, WritingThroughAtLeavesASharedOneAlone) {
    const Tensor table = table_of(3, 1);
    Gradients a, sum;
    scatter(a.into_rows(table, {2}), {4});
    sum += a;
    sum.at(table).write()[0] = 1;
    EXPECT_EQ(a[table].values()[2], 4);
    EXPECT_EQ(sum[table].values()[2], 1);
}

TEST(RowGradient, AGradientForAllRowsMakesItDense) {
    const Tensor table = table_of(3, 2);
    const Tensor ones = Tensor::full({3, 2}, 1);
    Gradients g;
    scatter(g.into_rows(table, {2}), {4, 5});
    g.add(table, ones);
    EXPECT_EQ(g.rows(table), nullptr);
    EXPECT_FALSE(g.takes_rows(table));
    EXPECT_EQ(g[table].values(), (std::vector<float>{1, 1, 1, 1, 5, 6}));

    Gradients rows, dense;
    scatter(rows.into_rows(table, {0}), {7, 7});
    dense.add(table, ones);
    Gradients one = rows, other = dense;
    one += dense;
    other += rows;
    EXPECT_EQ(one[table].values(), other[table].values());
    EXPECT_EQ(one[table].values()[0], 8);
    const Into into = rows.into(table);
    EXPECT_TRUE(into.add);
    EXPECT_EQ(into.view.data[1], 7);
    EXPECT_EQ(into.view.data[2], 0);
}

TEST(RowGradient, OnlyParametersAreKeptByRows) {
    Tensor activation = Tensor::zeros({3, 2});
    activation.set_row_sparse(true);
    Gradients g;
    EXPECT_FALSE(g.takes_rows(activation));
    EXPECT_THROW(g.into_rows(activation, {0}), Error);
}

}  // namespace
}  // namespace fovea
