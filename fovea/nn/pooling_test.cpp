// Pooling against its formulas in double; a sequence's vector is the same packed and alone.
#include "fovea/nn/pooling.h"

#include <cmath>

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

constexpr int width = 6, classes = 3, positions = 4;
const Segments segments = Segments::of_lengths({3, 1, 7});  // the last is longer than `positions`

// Σᵢ softmax(score)ᵢ xᵢ over the rows of sequence s.
Doubles mixture(const Doubles& x, std::int64_t s,
                const std::function<double(std::int64_t)>& score) {
    double total = 0;
    Doubles y(width, 0.0);
    for (std::int64_t i = segments.begin(s); i < segments.end(s); ++i) {
        const double e = std::exp(score(i));
        total += e;
        for (std::size_t c = 0; c < width; ++c)
            y[c] += e * x[static_cast<std::size_t>(i) * width + c];
    }
    for (double& v : y) v /= total;
    return y;
}

double dot(const Doubles& q, std::int64_t query, const Doubles& x, std::int64_t row) {
    double sum = 0;
    for (std::int64_t c = 0; c < width; ++c)
        sum += q[static_cast<std::size_t>(query * width + c)] *
               x[static_cast<std::size_t>(row * width + c)];
    return sum / std::sqrt(static_cast<double>(width));
}

Doubles by_the_formula(Pool pool, const std::vector<Doubles>& in) {
    Doubles y;
    for (std::int64_t s = 0; s < segments.count(); ++s)
        for (std::int64_t q = 0; q < (pool == Pool::queries ? classes : 1); ++q) {
            const Doubles v = mixture(in[0], s, [&](std::int64_t row) {
                if (pool != Pool::positions) return dot(in[1], q, in[0], row);
                return in[1][static_cast<std::size_t>(
                    std::min<std::int64_t>(row - segments.begin(s), positions - 1))];
            });
            y.insert(y.end(), v.begin(), v.end());
        }
    return y;
}

struct Module {
    explicit Module(Pool pool) {
        Rng rng(3);
        pooling = std::make_unique<Pooling>(
            width, PoolingOptions{.pool = pool, .classes = classes, .max_positions = positions},
            Params(store, rng) / "pool");
    }
    ParameterStore store;
    std::unique_ptr<Pooling> pooling;
};

TEST(Pooling, LearnedWeightsFollowTheirFormulas) {
    for (const Pool pool : {Pool::attention, Pool::positions, Pool::queries}) {
        SCOPED_TRACE(name_of(pool));
        Rng rng(1);
        const Module m(pool);
        const Tensor own = pool == Pool::positions ? m.pooling->weights : m.pooling->query;
        check_op(
            {.inputs = {random_tensor({segments.total(), width}, rng),
                        random_tensor(own.shape(), rng)},
             .op =
                 [&](const std::vector<Tensor>& x) {
                     Pooling p = *m.pooling;
                     (pool == Pool::positions ? p.weights : p.query) = x[1];
                     return p(x[0], segments);
                 },
             .reference = [&](const std::vector<Doubles>& x) { return by_the_formula(pool, x); }});
    }
}

TEST(Pooling, ASequenceAloneGivesTheSameBits) {
    Rng rng(2);
    const Tensor rows = random_tensor({segments.total(), width}, rng);
    for (const std::string& name : pool_names()) {
        const Module m(pool_of(name));
        const Tensor all = (*m.pooling)(rows, segments);
        const std::int64_t each = all.rows() / segments.count();
        for (std::int64_t s = 0; s < segments.count(); ++s) {
            const std::int64_t n = segments.length(s);
            const Tensor own = Tensor::of(
                {n, width}, rows.span().subspan(static_cast<std::size_t>(segments.begin(s) * width),
                                                static_cast<std::size_t>(n * width)));
            const Tensor alone = (*m.pooling)(own, Segments::of_lengths({n}));
            EXPECT_EQ(0, std::memcmp(alone.data(), all.data() + s * each * width,
                                     static_cast<std::size_t>(each * width) * sizeof(float)))
                << name << ", sequence " << s;
        }
    }
}

TEST(Pooling, RowsAreNamedByTheirSample) {
    Rng rng(2);
    const Segments named = Segments::of_lengths(std::vector<std::int64_t>{2, 3}, {7, 9});
    const Tensor rows = random_tensor({5, width}, rng);
    for (const std::string& name : pool_names()) {
        const Tensor y = (*Module(pool_of(name)).pooling)(rows, named);
        ASSERT_TRUE(y.row_names().has_value()) << name;
        EXPECT_EQ(y.row_names()->sample(1), 9u) << name;
    }
}

TEST(Pooling, AnUnknownNameIsAUsageError) {
    try {
        pool_of("median");
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_NE(e.hint().find("attention"), std::string::npos);
    }
}

}  // namespace
}  // namespace fovea
