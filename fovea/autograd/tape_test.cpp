#include "fovea/autograd/tape.h"

#include <gtest/gtest.h>

#include <thread>

namespace fovea {
namespace {

// y = a · x, elementwise, as a minimal op.
Tensor scaled(const Tensor& x, float a) {
    Tensor y(x.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) y.write()[i] = a * x.data()[i];
    return record(y, {x}, [x, a](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into g = d.into(x);
        for (std::int64_t i = 0; i < dy.size(); ++i)
            g.view.data[i] = (g.add ? g.view.data[i] : 0.0f) + a * dy.data()[i];
    });
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
    Tensor y(a.shape());
    for (std::int64_t i = 0; i < a.size(); ++i) y.write()[i] = a.data()[i] + b.data()[i];
    return record(y, {a, b}, [a, b](const Tensor& dy, Gradients& d) {
        if (d.wants(a)) d.add(a, dy);
        if (d.wants(b)) d.add(b, dy);
    });
}

Tensor parameter(float v) {
    Tensor p = Tensor::full({2}, v);
    p.set_trainable(true);
    return p;
}

TEST(Tape, SharedUsesAddUp) {
    const Tensor p = parameter(3);
    Tape tape;
    const Tensor y = sum_of(sum_of(scaled(p, 2), scaled(p, 5)), p);  // 8 p
    const Gradients g = tape.gradients(y, Tensor::full({2}, 1));
    EXPECT_EQ(g[p].data()[0], 8);
    EXPECT_EQ(g.count(), 1u);  // intermediates are gone
}

TEST(Tape, AddKeepsHandlesButNeverWritesThroughThem) {
    const Tensor p = parameter(1), q = parameter(1);
    Tape tape;
    const Tensor y = sum_of(sum_of(p, q), p);
    const Tensor one = Tensor::full({2}, 1);
    Gradients g = tape.gradients(y, one);
    EXPECT_EQ(g[p].data()[0], 2);
    EXPECT_EQ(g[q].data()[0], 1);
    EXPECT_EQ(one.data()[0], 1);
}

TEST(Tape, NothingIsRecordedWithoutTapeOrTrackedInput) {
    const Tensor x = Tensor::full({2}, 1);
    EXPECT_EQ(scaled(parameter(1), 2).tape(), 0u);
    Tape tape;
    scaled(x, 2);
    EXPECT_EQ(tape.recorded(), 0u);
    const Tensor w = tape.watch(x);
    const Tensor y = scaled(w, 3);
    EXPECT_EQ(tape.recorded(), 1u);
    {
        const Suspend off;
        EXPECT_EQ(scaled(w, 3).tape(), 0u);
    }
    EXPECT_EQ(tape.gradients(y, Tensor::full({2}, 1))[x].data()[1], 3);
}

TEST(Tape, MicroBatchesAdd) {
    const Tensor p = parameter(1);
    Gradients sum;
    for (const float a : {1.0f, 10.0f}) {
        Tape tape;
        sum += tape.gradients(scaled(p, a), Tensor::full({2}, 1));
    }
    EXPECT_EQ(sum[p].data()[0], 11);
}

TEST(Tape, AUsedTapeOrAForeignTensorIsAnError) {
    const Tensor p = parameter(1);
    Tape tape;
    const Tensor y = scaled(p, 1);
    tape.gradients(y, Tensor::full({2}, 1));
    EXPECT_THROW(tape.gradients(y, Tensor::full({2}, 1)), Error);
    EXPECT_THROW(tape.gradients(scaled(p, 1)), Error);  // two elements
}

TEST(Tape, GradientsHaveTheShapeOfWhatTheyBelongTo) {
    Tensor p = Tensor::full({2, 3}, 1);
    p.set_trainable(true);
    Tape tape;
    const Tensor x = scaled(p, 2);
    Shape seen;
    const Tensor y =
        record(Tensor::of(x.shape(), x.span()), {x}, [x, &seen](const Tensor& dy, Gradients& d) {
            seen = dy.shape();
            d.add(x, dy);
        });
    const Tensor z = scaled(y.reshaped({3, 2}), 5);  // used under another shape
    const Gradients g = tape.gradients(z, Tensor::full({3, 2}, 1));
    EXPECT_EQ(seen, Shape({2, 3}));
    EXPECT_EQ(g[p].shape(), Shape({2, 3}));
    EXPECT_EQ(g[p].data()[5], 10);
}

TEST(Tape, RowNamesTravel) {
    Tensor x = Tensor::full({2}, 1).reshaped({2, 1});
    x.set_row_names(Segments::of_lengths({1, 1}));
    Tape tape;
    EXPECT_TRUE(scaled(tape.watch(x), 2).row_names().has_value());
}

}  // namespace
}  // namespace fovea
