#include "fovea/infer/ctc_decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/base/rng.h"
#include "fovea/tensor/tensor.h"

namespace fovea {
namespace {

Tensor random_logits(std::int64_t frames, std::int64_t units, std::uint64_t seed) {
    Rng rng(seed);
    Tensor t({frames, units});
    float* to = t.write();
    for (std::int64_t i = 0; i < t.size(); ++i) to[i] = static_cast<float>(2 * rng.normal());
    return t;
}

// Every path over the units, summed by what it becomes; and the best single path of each.
struct AllPaths {
    std::map<Ids, double> sums, best;

    AllPaths(const Tensor& x, std::int32_t blank) {
        const auto units = static_cast<std::int32_t>(x.cols());
        std::vector<std::int32_t> path(static_cast<std::size_t>(x.rows()), 0);
        for (;;) {
            Ids said;
            double p = 1;
            for (std::size_t t = 0; t < path.size(); ++t) {
                double all = 0;
                for (std::int64_t k = 0; k < units; ++k)
                    all += std::exp(static_cast<double>(x.at(static_cast<std::int64_t>(t), k)));
                p *= std::exp(static_cast<double>(x.at(static_cast<std::int64_t>(t), path[t]))) /
                     all;
                if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) said.push_back(path[t]);
            }
            sums[said] += p;
            best[said] = std::max(best[said], p);
            std::size_t t = 0;
            while (t < path.size() && ++path[t] == units) path[t++] = 0;
            if (t == path.size()) return;
        }
    }
};

TEST(CtcBeam, AWideBeamFindsTheLikeliestUnits) {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (const std::int32_t blank : {0, 2}) {
            const Tensor x = random_logits(6, 3, seed);
            const AllPaths all(x, blank);
            auto best = all.sums.begin();
            for (auto i = all.sums.begin(); i != all.sums.end(); ++i)
                if (i->second > best->second) best = i;
            const auto found = ctc_beam(x, 1000, blank);
            EXPECT_EQ(found[0].units, best->first);
            EXPECT_EQ(found.size(), all.sums.size());
            for (const CtcHypothesis& h : found)
                EXPECT_NEAR(h.score, std::log(all.sums.at(h.units)), 1e-9);
        }
}

TEST(CtcBeam, KeepsItsWidthAndGivesTheSameAgain) {
    const Tensor x = random_logits(40, 12, 5);
    const auto a = ctc_beam(x, 7), b = ctc_beam(x, 7);
    EXPECT_EQ(a.size(), 7u);
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].units, b[i].units);
        EXPECT_EQ(a[i].score, b[i].score);
        if (i > 0) {
            EXPECT_LE(a[i].score, a[i - 1].score);
        }
    }
    EXPECT_GE(a[0].score, ctc_beam(x, 1)[0].score - 1e-9);
}

TEST(CtcGreedy, IsTheBestPathCollapsed) {
    const Tensor x =
        Tensor::of({7, 3}, {0, 9, 0, 0, 9, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0, 9, 9, 0, 0});
    EXPECT_EQ(ctc_greedy(x).units, (Ids{1, 1, 2}));
    EXPECT_EQ(ctc_greedy(Tensor::zeros({0, 3})).units, Ids{});
}

TEST(CtcAlign, IsTheBestPathOfTheUnits) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Tensor x = random_logits(6, 3, seed);
        const AllPaths all(x, 0);
        for (const Ids& units : {Ids{1}, Ids{1, 2}, Ids{2, 2}, Ids{1, 2, 1}}) {
            const auto places = ctc_align(x, units);
            ASSERT_EQ(places.size(), units.size());
            // The path these places mean has the probability of the best one.
            std::vector<std::int32_t> path(6, 0);
            std::int64_t before = 0;
            for (std::size_t u = 0; u < units.size(); ++u) {
                ASSERT_LE(before, places[u].begin);
                ASSERT_LT(places[u].begin, places[u].end);
                for (auto t = places[u].begin; t < places[u].end; ++t)
                    path[static_cast<std::size_t>(t)] = units[u];
                before = places[u].end;
            }
            double p = 1;
            for (std::size_t t = 0; t < 6; ++t) {
                double sum = 0;
                for (std::int64_t k = 0; k < 3; ++k)
                    sum += std::exp(static_cast<double>(x.at(static_cast<std::int64_t>(t), k)));
                p *= std::exp(static_cast<double>(x.at(static_cast<std::int64_t>(t), path[t]))) /
                     sum;
            }
            EXPECT_NEAR(p, all.best.at(units), 1e-9);
        }
    }
    EXPECT_TRUE(ctc_align(random_logits(2, 3, 1), Ids{1, 1}).empty());
    EXPECT_TRUE(ctc_align(random_logits(2, 3, 1), Ids{}).empty());
}

}  // namespace
}  // namespace fovea
