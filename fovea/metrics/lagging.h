#pragma once
// How far a translation that is written while its source is still being read lags behind an ideal
// one that keeps pace (Ma et al. 2019, eqs. 9-11). Of n source and m target tokens, g(t) are read
// when target token t (from 1) is written; with wait-k reading g(t) = min(n, t + k − 1):
//   AL = 1/τ Σ_{t=1}^{τ} (g(t) − (t − 1) n / m)      τ: the first t with g(t) = n
// A translation that begins when all is read has AL = n.
// Thread-safety: plain values and pure functions.
#include <cstddef>

namespace fovea {

// Of one text; both have at least one token, k is from 1.
double average_lagging(std::size_t source, std::size_t target, std::size_t k);

// The mean over texts; 0 of none.
class AverageLagging {
public:
    void add(std::size_t source, std::size_t target, std::size_t k) {
        if (source == 0 || target == 0) return;
        sum_ += average_lagging(source, target, k);
        ++texts_;
    }
    double mean() const { return texts_ == 0 ? 0 : sum_ / static_cast<double>(texts_); }

private:
    double sum_ = 0;
    std::size_t texts_ = 0;
};

}  // namespace fovea
