// The pointer that knows where it has looked: whole targets, step by step, packed and alone are the
// same bits, and gradients flow through what it has looked at.
#include "fovea/models/pointer.h"

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/loss/coverage.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/rows/concat.h"

namespace fovea {
namespace {

constexpr int pointer_width = 8;

struct CoveredPointer {
    explicit CoveredPointer(std::uint64_t seed = 2) {
        Rng rng(seed);
        head.emplace(CopyMode::only, pointer_width, Params(store, rng) / "pointer", true);
        Rng noise(seed + 1);  // the coverage vector begins at zero
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.5f * static_cast<float>(noise.normal());
        }
    }
    ParameterStore store;
    std::optional<PointerHead> head;
};

const Segments pointed_from = Segments::of_lengths({5, 3, 4}),
               pointing = Segments::of_lengths({3, 4, 1});
const Ids pointed_tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(CoveredPointer, PackedAloneAndStepByStepAreTheSameBits) {
    const CoveredPointer pointer;
    Rng rng(7);
    const Tensor rows = random_tensor({8, pointer_width}, rng),
                 memory = random_tensor({12, pointer_width}, rng);
    const Tensor keys = pointer.head->keys(memory);
    const CopyChoice all = (*pointer.head)(
        rows, keys, CopySources::all(pointing, pointed_from, pointed_tokens), Tensor());
    ASSERT_EQ(all.scores.rows(), 8);
    for (std::int64_t s = 0; s < 3; ++s) {
        const Segments from = Segments::of_lengths({pointed_from.length(s)}),
                       to = Segments::of_lengths({pointing.length(s)});
        const Ids tokens(pointed_tokens.begin() + pointed_from.begin(s),
                         pointed_tokens.begin() + pointed_from.end(s));
        const Tensor own_keys = slice_rows(keys, pointed_from.begin(s), pointed_from.end(s));
        const CopyChoice alone =
            (*pointer.head)(slice_rows(rows, pointing.begin(s), pointing.end(s)), own_keys,
                            CopySources::all(to, from, tokens), Tensor());
        CopySources step_from = CopySources::all(Segments::of_lengths({1}), from, tokens);
        Coverage coverage = Coverage::none(step_from);
        for (std::int64_t t = 0; t < pointing.length(s); ++t) {
            const std::int64_t row = pointing.begin(s) + t;
            const auto whole = all.scores.row(row), single = alone.scores.row(t);
            const CopyChoice next = pointer.head->step(slice_rows(rows, row, row + 1), own_keys,
                                                       step_from, Tensor(), coverage);
            ASSERT_EQ(whole.size(), single.size());
            EXPECT_EQ(std::memcmp(whole.data(), single.data(), whole.size_bytes()), 0) << row;
            EXPECT_EQ(std::memcmp(whole.data(), next.scores.values.data(), whole.size_bytes()), 0)
                << row;
        }
        // Every step gives away a weight of one.
        double sum = 0;
        for (const float w : coverage.weights.span()) sum += w;
        EXPECT_NEAR(sum, static_cast<double>(pointing.length(s)), 1e-5);
    }
}

// Along the gradient of every parameter the loss rises by its norm.
TEST(CoveredPointer, GradientsFollowTheLoss) {
    CoveredPointer pointer;
    Rng rng(8);
    const Tensor rows = random_tensor({8, pointer_width}, rng),
                 memory = random_tensor({12, pointer_width}, rng);
    const Ids labels = {2, 5, 1, 8, 6, 7, 6, 12};
    const auto loss = [&] {
        const CopyChoice c =
            (*pointer.head)(rows, pointer.head->keys(memory),
                            CopySources::all(pointing, pointed_from, pointed_tokens), Tensor());
        return copy_loss(c, labels) + 0.7f * coverage_loss(c.scores, pointing);
    };
    Tape tape;
    const Gradients g = tape.gradients(loss());
    for (const char* name : {"pointer.q_proj.weight", "pointer.k_proj.weight",
                             "pointer.score_vector", "pointer.coverage_vector"}) {
        Tensor p = pointer.store.at(name);
        const Tensor grad = g[p];
        double norm = 0;
        for (const float v : grad.span()) norm += double{v} * v;
        norm = std::sqrt(norm);
        ASSERT_GT(norm, 1e-3) << name;
        const std::vector<float> keep(p.span().begin(), p.span().end());
        const auto shifted = [&](double by) {
            float* w = p.write();
            for (std::int64_t i = 0; i < p.size(); ++i)
                w[i] = keep[static_cast<std::size_t>(i)] +
                       static_cast<float>(by * grad.data()[i] / norm);
            const double l = loss().item();
            std::copy(keep.begin(), keep.end(), p.write());
            return l;
        };
        const double h = 3e-3;
        EXPECT_NEAR((shifted(h) - shifted(-h)) / (2 * h), norm, 0.03 * norm) << name;
    }
}

// Without the vector of coverage the head is the plain one.
TEST(CoveredPointer, BeginsAsThePlainPointer) {
    ParameterStore store;
    Rng rng(2), same(2);
    ParameterStore other;
    const PointerHead covered(CopyMode::only, pointer_width, Params(store, rng) / "pointer", true),
        plain(CopyMode::only, pointer_width, Params(other, same) / "pointer");
    Rng data(9);
    const Tensor rows = random_tensor({8, pointer_width}, data),
                 memory = random_tensor({12, pointer_width}, data);
    const CopySources from = CopySources::all(pointing, pointed_from, pointed_tokens);
    const CopyChoice a = covered(rows, covered.keys(memory), from, Tensor()),
                     b = plain(rows, plain.keys(memory), from, Tensor());
    ASSERT_EQ(a.scores.values.size(), b.scores.values.size());
    for (std::int64_t i = 0; i < a.scores.values.size(); ++i)
        EXPECT_NEAR(a.scores.values.data()[i], b.scores.values.data()[i], 1e-6);
}

}  // namespace
}  // namespace fovea
