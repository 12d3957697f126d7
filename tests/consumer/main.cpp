// The smallest use of the installed library: one trained layer, one gradient.
#include <fovea/autograd/tape.h>
#include <fovea/ops/linear.h>
#include <cstdio>

int main() {
    const fovea::Tensor x = fovea::Tensor::of({1, 2}, {1, 2});
    fovea::Tensor w = fovea::Tensor::of({1, 2}, {3, 4});
    w.set_trainable(true);
    fovea::Tape tape;
    const fovea::Tensor y = fovea::linear(x, w);
    const fovea::Gradients d = tape.gradients(y);
    std::printf("y = %g, dy/dw = [%g, %g]\n", y.item(), d[w].at(0, 0), d[w].at(0, 1));
    return y.item() == 11 && d[w].at(0, 1) == 2 ? 0 : 1;
}
