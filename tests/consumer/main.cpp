// A small use of the installed library: one trained layer, one gradient, and each room named once.
#include <fovea/fovea.h>

#include <cstdio>

int main() {
    const fovea::Tensor x = fovea::Tensor::of({1, 2}, {1, 2});
    fovea::Tensor w = fovea::Tensor::of({1, 2}, {3, 4});
    w.set_trainable(true);
    fovea::Tape tape;
    const fovea::Tensor y = fovea::linear(x, w);
    const fovea::Gradients d = tape.gradients(y);
    std::printf("y = %g, dy/dw = [%g, %g]\n", y.item(), d[w].at(0, 0), d[w].at(0, 1));
    bool good = y.item() == 11 && d[w].at(0, 1) == 2;
    for (const fovea::TaskEntry& task : fovea::tasks())  // links everything below tasks
        std::printf("task %s\n", task.name);
    good = good && fovea::find_task("translate") && !fovea::terminal_legend().empty();
    return good ? 0 : 1;
}
