#pragma once
#include <chrono>

namespace fovea {

// Seconds since some fixed moment; never jumps.
inline double now_seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Seconds since its construction.
class Stopwatch {
public:
    Stopwatch() : start_(now_seconds()) {}
    double seconds() const { return now_seconds() - start_; }

private:
    double start_;
};

}  // namespace fovea
