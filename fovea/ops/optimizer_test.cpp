#include "fovea/ops/optimizer.h"

#include <cmath>

#include "fovea/kernels/gemm/pack_cache.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/op_check.h"

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
