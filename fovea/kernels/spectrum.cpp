#include "fovea/kernels/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/threads.h"

#ifndef FOVEA_KERNELS_SPECTRUM_ONCE_
#define FOVEA_KERNELS_SPECTRUM_ONCE_
namespace fovea::kernels {

// Frames stand side by side: value i of all of them, then value i + 1. Each has its own lane, so
// its bits depend on nothing else.
inline constexpr std::int64_t spectrum_lanes = 8;

struct SpectrumWork {
    const SpectrumPass* pass;
    const double *x_real, *x_imaginary;
    double *y_real, *y_imaginary;
};

// Of a transform of n/2 complex points z_j = x_2j + i x_2j+1 to the n points of the real x.
struct SpectrumSplit {
    std::int64_t half;
    const double *real, *imaginary, *cosines, *sines;
    double* power;  // [half + 1, lanes]
};

}  // namespace fovea::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/spectrum.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
// At most as many lanes as there are frames side by side. Products and sums are never fused: the
// scalar level has the same bits.
using SpectrumTag = hn::CappedTag<double, spectrum_lanes>;
using SpectrumVec = hn::Vec<SpectrumTag>;

struct SpectrumComplex {
    SpectrumVec re, im;
};

HWY_INLINE SpectrumComplex Plus(const SpectrumComplex& a, const SpectrumComplex& b) {
    return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
HWY_INLINE SpectrumComplex Minus(const SpectrumComplex& a, const SpectrumComplex& b) {
    return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
HWY_INLINE SpectrumComplex MinusITimes(const SpectrumComplex& a) { return {a.im, hn::Neg(a.re)}; }
HWY_INLINE SpectrumComplex Scaled(const SpectrumComplex& a, double by) {
    const SpectrumTag d;
    return {hn::Mul(a.re, hn::Set(d, by)), hn::Mul(a.im, hn::Set(d, by))};
}
HWY_INLINE SpectrumComplex Times(const SpectrumComplex& a, double c, double s) {
    const SpectrumTag d;
    const auto vc = hn::Set(d, c), vs = hn::Set(d, s);
    return {hn::Sub(hn::Mul(a.re, vc), hn::Mul(a.im, vs)),
            hn::Add(hn::Mul(a.re, vs), hn::Mul(a.im, vc))};
}

HWY_INLINE void Dft(const SpectrumComplex (&a)[2], SpectrumComplex (&b)[2], const SpectrumPass&) {
    b[0] = Plus(a[0], a[1]);
    b[1] = Minus(a[0], a[1]);
}

HWY_INLINE void Dft(const SpectrumComplex (&a)[4], SpectrumComplex (&b)[4], const SpectrumPass&) {
    const SpectrumComplex p = Plus(a[0], a[2]), m = Minus(a[0], a[2]);
    const SpectrumComplex q = Plus(a[1], a[3]), r = MinusITimes(Minus(a[1], a[3]));
    b[0] = Plus(p, q);
    b[1] = Plus(m, r);
    b[2] = Minus(p, q);
    b[3] = Minus(m, r);
}

HWY_INLINE void Dft(const SpectrumComplex (&a)[5], SpectrumComplex (&b)[5],
                    const SpectrumPass& pass) {
    const double c1 = pass.root_cosines[1], c2 = pass.root_cosines[2];
    const double s1 = -pass.root_sines[1], s2 = -pass.root_sines[2];
    const SpectrumComplex p1 = Plus(a[1], a[4]), p2 = Plus(a[2], a[3]);
    const SpectrumComplex m1 = Minus(a[1], a[4]), m2 = Minus(a[2], a[3]);
    const SpectrumComplex e1 = Plus(a[0], Plus(Scaled(p1, c1), Scaled(p2, c2)));
    const SpectrumComplex e2 = Plus(a[0], Plus(Scaled(p1, c2), Scaled(p2, c1)));
    const SpectrumComplex o1 = MinusITimes(Plus(Scaled(m1, s1), Scaled(m2, s2)));
    const SpectrumComplex o2 = MinusITimes(Minus(Scaled(m1, s2), Scaled(m2, s1)));
    b[0] = Plus(a[0], Plus(p1, p2));
    b[1] = Plus(e1, o1);
    b[4] = Minus(e1, o1);
    b[2] = Plus(e2, o2);
    b[3] = Minus(e2, o2);
}

// y[j + s (p q + t)] = ω_n^{q t} Σ_r x[j + s (q + groups r)] ω_p^{r t}
template <int P>
HWY_INLINE void PassOf(const SpectrumWork& w) {
    const SpectrumTag d;
    const SpectrumPass& pass = *w.pass;
    const std::int64_t run = pass.stride * spectrum_lanes;
    for (std::int64_t q = 0; q < pass.groups; ++q)
        for (std::int64_t j = 0; j < run; j += static_cast<std::int64_t>(hn::Lanes(d))) {
            SpectrumComplex a[P], b[P];
            for (int r = 0; r < P; ++r) {
                const std::int64_t at = j + run * (q + pass.groups * r);
                a[r] = {hn::LoadU(d, w.x_real + at), hn::LoadU(d, w.x_imaginary + at)};
            }
            Dft(a, b, pass);
            for (int t = 0; t < P; ++t) {
                const auto twiddle = static_cast<std::size_t>(P * q + t);
                const SpectrumComplex y =
                    t == 0 || q == 0 ? b[t]
                                     : Times(b[t], pass.cosines[twiddle], pass.sines[twiddle]);
                const std::int64_t to = j + run * (P * q + t);
                hn::StoreU(y.re, d, w.y_real + to);
                hn::StoreU(y.im, d, w.y_imaginary + to);
            }
        }
}

// Any other radix, point by point.
HWY_INLINE void PassOfAny(const SpectrumWork& w) {
    const SpectrumTag d;
    const SpectrumPass& pass = *w.pass;
    const std::int64_t run = pass.stride * spectrum_lanes, p = pass.radix;
    for (std::int64_t q = 0; q < pass.groups; ++q)
        for (std::int64_t t = 0; t < p; ++t)
            for (std::int64_t j = 0; j < run; j += static_cast<std::int64_t>(hn::Lanes(d))) {
                SpectrumComplex sum{hn::Zero(d), hn::Zero(d)};
                for (std::int64_t r = 0; r < p; ++r) {
                    const std::int64_t at = j + run * (q + pass.groups * r);
                    const auto root = static_cast<std::size_t>(r * t % p);
                    sum = Plus(
                        sum, Times({hn::LoadU(d, w.x_real + at), hn::LoadU(d, w.x_imaginary + at)},
                                   pass.root_cosines[root], pass.root_sines[root]));
                }
                const auto twiddle = static_cast<std::size_t>(p * q + t);
                const SpectrumComplex y = Times(sum, pass.cosines[twiddle], pass.sines[twiddle]);
                const std::int64_t to = j + run * (p * q + t);
                hn::StoreU(y.re, d, w.y_real + to);
                hn::StoreU(y.im, d, w.y_imaginary + to);
            }
}

void SpectrumPassPiece(const SpectrumWork& w) {
    switch (w.pass->radix) {
        case 2:
            return PassOf<2>(w);
        case 4:
            return PassOf<4>(w);
        case 5:
            return PassOf<5>(w);
        default:
            return PassOfAny(w);
    }
}

// X_k = (Z_k + Z̄_{h−k}) / 2 − i e^{−2πik/n} (Z_k − Z̄_{h−k}) / 2
void SpectrumSplitPiece(const SpectrumSplit& s) {
    const SpectrumTag d;
    for (std::int64_t k = 0; k <= s.half; ++k) {
        const std::int64_t own = k % s.half * spectrum_lanes;
        const std::int64_t other = (s.half - k) % s.half * spectrum_lanes;
        for (std::int64_t j = 0; j < spectrum_lanes; j += static_cast<std::int64_t>(hn::Lanes(d))) {
            const SpectrumComplex z{hn::LoadU(d, s.real + own + j),
                                    hn::LoadU(d, s.imaginary + own + j)};
            const SpectrumComplex c{hn::LoadU(d, s.real + other + j),
                                    hn::Neg(hn::LoadU(d, s.imaginary + other + j))};
            const SpectrumComplex x = Plus(
                Plus(z, c), MinusITimes(Times(Minus(z, c), s.cosines[k], s.sines[k])));  // twice X
            hn::StoreU(hn::Mul(hn::Set(d, 0.25), hn::Add(hn::Mul(x.re, x.re), hn::Mul(x.im, x.im))),
                       d, s.power + k * spectrum_lanes + j);
        }
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(SpectrumPassPiece);
HWY_EXPORT(SpectrumSplitPiece);

namespace {

double spectrum_angle(std::int64_t k, std::int64_t n) {
    return -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
}

std::int64_t spectrum_radix(std::int64_t n) {
    for (const std::int64_t p : {5, 4, 2})
        if (n % p == 0) return p;
    for (std::int64_t p = 3; p * p <= n; p += 2)
        if (n % p == 0) return p;
    return n;
}

SpectrumPass spectrum_pass(std::int64_t points, std::int64_t stride) {
    SpectrumPass pass;
    pass.radix = spectrum_radix(points);
    pass.groups = points / pass.radix;
    pass.stride = stride;
    for (std::int64_t r = 0; r < pass.radix; ++r) {
        pass.root_cosines.push_back(std::cos(spectrum_angle(r, pass.radix)));
        pass.root_sines.push_back(std::sin(spectrum_angle(r, pass.radix)));
    }
    for (std::int64_t q = 0; q < pass.groups; ++q)
        for (std::int64_t t = 0; t < pass.radix; ++t) {
            pass.cosines.push_back(std::cos(spectrum_angle(q * t, points)));
            pass.sines.push_back(std::sin(spectrum_angle(q * t, points)));
        }
    return pass;
}

}  // namespace

Spectrum::Spectrum(int n) : n_(n) {
    for (int i = 0; i < n; ++i)
        window_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / n));
    for (int k = 0; k <= n / 2; ++k) {
        cosines_.push_back(std::cos(spectrum_angle(k, n)));
        sines_.push_back(std::sin(spectrum_angle(k, n)));
    }
    for (std::int64_t points = n / 2, stride = 1; points > 1;) {
        passes_.push_back(spectrum_pass(points, stride));
        points = passes_.back().groups;
        stride *= passes_.back().radix;
    }
}

void Spectrum::operator()(ConstView frames, View power) const {
    const auto run = FOVEA_DISPATCH(SpectrumPassPiece);
    const auto split = FOVEA_DISPATCH(SpectrumSplitPiece);
    const std::int64_t half = n_ / 2, size = half * spectrum_lanes;
    const std::int64_t blocks = (frames.rows + spectrum_lanes - 1) / spectrum_lanes;
    parallel_for(blocks, 2, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> memory(static_cast<std::size_t>(4 * size));
        std::vector<double> found(static_cast<std::size_t>(size + spectrum_lanes));
        for (std::int64_t block = begin; block < end; ++block) {
            double *x = memory.data(), *y = x + 2 * size;  // each: real parts, then imaginary ones
            const std::int64_t first = block * spectrum_lanes;
            const std::int64_t some = std::min(spectrum_lanes, frames.rows - first);
            for (std::int64_t lane = 0; lane < some; ++lane) {
                const float* in = frames.row(first + lane);
                for (std::int64_t i = 0; i < half; ++i) {
                    const auto at = static_cast<std::size_t>(2 * i);
                    x[i * spectrum_lanes + lane] = window_[at] * static_cast<double>(in[at]);
                    x[size + i * spectrum_lanes + lane] =
                        window_[at + 1] * static_cast<double>(in[at + 1]);
                }
            }
            for (const SpectrumPass& pass : passes_) {
                run({&pass, x, x + size, y, y + size});
                std::swap(x, y);
            }
            split({half, x, x + size, cosines_.data(), sines_.data(), found.data()});
            for (std::int64_t lane = 0; lane < some; ++lane)
                for (std::int64_t k = 0; k <= half; ++k)
                    power.row(first + lane)[k] = static_cast<float>(
                        found[static_cast<std::size_t>(k * spectrum_lanes + lane)]);
        }
    });
}

}  // namespace fovea::kernels
#endif
