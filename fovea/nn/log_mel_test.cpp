#include "fovea/nn/log_mel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "fovea/base/files.h"

namespace fovea {
namespace {

Json golden() {
    const std::string path = std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/speech.json";
    return Json::parse(read_file(path));
}

std::vector<float> samples_of(const Json& clip) {
    std::vector<float> x;
    for (const int v : clip.at("samples")) x.push_back(static_cast<float>(v) / 32768.0f);
    return x;
}

TEST(LogMel, IsThatOfWhisperFeatureExtractor) {
    const Json all = golden();
    for (const Json& clip : all.at("log_mel")) {
        const LogMel log_mel(LogMelConfig{.feature_size = clip.at("bands")});
        const Tensor y = log_mel(samples_of(clip));
        const std::vector<float> wanted = clip.at("features");  // [bands, frames]
        ASSERT_EQ(y.size(), static_cast<std::int64_t>(wanted.size()));
        for (std::int64_t r = 0; r < y.rows(); ++r)
            for (std::int64_t c = 0; c < y.cols(); ++c)
                ASSERT_NEAR(y.at(r, c), wanted[static_cast<std::size_t>(c * y.rows() + r)], 1e-4);
    }
}

// The same in double, from the definition.
std::vector<double> in_double(const std::vector<float>& x, const LogMel& m) {
    const LogMelConfig& c = m.config();
    const Tensor filters = m.filters();
    const auto n = static_cast<std::int64_t>(x.size()), rows = m.frames_of(n);
    std::vector<double> y;
    double top = -1e9;
    for (std::int64_t r = 0; r < rows; ++r) {
        std::vector<double> power;
        for (int k = 0; k <= c.n_fft / 2; ++k) {
            std::complex<double> sum = 0;
            for (int i = 0; i < c.n_fft; ++i) {
                std::int64_t at = r * c.hop_length + i - c.n_fft / 2;
                if (at < 0) at = -at;
                if (at >= n) at = 2 * (n - 1) - at;
                const double turn = 2 * std::numbers::pi * i / c.n_fft;
                sum += (0.5 - 0.5 * std::cos(turn)) *
                       static_cast<double>(x[static_cast<std::size_t>(at)]) *
                       std::polar(1.0, -turn * k);
            }
            power.push_back(std::norm(sum));
        }
        for (int b = 0; b < c.feature_size; ++b) {
            double sum = 0;
            for (std::size_t k = 0; k < power.size(); ++k)
                sum += power[k] * static_cast<double>(filters.at(b, static_cast<std::int64_t>(k)));
            y.push_back(std::log10(std::max(1e-10, sum)));
            top = std::max(top, y.back());
        }
    }
    for (double& v : y) v = (std::max(v, top - 8) + 4) / 4;
    return y;
}

TEST(LogMel, IsWithinTwoHundredThousandthsOfDouble) {
    for (const Json& clip : golden().at("log_mel")) {
        const LogMel log_mel(LogMelConfig{.feature_size = clip.at("bands")});
        const std::vector<float> x = samples_of(clip);
        const Tensor y = log_mel(x);
        const auto wanted = in_double(x, log_mel);
        double worst = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            worst = std::max(worst, std::abs(static_cast<double>(y.data()[i]) - wanted[i]));
        EXPECT_LT(worst, 2e-5);
        EXPECT_LT(worst, 1e-6) << "measured 3e-7: it has grown";
    }
}

TEST(LogMel, ShortClipsAndOtherRates) {
    const LogMel log_mel(
        LogMelConfig{.feature_size = 20, .sampling_rate = 8000, .n_fft = 200, .hop_length = 80});
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{2}, std::size_t{79}, std::size_t{161}}) {
        const Tensor y = log_mel(std::vector<float>(n, 0.25f));
        EXPECT_EQ(y.rows(), n < 160 ? 1 : 2);
        for (const float v : y.values()) EXPECT_TRUE(std::isfinite(v));
    }
    EXPECT_THROW(log_mel({}), Error);
    EXPECT_THROW(LogMel(LogMelConfig{.n_fft = 402}), Error);
}

// A tone lies in the band of its pitch; warped by 1.1, in that of the higher pitch.
TEST(LogMel, WarpMovesTones) {
    const LogMel log_mel{LogMelConfig{}};
    const auto loudest = [&](double hertz, double warp) {
        std::vector<float> x(4000);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(
                std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / 16000));
        const Tensor y = log_mel(x, warp);
        const float* row = y.data() + 10 * y.cols();
        return std::max_element(row, row + 80) - row;
    };
    EXPECT_EQ(loudest(1000, 1.1), loudest(1100, 1.0));
    EXPECT_EQ(loudest(3000, 0.9), loudest(2700, 1.0));
    EXPECT_NE(loudest(1000, 1.0), loudest(1100, 1.0));
}

TEST(LogMel, ConfigComesBack) {
    const LogMelConfig c{.feature_size = 40, .sampling_rate = 8000, .n_fft = 200, .hop_length = 80};
    EXPECT_EQ(LogMelConfig::from_json(c.to_json(), "f").to_json(), c.to_json());
    EXPECT_THROW(LogMelConfig::from_json({{"n_fft", 0}}, "f"), Error);
    EXPECT_THROW(LogMelConfig::from_json({{"feature_size", 1000000}}, "f"), Error);
}

}  // namespace
}  // namespace fovea
