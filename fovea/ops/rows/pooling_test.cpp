#include "fovea/ops/rows/pooling.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

template <class F>
Doubles pool(const Doubles& x, const Segments& s, std::size_t d, F f) {
    Doubles y;
    for (std::int64_t k = 0; k < s.count(); ++k)
        for (std::size_t j = 0; j < d; ++j) {
            Doubles column;
            for (std::int64_t i = s.begin(k); i < s.end(k); ++i)
                column.push_back(x[static_cast<std::size_t>(i) * d + j]);
            y.push_back(column.empty() ? 0 : f(column));
        }
    return y;
}

TEST(Pooling, EveryKindWithEmptySegments) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({3, 0, 1, 17, 0});
    for (const std::int64_t d : {1, 3, 17, 33}) {
        const auto n = static_cast<std::size_t>(d);
        const Inputs x{random_tensor({21, d}, rng)};
        check_op({.inputs = x,
                  .op = [&](const Inputs& in) { return segment_mean(in[0], s); },
                  .reference =
                      [&](const In& v) {
                          return pool(v[0], s, n, [](const Doubles& c) {
                              double sum = 0;
                              for (const double a : c) sum += a;
                              return sum / static_cast<double>(c.size());
                          });
                      }});
        std::vector<float> weights(21, 0.0f);
        for (std::size_t i = 0; i < 20; ++i) weights[i] = 0.5f - 0.125f * static_cast<float>(i);
        check_op({.inputs = x,
                  .op = [&](const Inputs& in) { return segment_sum(in[0], weights, s); },
                  .reference =
                      [&](const In& v) {
                          Doubles y(v[0].size(), 0.0);
                          for (std::size_t i = 0; i < y.size(); ++i)
                              y[i] = static_cast<double>(weights[i / n]) * v[0][i];
                          return pool(y, s, n, [](const Doubles& c) {
                              double sum = 0;
                              for (const double a : c) sum += a;
                              return sum;
                          });
                      }});
        check_op({.inputs = x,
                  .op = [&](const Inputs& in) { return segment_max(in[0], s); },
                  .reference =
                      [&](const In& v) {
                          return pool(v[0], s, n, [](const Doubles& c) {
                              return *std::max_element(c.begin(), c.end());
                          });
                      }});
        check_op({.inputs = x,
                  .op =
                      [&](const Inputs& in) {
                          return segment_first(in[0], s) + 2.0f * segment_last(in[0], s);
                      },
                  .reference =
                      [&](const In& v) {
                          return pool(v[0], s, n,
                                      [](const Doubles& c) { return c.front() + 2 * c.back(); });
                      }});
    }
}

TEST(Pooling, GradientsAddToThoseAlreadyThereAndRowsAreNamed) {
    Rng rng(2);
    const std::vector<std::int64_t> lengths{2, 3};
    const Segments s = Segments::of_lengths(lengths, {8, 9});
    check_op({.inputs = {random_tensor({5, 4}, rng)},
              .op =
                  [&](const Inputs& in) {
                      const Tensor y = segment_max(in[0], s) + segment_mean(in[0], s);
                      EXPECT_EQ(segment_max(in[0], s).row_names()->sample(1), 9u);
                      return y;
                  },
              .reference =
                  [&](const In& v) {
                      return pool(v[0], s, 4, [](const Doubles& c) {
                          double sum = 0;
                          for (const double a : c) sum += a;
                          return sum / static_cast<double>(c.size()) +
                                 *std::max_element(c.begin(), c.end());
                      });
                  }});
}

TEST(Pooling, ASequenceAloneHasTheSameBits) {
    Rng rng(3);
    const Tensor x = random_tensor({12, 33}, rng);
    const Segments s = Segments::of_lengths({4, 8});
    const Tensor tail = Tensor::of({8, 33}, x.span().subspan(4 * 33));
    const Tensor all = segment_mean(x, s), alone = segment_mean(tail, Segments::of_lengths({8}));
    EXPECT_EQ(std::memcmp(all.data() + 33, alone.data(), 33 * 4), 0);
}

}  // namespace
}  // namespace fovea
