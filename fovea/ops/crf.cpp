#include "fovea/ops/crf.h"

#include <cmath>
#include <limits>
#include <memory>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/crf.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

void check_crf(const char* op, const Tensor& emissions, const Segments& segments,
               const CrfWeights& w, const TagOrder& order) {
    expect_f32(op, "emissions", emissions);
    expect_f32(op, "pairs", w.pairs);
    expect_f32(op, "start", w.start);
    expect_f32(op, "end", w.end);
    const std::int64_t n = emissions.cols();
    expect(n > 0, op, ": there are no tags");
    expect(emissions.rows() == segments.total(), op, ": emissions are ", emissions.shape(),
           " but the segments have ", segments.total(), " rows");
    expect(w.pairs.shape() == Shape({n, n}), op, ": there are ", n, " tags but pairs are ",
           w.pairs.shape());
    expect(w.start.size() == n && w.end.size() == n, op, ": there are ", n, " tags but start is ",
           w.start.shape(), " and end ", w.end.shape());
    const auto fits = [](const std::vector<std::uint8_t>& allowed, std::int64_t size) {
        return allowed.empty() || static_cast<std::int64_t>(allowed.size()) == size;
    };
    expect(fits(order.start, n) && fits(order.end, n) && fits(order.pairs, n * n) &&
               order.start.empty() == order.pairs.empty() &&
               order.end.empty() == order.pairs.empty(),
           op, ": the order of tags is not one of ", n, " tags");
}

std::vector<double> scores_of(const Tensor& x, const std::vector<std::uint8_t>& allowed) {
    std::vector<double> scores(x.data(), x.data() + x.size());
    for (std::size_t i = 0; i < allowed.size(); ++i)
        if (!allowed[i]) scores[i] = -std::numeric_limits<double>::infinity();
    return scores;
}

kernels::CrfChain chain_of(const Tensor& emissions, const Segments& segments, const CrfWeights& w,
                           const TagOrder& order) {
    return {.emissions = emissions,
            .offsets = segments.offsets(),
            .start = scores_of(w.start, order.start),
            .end = scores_of(w.end, order.end),
            .pairs = scores_of(w.pairs, order.pairs)};
}

// Sums over all paths: of prefixes [rows · tags], of whole sequences.
struct PathSums {
    explicit PathSums(const kernels::CrfChain& chain)
        : prefixes(static_cast<std::size_t>(chain.emissions.size())),
          whole(chain.offsets.size() - 1) {
        kernels::crf_forward(chain, prefixes.data(), whole.data());
    }
    std::vector<double> prefixes, whole;
};

void check_tags(const Segments& segments, const Ids& tags, std::int64_t n, const TagOrder& order) {
    expect(static_cast<std::int64_t>(tags.size()) == segments.total(),
           "crf_loss: ", segments.total(), " rows of emissions but ", tags.size(), " tags");
    for (std::size_t i = 0; i < tags.size(); ++i)
        expect(tags[i] >= 0 && tags[i] < n, "crf_loss: tag ", tags[i], " of row ", i,
               " is outside of the ", n, " tags");
    if (order.pairs.empty()) return;
    const auto at = [&](std::int64_t row) { return tags[static_cast<std::size_t>(row)]; };
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        if (segments.length(s) == 0) continue;
        expect(order.start[static_cast<std::size_t>(at(segments.begin(s)))] != 0, "crf_loss: tag ",
               at(segments.begin(s)), " of row ", segments.begin(s),
               " begins a sequence, which its order forbids");
        expect(order.end[static_cast<std::size_t>(at(segments.end(s) - 1))] != 0, "crf_loss: tag ",
               at(segments.end(s) - 1), " of row ", segments.end(s) - 1,
               " ends a sequence, which its order forbids");
        for (std::int64_t t = segments.begin(s) + 1; t < segments.end(s); ++t)
            expect(order.allows(at(t - 1), at(t)), "crf_loss: tag ", at(t), " of row ", t,
                   " follows tag ", at(t - 1), ", which its order forbids");
    }
}

// What each sequence's loss is multiplied by.
std::vector<float> sequence_factors(const Segments& segments, Reduction reduction) {
    const float one = reduction == Reduction::mean && segments.total() > 0
                          ? static_cast<float>(1.0 / static_cast<double>(segments.total()))
                          : 1.0f;
    return std::vector<float>(static_cast<std::size_t>(segments.count()), one);
}

// Sums over runs of sequences, in double, into a gradient.
void give_sum(const std::vector<double>& sum, const Into& to) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
        const auto g = static_cast<float>(sum[i]);
        to.view.data[i] = to.add ? to.view.data[i] + g : g;
    }
}

}  // namespace

//   score(y) = start[y₀] + Σ_t e_t[y_t] + Σ_t pairs[y_{t−1}, y_t] + end[y_last]
//   loss = log Σ_y exp score(y) − score(tags)
//   de_t[j] = p(y_t = j) − 1(tag_t = j)      dpairs_ij = Σ_t p(y_{t−1} = i, y_t = j) − count(i, j)
//   emissions [rows, tags]   pairs [tags, tags]   start, end [tags]   y [1] or [sequences]
Tensor crf_loss(const Tensor& emissions, const Segments& segments, const Ids& tags,
                const CrfWeights& w, const CrfOptions& options) {
    check_crf("crf_loss", emissions, segments, w, options.order);
    check_tags(segments, tags, emissions.cols(), options.order);

    const kernels::CrfChain chain = chain_of(emissions, segments, w, options.order);
    const auto sums = std::make_shared<const PathSums>(chain);
    std::vector<double> gold(sums->whole.size());
    kernels::crf_path_scores(chain, tags.data(), gold.data());
    Tensor losses({segments.count()});
    float* to = losses.write();
    for (std::size_t s = 0; s < gold.size(); ++s)
        to[s] = static_cast<float>(sums->whole[s] - gold[s]);
    const std::vector<float> factors = sequence_factors(segments, options.reduction);
    const Tensor y = detail::reduced(losses, factors, options.reduction);

    const auto backward = [emissions, segments, tags, w, order = options.order, sums, factors](
                              const Tensor& dy, Gradients& d) {
        std::vector<float> f = factors;  // one dy for all sequences, or one for each
        for (std::size_t s = 0; s < f.size(); ++s) f[s] *= dy.data()[dy.size() == 1 ? 0 : s];
        const auto n = static_cast<std::size_t>(emissions.cols());
        std::vector<double> pairs(n * n), start(n), end(n);
        kernels::CrfGradients g;
        if (d.wants(emissions)) {
            const Into de = d.into(emissions);
            g.emissions = de.view;
            g.add = de.add;
        }
        const bool trained = d.wants(w.pairs) || d.wants(w.start) || d.wants(w.end);
        if (trained) g.pairs = pairs.data(), g.start = start.data(), g.end = end.data();
        kernels::crf_backward(chain_of(emissions, segments, w, order), sums->prefixes.data(),
                              sums->whole.data(), tags.data(), f.data(), g);
        if (d.wants(w.pairs)) give_sum(pairs, d.into(w.pairs));
        if (d.wants(w.start)) give_sum(start, d.into(w.start));
        if (d.wants(w.end)) give_sum(end, d.into(w.end));
    };
    return record(y, {emissions, w.pairs, w.start, w.end}, backward);
}

//   p_t[j] = exp(a_t[j] + b_t[j] − log Z)
Tensor crf_marginals(const Tensor& emissions, const Segments& segments, const CrfWeights& w,
                     const TagOrder& order) {
    check_crf("crf_marginals", emissions, segments, w, order);
    const kernels::CrfChain chain = chain_of(emissions, segments, w, order);
    const PathSums sums(chain);
    const std::vector<float> ones(sums.whole.size(), 1.0f);
    Tensor p(emissions.shape());
    kernels::CrfGradients to;
    to.emissions = p.view();
    kernels::crf_backward(chain, sums.prefixes.data(), sums.whole.data(), nullptr, ones.data(), to);
    return p;
}

TagPaths crf_decode(const Tensor& emissions, const Segments& segments, const CrfWeights& w,
                    const TagOrder& order) {
    check_crf("crf_decode", emissions, segments, w, order);
    TagPaths paths{Ids(static_cast<std::size_t>(segments.total())),
                   std::vector<double>(static_cast<std::size_t>(segments.count()))};
    kernels::crf_best_paths(chain_of(emissions, segments, w, order), paths.tags.data(),
                            paths.scores.data());
    for (std::size_t s = 0; s < paths.scores.size(); ++s)
        expect(!(paths.scores[s] == -std::numeric_limits<double>::infinity()),
               "crf_decode: the order of tags allows no path of sequence ", s);
    return paths;
}

}  // namespace fovea
