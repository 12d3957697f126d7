#include "fovea/ops/crf.h"

#include "fovea/base/json.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// A chain in double, and all its paths one by one.
struct Chain {
    std::int64_t n;
    Doubles e, pairs, start, end;
    TagOrder order{};

    static Chain of(const std::vector<Doubles>& x, const TagOrder& order) {
        return {static_cast<std::int64_t>(x[2].size()), x[0], x[1], x[2], x[3], order};
    }

    double score(const std::vector<int>& path, std::int64_t first) const {
        const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
        if (path.empty()) return 0;
        bool allowed = true;
        double sum = start[at(path.front())] + end[at(path.back())];
        if (!order.pairs.empty())
            allowed = order.start[at(path.front())] && order.end[at(path.back())];
        for (std::size_t t = 0; t < path.size(); ++t) {
            sum += e[at((first + static_cast<std::int64_t>(t)) * n + path[t])];
            if (t == 0) continue;
            sum += pairs[at(path[t - 1] * n + path[t])];
            allowed = allowed && order.allows(path[t - 1], path[t]);
        }
        return allowed ? sum : -std::numeric_limits<double>::infinity();
    }

    // In rising order of the last tag, then of the one before …: the order of ties.
    template <class Visit>
    void each_path(std::int64_t length, Visit&& visit) const {
        std::vector<int> path(static_cast<std::size_t>(length), 0);
        for (;;) {
            visit(path);
            std::size_t t = 0;
            while (t < path.size() && ++path[t] == n) path[t++] = 0;
            if (t == path.size()) return;
        }
    }

    double log_sum(std::int64_t first, std::int64_t length) const {
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        each_path(length, [&](const auto& p) { top = std::max(top, score(p, first)); });
        each_path(length, [&](const auto& p) { sum += std::exp(score(p, first) - top); });
        return top + std::log(sum);
    }
};

const Segments four = Segments::of_lengths({1, 3, 0, 4});
const Ids tags_of_four = {1, 0, 2, 2, 1, 2, 2, 0};

// As in BIO: 2 only after 1 or 2, and not first.
TagOrder bio() {
    return {.start = {1, 1, 0}, .end = {1, 1, 1}, .pairs = {1, 1, 0, 1, 1, 1, 1, 1, 1}};
}
const Ids tags_in_order = {1, 0, 1, 2, 1, 2, 2, 0};

std::vector<Tensor> random_chain(std::int64_t rows, std::int64_t tags, std::uint64_t seed,
                                 double scale = 1.0) {
    Rng rng(seed);
    return {random_tensor({rows, tags}, rng, scale), random_tensor({tags, tags}, rng, scale),
            random_tensor({tags}, rng, scale), random_tensor({tags}, rng, scale)};
}

CrfWeights weights_of(const std::vector<Tensor>& x) { return {x[1], x[2], x[3]}; }

OpCase crf_case(const Ids& tags, const CrfOptions& options) {
    OpCase c;
    c.inputs = random_chain(8, 3, 11);
    c.op = [=](const std::vector<Tensor>& x) {
        return crf_loss(x[0], four, tags, weights_of(x), options);
    };
    c.reference = [=](const std::vector<Doubles>& x) {
        const Chain chain = Chain::of(x, options.order);
        Doubles losses;
        double sum = 0;
        for (std::int64_t s = 0; s < four.count(); ++s) {
            const std::vector<int> gold(tags.begin() + four.begin(s), tags.begin() + four.end(s));
            losses.push_back(chain.log_sum(four.begin(s), four.length(s)) -
                             chain.score(gold, four.begin(s)));
            sum += losses.back();
        }
        if (options.reduction == Reduction::none) return losses;
        return Doubles{options.reduction == Reduction::mean ? sum / 8 : sum};
    };
    return c;
}

TEST(CrfLoss, IsThatOfAllPathsOneByOne) {
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum})
        check_op(crf_case(tags_of_four, {.reduction = r}));
}

TEST(CrfLoss, LeavesOutForbiddenPaths) {
    check_op(crf_case(tags_in_order, {.order = bio(), .reduction = Reduction::none}));
}

TEST(CrfLoss, OneTagOnlyHasNoLoss) {
    const auto x = random_chain(8, 1, 3);
    const Tensor y = crf_loss(x[0], four, Ids(8, 0), weights_of(x), {.reduction = Reduction::none});
    for (const float l : y.values()) EXPECT_NEAR(l, 0, 1e-6);
}

// Scores so far apart that e^−score is no double: sums over paths are those of the logarithms.
TEST(CrfLoss, BearsScoresOfThousands) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto x = random_chain(8, 3, seed, 900);
        std::vector<Doubles> in;
        for (const Tensor& t : x) in.push_back(doubles_of(t));
        Tape tape;
        std::vector<Tensor> w;
        for (const Tensor& t : x) w.push_back(tape.watch(t));
        const CrfOptions options{.order = bio(), .reduction = Reduction::none};
        const Tensor y = crf_loss(w[0], four, tags_in_order, weights_of(w), options);
        const Doubles wanted = crf_case(tags_in_order, options).reference(in);
        for (std::size_t s = 0; s < wanted.size(); ++s)
            EXPECT_NEAR(y.data()[s], wanted[s], 1e-6 * std::max(1.0, wanted[s])) << seed;
        const Gradients g = tape.gradients(y, Tensor::full({4}, 1.0f));
        double pairs = 0;  // each row has a tag before it, but for the first: shares add up to 0
        for (const float v : g[w[1]].values()) {
            EXPECT_TRUE(std::isfinite(v));
            pairs += v;
        }
        EXPECT_NEAR(pairs, 0, 1e-5);
    }
}

TEST(CrfMarginals, AreSharesOfAllPaths) {
    for (const TagOrder& order : {TagOrder{}, bio()}) {
        const auto x = random_chain(8, 3, 5);
        std::vector<Doubles> in;
        for (const Tensor& t : x) in.push_back(doubles_of(t));
        const Chain chain = Chain::of(in, order);
        const Tensor p = crf_marginals(x[0], four, weights_of(x), order);
        for (std::int64_t s = 0; s < four.count(); ++s) {
            const double z = chain.log_sum(four.begin(s), four.length(s));
            Doubles shares(static_cast<std::size_t>(four.length(s) * 3), 0);
            chain.each_path(four.length(s), [&](const auto& path) {
                for (std::size_t t = 0; t < path.size(); ++t)
                    shares[t * 3 + static_cast<std::size_t>(path[t])] +=
                        std::exp(chain.score(path, four.begin(s)) - z);
            });
            for (std::size_t i = 0; i < shares.size(); ++i)
                EXPECT_NEAR(p.data()[static_cast<std::size_t>(four.begin(s)) * 3 + i], shares[i],
                            1e-6);
        }
    }
}

TEST(CrfDecode, FindsTheBestOfAllPaths) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        auto x = random_chain(8, 3, seed);
        if (seed % 4 == 0)  // ties: whole numbers
            for (Tensor& t : x)
                for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] = std::round(t.data()[i]);
        std::vector<Doubles> in;
        for (const Tensor& t : x) in.push_back(doubles_of(t));
        const TagOrder order = seed % 2 ? bio() : TagOrder{};
        const Chain chain = Chain::of(in, order);
        const TagPaths found = crf_decode(x[0], four, weights_of(x), order);
        for (std::int64_t s = 0; s < four.count(); ++s) {
            double best = -std::numeric_limits<double>::infinity();
            std::vector<int> path;
            chain.each_path(four.length(s), [&](const auto& p) {
                if (const double score = chain.score(p, four.begin(s)); score > best)
                    best = score, path = p;
            });
            EXPECT_NEAR(found.scores[static_cast<std::size_t>(s)], best, 1e-9);
            const std::vector<int> got(found.tags.begin() + four.begin(s),
                                       found.tags.begin() + four.end(s));
            EXPECT_NEAR(chain.score(got, four.begin(s)), best, 1e-9) << "seed " << seed;
            if (seed % 4) {
                EXPECT_EQ(got, path) << "seed " << seed;
            }
        }
    }
}

struct CrfBits {
    std::vector<float> losses, emissions, marginals;
    Ids path;
    bool operator==(const CrfBits&) const = default;  // exact: they are floats of the same bits
};

CrfBits bits_of(const std::vector<Tensor>& x, const Segments& segments, const Ids& tags) {
    Tape tape;
    const Tensor e = tape.watch(Tensor::of(x[0].shape(), x[0].span()));
    const Tensor y = crf_loss(e, segments, tags, weights_of(x), {.reduction = Reduction::none});
    CrfBits b;
    b.losses = y.values();
    b.emissions = tape.gradients(y, Tensor::full(y.shape(), 0.3f))[e].values();
    b.marginals = crf_marginals(x[0], segments, weights_of(x)).values();
    b.path = crf_decode(x[0], segments, weights_of(x)).tags;
    return b;
}

TEST(Crf, ASequenceHasTheSameBitsInAnyBatch) {
    const std::vector<std::int64_t> lengths = {5, 1, 33, 0,  17, 2, 9, 1, 1,  40,
                                               3, 3, 8,  12, 1,  6, 7, 4, 21, 2};
    const Segments all = Segments::of_lengths(lengths);
    const auto x = random_chain(all.total(), 7, 9);
    Ids tags;
    for (std::int64_t i = 0; i < all.total(); ++i)
        tags.push_back(static_cast<std::int32_t>((i * 5 + i / 3) % 7));
    const CrfBits together = bits_of(x, all, tags);
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        EXPECT_TRUE(bits_of(x, all, tags) == together);
    }
    set_thread_count(0);
    for (std::int64_t s = 0; s < all.count(); ++s) {
        const std::int64_t from = all.begin(s), n = all.length(s);
        std::vector<Tensor> one = x;
        one[0] = Tensor::of({n, 7}, x[0].span().subspan(static_cast<std::size_t>(from * 7),
                                                        static_cast<std::size_t>(n * 7)));
        const CrfBits alone = bits_of(one, Segments::of_lengths({n}),
                                      Ids(tags.begin() + from, tags.begin() + from + n));
        EXPECT_EQ(alone.losses[0], together.losses[static_cast<std::size_t>(s)]);
        for (std::int64_t i = 0; i < n * 7; ++i) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(from * 7 + i);
            EXPECT_EQ(alone.emissions[a], together.emissions[b]);
            EXPECT_EQ(alone.marginals[a], together.marginals[b]);
        }
        EXPECT_EQ(alone.path, Ids(together.path.begin() + from, together.path.begin() + from + n));
    }
}

Tensor tensor_of(const Json& j, const Shape& shape) {
    return Tensor::of(shape, j.get<std::vector<float>>());
}

void expect_near(const Tensor& got, const Json& wanted, double tolerance) {
    const auto w = wanted.get<Doubles>();
    ASSERT_EQ(static_cast<std::size_t>(got.size()), w.size());
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(got.data()[i], w[i], tolerance);
}

// tools/make_goldens_crf.py: another implementation, padded and masked, with torch's autograd.
TEST(Crf, AgreesWithAnIndependentImplementation) {
    const Json golden = read_json(FOVEA_SOURCE_DIR "/tests/goldens/crf.json");
    ASSERT_GE(golden["cases"].size(), 6u);
    for (const Json& c : golden["cases"]) {
        const Segments segments =
            Segments::of_lengths(c["lengths"].get<std::vector<std::int64_t>>());
        const auto k = c["tags"].get<std::int64_t>();
        Tape tape;
        const Tensor e = tape.watch(tensor_of(c["emissions"], {segments.total(), k}));
        const CrfWeights w{tape.watch(tensor_of(c["pairs"], {k, k})),
                           tape.watch(tensor_of(c["start"], {k})),
                           tape.watch(tensor_of(c["end"], {k}))};
        CrfOptions options{.reduction = Reduction::none};
        if (!c["order"].is_null()) {
            using Mask = std::vector<std::uint8_t>;
            options.order = {.start = c["order"]["start"].get<Mask>(),
                             .end = c["order"]["end"].get<Mask>(),
                             .pairs = c["order"]["pairs"].get<Mask>()};
        }
        const Tensor y = crf_loss(e, segments, c["gold"].get<Ids>(), w, options);
        expect_near(y, c["loss"], 2e-5);
        const Gradients g = tape.gradients(y, Tensor::full(y.shape(), 1.0f));
        expect_near(g[e], c["d_emissions"], 1e-6);
        expect_near(g[w.pairs], c["d_pairs"], 5e-6);
        expect_near(g[w.start], c["d_start"], 1e-6);
        expect_near(g[w.end], c["d_end"], 1e-6);
        EXPECT_EQ(crf_decode(e, segments, w, options.order).tags, c["best"].get<Ids>());
    }
}

TEST(Crf, SaysWhereTagsBreakTheirOrder) {
    const auto x = random_chain(8, 3, 5);
    const auto message = [](const auto& call) -> std::string {
        try {
            call();
        } catch (const Error& e) {
            return e.what();
        }
        return "no error";
    };
    Ids tags = tags_in_order;
    tags[1] = 2;
    EXPECT_EQ(message([&] { crf_loss(x[0], four, tags, weights_of(x), {.order = bio()}); }),
              "crf_loss: tag 2 of row 1 begins a sequence, which its order forbids");
    tags = tags_in_order;
    tags[2] = 0, tags[3] = 2;
    EXPECT_EQ(message([&] { crf_loss(x[0], four, tags, weights_of(x), {.order = bio()}); }),
              "crf_loss: tag 2 of row 3 follows tag 0, which its order forbids");
    TagOrder none = bio();
    none.end = {0, 0, 0};
    EXPECT_EQ(message([&] { crf_decode(x[0], four, weights_of(x), none); }),
              "crf_decode: the order of tags allows no path of sequence 0");
}

}  // namespace
}  // namespace fovea
