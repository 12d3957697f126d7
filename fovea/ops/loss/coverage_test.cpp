#include "fovea/ops/loss/coverage.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

const Segments two_targets = Segments::of_lengths({4, 3});
const Segments places_of_rows = Segments::of_lengths({5, 5, 5, 5, 3, 3, 3});

Doubles row_softmax(const Doubles& s, const Segments& rows) {
    Doubles a;
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        double sum = 0;
        for (std::int64_t j = rows.begin(i); j < rows.end(i); ++j)
            sum += std::exp(s[static_cast<std::size_t>(j)]);
        for (std::int64_t j = rows.begin(i); j < rows.end(i); ++j)
            a.push_back(std::exp(s[static_cast<std::size_t>(j)]) / sum);
    }
    return a;
}

TEST(RaggedSoftmax, ForwardAndGradients) {
    Rng rng(1);
    check_op({.inputs = {random_tensor({places_of_rows.total()}, rng)},
              .op =
                  [](const std::vector<Tensor>& x) {
                      return ragged_softmax({x[0], places_of_rows}).values;
                  },
              .reference =
                  [](const std::vector<Doubles>& v) { return row_softmax(v[0], places_of_rows); }});
}

TEST(CoverageLoss, ForwardAndGradients) {
    Rng rng(2);
    check_op({.inputs = {random_tensor({places_of_rows.total()}, rng, 2.0)},
              .op =
                  [](const std::vector<Tensor>& x) {
                      return coverage_loss({x[0], places_of_rows}, two_targets);
                  },
              .reference =
                  [](const std::vector<Doubles>& v) {
                      const Doubles a = row_softmax(v[0], places_of_rows);
                      double loss = 0;
                      for (std::int64_t i = 0; i < two_targets.count(); ++i) {
                          const std::int64_t n = places_of_rows.length(two_targets.begin(i));
                          Doubles c(static_cast<std::size_t>(n), 0.0);
                          for (std::int64_t r = two_targets.begin(i); r < two_targets.end(i); ++r)
                              for (std::int64_t j = 0; j < n; ++j) {
                                  const double w =
                                      a[static_cast<std::size_t>(places_of_rows.begin(r) + j)];
                                  loss += std::min(w, c[static_cast<std::size_t>(j)]);
                                  c[static_cast<std::size_t>(j)] += w;
                              }
                      }
                      return Doubles{loss / static_cast<double>(two_targets.total())};
                  }});
}

// Looking at one place again and again costs 1 a step; at another each time, nothing.
TEST(CoverageLoss, OfSharpLooks) {
    Tensor same({9}), other({9});
    for (int i = 0; i < 9; ++i) {
        same.write()[i] = i % 3 == 1 ? 50.0f : 0.0f;
        other.write()[i] = i % 3 == i / 3 ? 50.0f : 0.0f;
    }
    const Segments rows = Segments::uniform(3, 3), one = Segments::of_lengths({3});
    EXPECT_NEAR(coverage_loss({same, rows}, one).item(), 2.0 / 3.0, 1e-6);
    EXPECT_NEAR(coverage_loss({other, rows}, one).item(), 0, 1e-6);
}

TEST(CoverageLoss, RowsOfATargetSeeEquallyMuch) {
    const Tensor x = Tensor::zeros({5});
    EXPECT_THROW(coverage_loss({x, Segments::of_lengths({3, 2})}, Segments::of_lengths({2})),
                 Error);
    EXPECT_THROW(coverage_loss({x, Segments::of_lengths({3, 2})}, Segments::of_lengths({3})),
                 Error);
}

}  // namespace
}  // namespace fovea
