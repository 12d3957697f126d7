#include "fovea/ops/without_gradient.h"

#include "fovea/autograd/tape.h"

namespace fovea {

void without_gradient(const std::function<void()>& compute) {
    const Suspend off;
    compute();
}

}  // namespace fovea
