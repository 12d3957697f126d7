#include "fovea/kernels/rows/sum_rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/kernels/gemm/gemm_oracle.h"

namespace fovea::kernels {
namespace {

using oracle::Matrix;
using oracle::random_matrix;

TEST(SumRows, AgreesWithDoubleAndHasTheSameBitsEverywhere) {
    oracle::Restore restore;
    for (const std::int64_t rows : {0, 1, 3, 255, 256, 257, 1300})
        for (const std::int64_t cols : {1, 17, 64, 100, 600}) {
            const Matrix x = random_matrix(rows, cols, 1, 3);
            Matrix first(1, cols);
            for (const Isa isa : oracle::levels())
                for (const int threads : {1, 3}) {
                    set_isa(isa);
                    set_thread_count(threads);
                    Matrix out(1, cols), more = random_matrix(1, cols, 2);
                    const Matrix before = more;
                    sum_rows(x, out);
                    sum_rows(x, more, true);
                    for (std::int64_t j = 0; j < cols; ++j) {
                        double sum = 0;
                        for (std::int64_t i = 0; i < rows; ++i) sum += x.at(i, j);
                        EXPECT_NEAR(out.at(0, j), sum, 1e-6 * static_cast<double>(rows + 1));
                        EXPECT_EQ(more.at(0, j), before.at(0, j) + out.at(0, j));
                    }
                    if (isa == Isa::scalar && threads == 1) first = out;
                    EXPECT_EQ(oracle::differences(out, first), 0) << name_of(isa);
                }
        }
}

}  // namespace
}  // namespace fovea::kernels
