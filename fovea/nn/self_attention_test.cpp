// Self-attention with relative and rotary positions against their formulas in double, and the
// property both are there for: only the difference of two positions counts.
#include "fovea/nn/self_attention.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

constexpr int heads = 2, dk = 4, width = heads * dk, clip = 3;
constexpr PositionCode codes[] = {PositionCode::relative, PositionCode::rotary};

struct Module {
    explicit Module(PositionCode code, std::uint64_t seed = 5) {
        Rng rng(seed);
        attention = std::make_unique<SelfAttention>(
            width, heads, SelfAttention::Options{.positions = code, .clip = clip},
            Params(store, rng));
    }
    ParameterStore store;
    std::unique_ptr<SelfAttention> attention;
};

Doubles product(const Doubles& x, const Doubles& w, std::size_t n) {  // x Wᵀ, all of `width`
    Doubles y(n * width);
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t o = 0; o < width; ++o)
            for (std::size_t i = 0; i < width; ++i)
                y[r * width + o] += x[r * width + i] * w[o * width + i];
    return y;
}

void turn(Doubles& x, const Ids& positions) {
    for (std::size_t r = 0; r < positions.size(); ++r)
        for (std::size_t c = 0; c < width; c += 2) {
            const double angle =
                positions[r] * std::pow(10000.0, -static_cast<double>(c % dk) / dk);
            double &a = x[r * width + c], &b = x[r * width + c + 1];
            const double first = a * std::cos(angle) - b * std::sin(angle);
            b = a * std::sin(angle) + b * std::cos(angle);
            a = first;
        }
}

// x, Wq, Wk, Wv, Wo and (relative) the vectors of differences, pair by pair.
Doubles by_the_formula(const std::vector<Doubles>& in, PositionCode code, const Segments& s,
                       bool causal) {
    const auto n = static_cast<std::size_t>(s.total());
    Doubles q = product(in[0], in[1], n), k = product(in[0], in[2], n), mixed(n * width);
    const Doubles v = product(in[0], in[3], n);
    if (code == PositionCode::rotary) {
        turn(q, position_ids(s));
        turn(k, position_ids(s));
    }
    for (std::int64_t g = 0; g < s.count(); ++g)
        for (std::int64_t i = s.begin(g); i < s.end(g); ++i)
            for (std::size_t h = 0; h < heads; ++h) {
                Doubles w;
                double sum = 0;
                for (std::int64_t j = s.begin(g); j < (causal ? i + 1 : s.end(g)); ++j) {
                    const auto row = static_cast<std::size_t>(
                        std::clamp<std::int64_t>(i - j, -clip, clip) + clip);
                    double score = 0;
                    for (std::size_t e = h * dk; e < (h + 1) * dk; ++e) {
                        double key = k[static_cast<std::size_t>(j) * width + e];
                        if (code == PositionCode::relative) key += in[5][row * width + e];
                        score += q[static_cast<std::size_t>(i) * width + e] * key;
                    }
                    sum += w.emplace_back(std::exp(score / std::sqrt(double{dk})));
                }
                for (std::size_t j = 0; j < w.size(); ++j)
                    for (std::size_t e = h * dk; e < (h + 1) * dk; ++e)
                        mixed[static_cast<std::size_t>(i) * width + e] +=
                            w[j] / sum * v[(static_cast<std::size_t>(s.begin(g)) + j) * width + e];
            }
    return product(mixed, in[4], n);
}

TEST(SelfAttention, ForwardAndGradientsAreTheFormulas) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({6, 0, 9, 1});
    for (const PositionCode code : codes)
        for (const bool causal : {false, true}) {
            const Module m(code);
            const Visibility sees = causal ? past(s) : everything(s, s);
            OpCase c;
            c.inputs = {random_tensor({16, width}, rng)};
            for (int i = 0; i < 4; ++i) c.inputs.push_back(random_tensor({width, width}, rng, 0.4));
            if (code == PositionCode::relative)
                c.inputs.push_back(random_tensor({2 * clip + 1, width}, rng));
            c.op = [&](const std::vector<Tensor>& x) {
                SelfAttention a = *m.attention;
                a.q_proj.weight = x[1];
                a.k_proj.weight = x[2];
                a.v_proj.weight = x[3];
                a.out_proj.weight = x[4];
                if (code == PositionCode::relative) a.relative_keys = x[5];
                return a(x[0], s, sees);
            };
            c.reference = [&](const std::vector<Doubles>& x) {
                return by_the_formula(x, code, s, causal);
            };
            c.max_checked = 40;
            SCOPED_TRACE(text_of(name_of(code), causal ? " causal" : ""));
            check_op(c);
        }
}

TEST(SelfAttention, PackedCachedAndAloneGiveTheSameBits) {
    Rng rng(2);
    const Segments s = Segments::of_lengths({5, 40, 1});
    const Tensor x = random_tensor({s.total(), width}, rng);
    for (const PositionCode code : codes) {
        const Module m(code);
        const Tensor all = (*m.attention)(x, s, past(s));
        for (std::int64_t g = 0; g < s.count(); ++g) {
            const std::int64_t n = s.length(g);
            const auto rows = [&](std::int64_t first, std::int64_t count) {
                return Tensor::of(
                    {count, width},
                    x.span().subspan(static_cast<std::size_t>((s.begin(g) + first) * width),
                                     static_cast<std::size_t>(count * width)));
            };
            const Segments one = Segments::of_lengths({n});
            const Tensor alone = (*m.attention)(rows(0, n), one, past(one));
            EXPECT_EQ(std::memcmp(alone.data(), all.data() + s.begin(g) * width,
                                  static_cast<std::size_t>(n * width) * sizeof(float)),
                      0)
                << name_of(code) << " sequence " << g;
            KvCache cache;
            const Segments fresh = Segments::of_lengths({1});
            for (std::int64_t i = 0; i < n; ++i) {
                cache.reserve(i + 1, width, width);
                const std::vector<KeyList> history = {{{0, i + 1}}};
                const Tensor step = (*m.attention)(rows(i, 1), cache, fresh, {.offset = i},
                                                   past(history, fresh, cache.capacity()));
                ASSERT_EQ(std::memcmp(step.data(), alone.data() + i * width, width * sizeof(float)),
                          0)
                    << name_of(code) << " row " << i;
            }
        }
    }
}

// The weights of a window are the same wherever the same rows stand: in a sequence of equal rows
// row i gives its neighbour at distance d what every row does, and other distances other weights.
TEST(SelfAttention, OnlyTheDifferenceOfPositionsCounts) {
    Rng rng(3);
    const Tensor row = random_tensor({1, width}, rng);
    const std::int64_t n = 300;
    Tensor x({n, width});
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(row.data(), width, x.write() + i * width);
    const Segments s = Segments::of_lengths({n});
    for (const PositionCode code : codes) {
        const Module m(code);
        Probe probe;
        (*m.attention)(x, s, window(s, 5, 5));
        for (int h = 0; h < heads; ++h) {
            const Ragged map = probe.map(0, h);
            const float* first = map.values.data() + map.segments.begin(5);
            double spread = 0;
            for (int d = 1; d < 11; ++d)
                spread = std::max(spread, std::fabs(double{first[d]} - first[0]));
            EXPECT_GT(spread, 1e-3) << name_of(code);  // positions do count
            for (std::int64_t i = 6; i + 5 < n; ++i)
                for (int d = 0; d < 11; ++d)
                    ASSERT_NEAR(map.values.data()[map.segments.begin(i) + d], first[d], 2e-5)
                        << name_of(code) << " row " << i;
        }
    }
}

TEST(SelfAttention, DifferencesBeyondTheClipShareOneVector) {
    Rng rng(4);
    const Module m(PositionCode::relative);
    ASSERT_EQ(m.attention->relative_keys.shape(), Shape({2 * clip + 1, width}));
    Tensor x({20, width});
    const Tensor row = random_tensor({1, width}, rng);
    for (std::int64_t i = 0; i < 20; ++i) std::copy_n(row.data(), width, x.write() + i * width);
    const Segments s = Segments::of_lengths({20});
    Probe probe;
    (*m.attention)(x, s, past(s));
    const Ragged map = probe.map(0, 1);
    const float* last = map.values.data() + map.segments.begin(19);
    for (int j = 0; j <= 19 - clip; ++j) EXPECT_EQ(last[j], last[0]);
    EXPECT_NE(last[19 - clip + 1], last[0]);
}

}  // namespace
}  // namespace fovea
