#include "fovea/ops/optimizer.h"

#include <cmath>

#include "fovea/kernels/gemm/pack_cache.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

TEST(AdamW, FollowsTheEquationsInDouble) {
    at_every_level([] {
        for (const std::int64_t n : {1, 3, 17, 33, 20000}) {
            Rng rng(1);
            Tensor w = random_tensor({n}, rng), m = Tensor::zeros({n}), v = Tensor::zeros({n});
            Doubles rw = doubles_of(w), rm(rw.size()), rv(rw.size());
            AdamStep s{.rate = 0.01f,
                       .beta1 = 0.9f,
                       .beta2 = 0.98f,
                       .eps = 1e-9f,
                       .decay = 0.1f,
                       .gradient_scale = 0.5f};
            for (s.step = 1; s.step <= 5; ++s.step) {
                const Tensor g = random_tensor({n}, rng);
                adamw_update(w, g, m, v, s);
                const double b1 = s.beta1, b2 = s.beta2, t = static_cast<double>(s.step);
                for (std::size_t i = 0; i < rw.size(); ++i) {
                    const double gi = 0.5 * g.data()[i];
                    rm[i] = b1 * rm[i] + (1 - b1) * gi;
                    rv[i] = b2 * rv[i] + (1 - b2) * gi * gi;
                    rw[i] -= static_cast<double>(s.rate) *
                             (static_cast<double>(s.decay) * rw[i] +
                              rm[i] / (1 - std::pow(b1, t)) /
                                  (std::sqrt(rv[i] / (1 - std::pow(b2, t))) + 1e-9));
                    ASSERT_NEAR(w.data()[i], rw[i], 2e-6) << i << " at step " << s.step;
                }
            }
        }
    });
}

TEST(Sgd, FollowsTheEquationsInDouble) {
    at_every_level([] {
        for (const bool nesterov : {false, true}) {
            Rng rng(2);
            const std::int64_t n = 33;
            Tensor w = random_tensor({n}, rng), b = Tensor::zeros({n});
            Doubles rw = doubles_of(w), rb(rw.size());
            for (int step = 0; step < 4; ++step) {
                const Tensor g = random_tensor({n}, rng);
                sgd_update(w, g, b,
                           {.rate = 0.1f, .momentum = 0.9f, .decay = 0.01f, .nesterov = nesterov});
                for (std::size_t i = 0; i < rw.size(); ++i) {
                    const double gi = g.data()[i] + 0.01 * rw[i];
                    rb[i] = 0.9 * rb[i] + gi;
                    rw[i] -= 0.1 * (nesterov ? gi + 0.9 * rb[i] : rb[i]);
                    ASSERT_NEAR(w.data()[i], rw[i], 1e-5);
                }
            }
        }
    });
}

TEST(Optimizer, PackedWeightsAreRewritten) {
    Rng rng(3);
    Tensor w = random_tensor({20, 8}, rng), m = Tensor::zeros(w.shape()),
           v = Tensor::zeros(w.shape());
    const Tensor x = random_tensor({3, 8}, rng), g = random_tensor({20, 8}, rng);
    const Tensor before = linear(x, w);
    const auto held = kernels::pack_cache().entries();
    adamw_update(w, g, m, v, {.rate = 0.1f});
    const Tensor after = linear(x, w), fresh = linear(x, Tensor::of(w.shape(), w.span()));
    EXPECT_TRUE(same_bits(after, fresh));
    EXPECT_FALSE(same_bits(after, before));
    EXPECT_EQ(kernels::pack_cache().entries(), held);
}

// A table [rows, cols] and the gradients of lookups in it, by rows and dense.
struct Lookup {
    Tensor by_rows, dense;
    Gradients sparse_gradients, dense_gradients;

    Lookup(const Shape& shape, Rng& rng)
        : by_rows(random_tensor(shape, rng)), dense(Tensor::of(shape, by_rows.span())) {
        by_rows.set_trainable(true);
        by_rows.set_row_sparse(true);
        dense.set_trainable(true);
    }
    // Two lookups in one tape, and two tapes: all the ways in which sums come about.
    void look_up(const Ids& ids, Rng& rng) {
        const Tensor dy =
            random_tensor({static_cast<std::int64_t>(ids.size()), by_rows.cols()}, rng);
        const auto gradients = [&](const Tensor& table) {
            Gradients sum;
            for (int batch = 0; batch < 2; ++batch) {
                Tape tape;
                const Tensor y =
                    gather_rows(table, ids) + gather_rows(table, Ids(ids.rbegin(), ids.rend()));
                sum += tape.gradients(y, static_cast<float>(batch + 1) * dy);
            }
            return sum;
        };
        sparse_gradients = gradients(by_rows);
        dense_gradients = gradients(dense);
    }
};

TEST(RowSparse, GradientsAndTheirNormAreThoseOfTheDensePathToTheLastBit) {
    at_every_level([] {
        Rng rng(5);
        for (const std::int64_t cols : {1, 3, 16, 33, 100}) {
            Lookup x({3000, cols}, rng);
            x.look_up({2999, 4, 4, 1700, 0, 4, 1701}, rng);
            ASSERT_NE(x.sparse_gradients.rows(x.by_rows), nullptr);
            EXPECT_TRUE(same_bits(x.sparse_gradients[x.by_rows], x.dense_gradients[x.dense]));
            const double norm = global_norm(x.dense_gradients, {{x.dense}});
            EXPECT_EQ(global_norm(x.sparse_gradients, {{x.by_rows}}), norm);
            clip_global_norm(x.sparse_gradients, {{x.by_rows}}, norm / 2);
            clip_global_norm(x.dense_gradients, {{x.dense}}, norm / 2);
            EXPECT_TRUE(same_bits(x.sparse_gradients[x.by_rows], x.dense_gradients[x.dense]));
        }
    });
}

TEST(RowSparse, PlainGradientDescentIsTheDenseUpdateToTheLastBit) {
    at_every_level([] {
        Rng rng(6);
        Lookup x({50, 19}, rng);
        Tensor b = Tensor::zeros({50, 19}), c = Tensor::zeros({50, 19});
        for (int step = 0; step < 5; ++step) {
            x.look_up({step, 7, 49, 7, 3 * step}, rng);
            const SgdStep s{.rate = 0.1f, .gradient_scale = 0.5f};
            sgd_update(x.by_rows, *x.sparse_gradients.rows(x.by_rows), b, s);
            sgd_update(x.dense, x.dense_gradients[x.dense], c, s);
            ASSERT_TRUE(same_bits(x.by_rows, x.dense)) << step;
        }
    });
}

TEST(RowSparse, AdamIsTheDenseUpdateOfTheRowsThatWereLookedUp) {
    Rng rng(7);
    Lookup x({40, 21}, rng);
    Tensor m = Tensor::zeros({40, 21}), v = Tensor::zeros({40, 21});
    // The reference: looked-up rows as a parameter of their own, by the dense kernel.
    Tensor w = Tensor::of({40, 21}, x.by_rows.span()), rm = Tensor::zeros({40, 21}),
           rv = Tensor::zeros({40, 21});
    for (std::int64_t step = 1; step <= 6; ++step) {
        const Ids ids{static_cast<std::int32_t>(step), 11,
                      static_cast<std::int32_t>(30 + step % 2)};
        x.look_up(ids, rng);
        const AdamStep s{.rate = 0.01f, .decay = 0.1f, .gradient_scale = 0.7f, .step = step};
        for (const int threads : {1, 3}) {  // the second time into copies
            set_thread_count(threads);
            Tensor cw = Tensor::of({40, 21}, x.by_rows.span()), cm = Tensor::of({40, 21}, m.span()),
                   cv = Tensor::of({40, 21}, v.span());
            const SplitPieces pieces(3);
            adamw_update(cw, *x.sparse_gradients.rows(x.by_rows), cm, cv, s);
            if (threads == 1) continue;
            adamw_update(x.by_rows, *x.sparse_gradients.rows(x.by_rows), m, v, s);
            EXPECT_TRUE(same_bits(cw, x.by_rows) && same_bits(cm, m) && same_bits(cv, v));
        }
        set_thread_count(0);
        const Tensor g = x.sparse_gradients[x.by_rows];
        for (const std::int32_t r : x.sparse_gradients.rows(x.by_rows)->rows) {
            const auto row = [&](const Tensor& t) {
                return Tensor::of({21}, t.span().subspan(static_cast<std::size_t>(r) * 21, 21));
            };
            Tensor one = row(w), one_m = row(rm), one_v = row(rv);
            adamw_update(one, row(g), one_m, one_v, s);
            std::copy_n(one.data(), 21, w.write() + r * 21);
            std::copy_n(one_m.data(), 21, rm.write() + r * 21);
            std::copy_n(one_v.data(), 21, rv.write() + r * 21);
        }
        ASSERT_TRUE(same_bits(x.by_rows, w) && same_bits(m, rm) && same_bits(v, rv)) << step;
    }
}

TEST(RowSparse, AdamIsTheDenseUpdateForRowsAlwaysLookedUpAndForFirstLookups) {
    Rng rng(8);
    Lookup x({40, 21}, rng);
    Tensor m = Tensor::zeros({40, 21}), v = Tensor::zeros({40, 21}), dm = Tensor::zeros({40, 21}),
           dv = Tensor::zeros({40, 21});
    const auto same_row = [&](std::int64_t r) {
        return std::memcmp(x.by_rows.data() + r * 21, x.dense.data() + r * 21, 21 * 4) == 0;
    };
    for (std::int32_t step = 1; step <= 6; ++step) {
        x.look_up({11, 20 + step}, rng);
        const AdamStep s{.rate = 0.01f, .step = step};
        adamw_update(x.by_rows, *x.sparse_gradients.rows(x.by_rows), m, v, s);
        adamw_update(x.dense, x.dense_gradients[x.dense], dm, dv, s);
        EXPECT_TRUE(same_row(11) && same_row(20 + step) && same_row(3)) << step;
    }
    EXPECT_FALSE(same_row(21));  // dense Adam went on moving it
}

TEST(RowSparse, RowsOutsideOfTheTableAreAnError) {
    Tensor w = Tensor::zeros({3, 2}), m = Tensor::zeros({3, 2}), v = Tensor::zeros({3, 2});
    const RowGradient outside{{1, 3}, Tensor::zeros({2, 2})}, wide{{1}, Tensor::zeros({1, 3})};
    EXPECT_THROW(adamw_update(w, outside, m, v, {}), Error);
    EXPECT_THROW(sgd_update(w, wide, m, {}), Error);
}

TEST(ClipGlobalNorm, SumsInDoubleAndScales) {
    Tensor a = Tensor::zeros({100000}), b = Tensor::zeros({3});
    a.set_trainable(true);
    b.set_trainable(true);
    const std::vector<Tensor> parameters{a, b};
    Gradients g;
    g.add(a, Tensor::full({100000}, 3e-3f));
    EXPECT_NEAR(global_norm(g, parameters), 3e-3 * std::sqrt(1e5), 1e-8);
    g.add(b, Tensor::of({3}, {3e30f, 0, 0}));
    EXPECT_NEAR(global_norm(g, parameters) / 3e30, 1, 1e-6);
    EXPECT_NEAR(clip_global_norm(g, parameters, 1) / 3e30, 1, 1e-6);
    EXPECT_NEAR(g[b].data()[0], 1, 1e-6);
    EXPECT_EQ(clip_scale(0.5, 1), 1.0f);

    Gradients bad;
    bad.add(b, Tensor::of({3}, {1, std::nanf(""), 2}));
    EXPECT_FALSE(std::isfinite(clip_global_norm(bad, parameters, 1)));
    EXPECT_EQ(bad[b].data()[0], 1);
}

TEST(ClipGlobalNorm, SameBitsForAnyThreadsAndLevels) {
    Rng rng(4);
    const Tensor x = random_tensor({300001}, rng);
    Gradients g;
    g.add(x, x);
    const std::vector<Tensor> parameters{x};
    const double want = global_norm(g, parameters);
    at_every_level([&] {
        for (const int threads : {1, 2, 3, 8}) {
            set_thread_count(threads);
            EXPECT_EQ(global_norm(g, parameters), want);
        }
    });
    set_thread_count(0);
}

}  // namespace
}  // namespace fovea
