#pragma once
#include <ctime>

namespace fovea {

// Seconds that the processor spent on this program, all its threads together: what work costs where
// other programs share the machine.
inline double processor_seconds() {
    std::timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace fovea
