#include "fovea/metrics/lagging.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

double average_lagging(std::size_t source, std::size_t target, std::size_t k) {
    expect(source > 0 && target > 0 && k > 0, "average lagging: ", source, " source and ", target,
           " target tokens, k ", k);
    const double pace = static_cast<double>(source) / static_cast<double>(target);
    double sum = 0;
    std::size_t t = 1;
    for (;; ++t) {
        const std::size_t read = std::min(source, t + k - 1);
        sum += static_cast<double>(read) - static_cast<double>(t - 1) * pace;
        if (read == source || t == target) break;
    }
    return sum / static_cast<double>(t);
}

}  // namespace fovea
