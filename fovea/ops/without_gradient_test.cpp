#include "fovea/ops/without_gradient.h"

#include <gtest/gtest.h>

#include "fovea/autograd/tape.h"
#include "fovea/ops/arithmetic.h"

namespace fovea {
namespace {

TEST(WithoutGradient, WhatIsMadeInsideIsData) {
    Tensor x = Tensor::of({1}, {3});
    x.set_trainable(true);
    Tape tape;
    Tensor square;
    without_gradient([&] { square = mul(x, x); });
    EXPECT_EQ(square.item(), 9);
    const Gradients d = tape.gradients(mul(square, x));  // 9 x, not x³
    EXPECT_EQ(d[x].item(), 9);
}

TEST(WithoutGradient, TheTapeComesBackAfterAnError) {
    Tensor x = Tensor::of({1}, {3});
    x.set_trainable(true);
    Tape tape;
    EXPECT_THROW(without_gradient([] { throw Error("no"); }), Error);
    EXPECT_EQ(tape.gradients(mul(x, x))[x].item(), 6);
}

}  // namespace
}  // namespace fovea
