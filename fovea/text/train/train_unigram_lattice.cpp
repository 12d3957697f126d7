#include "fovea/text/train/train_unigram_lattice.h"

#include <cmath>
#include <limits>

namespace fovea {

namespace {
constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == minus_infinity ? a : a + std::log1p(std::exp(b - a));
}
}  // namespace

PieceTrie::PieceTrie(std::span<const std::span<const Symbol>> pieces) {
    struct Range {
        std::size_t begin, end;  // pieces below the node
    };
    std::vector<Range> level, next;
    // Nodes for the groups of [begin, end) that agree on the symbol at `depth`.
    const auto add_children = [&](std::size_t begin, std::size_t end, std::size_t depth) {
        for (std::size_t i = begin; i < end;) {
            const Symbol s = pieces[i][depth];
            std::size_t j = i + 1;
            while (j < end && pieces[j][depth] == s) ++j;
            symbols_.push_back(s);
            const bool ends_here = pieces[i].size() == depth + 1;
            ids_.push_back(ends_here ? static_cast<std::uint32_t>(i) : none);
            next.push_back({ends_here ? i + 1 : i, j});
            i = j;
        }
    };
    add_children(0, pieces.size(), 0);
    for (std::uint32_t n = 0; n < symbols_.size(); ++n) {
        if (roots_.size() <= symbols_[n]) roots_.resize(symbols_[n] + 1, none);
        roots_[symbols_[n]] = n;
    }
    for (std::size_t depth = 1; !next.empty(); ++depth) {
        level.swap(next);
        next.clear();
        for (const Range& r : level) {
            first_child_.push_back(static_cast<std::uint32_t>(symbols_.size()));
            add_children(r.begin, r.end, depth);
        }
    }
    first_child_.push_back(static_cast<std::uint32_t>(symbols_.size()));
}

WordLattice::WordLattice(const PieceTrie& trie, std::span<const double> scores)
    : trie_(trie), scores_(scores) {
    probabilities_.reserve(scores.size());
    for (const double s : scores) probabilities_.push_back(std::exp(s));
}

void WordLattice::find_edges(std::span<const Symbol> word) {
    edges_.clear();
    for (std::size_t b = 0; b < word.size(); ++b)
        trie_.prefixes(word.subspan(b), [&](std::size_t length, std::uint32_t id) {
            edges_.push_back(
                {static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(b + length), id});
        });
}

// alpha[i]: log of the summed probability of all cuts of the first i symbols; beta[i] of the rest.
// Edges are sorted by their begin, so one pass forward and one backward do.
double WordLattice::sum_cuts(std::size_t n) {
    alpha_.assign(n + 1, minus_infinity);
    beta_.assign(n + 1, minus_infinity);
    alpha_[0] = beta_[n] = 0;
    for (const Edge& e : edges_)
        alpha_[e.to] = log_add(alpha_[e.to], alpha_[e.from] + scores_[e.id]);
    for (std::size_t i = edges_.size(); i-- > 0;) {
        const Edge& e = edges_[i];
        beta_[e.from] = log_add(beta_[e.from], beta_[e.to] + scores_[e.id]);
    }
    return alpha_[n];
}

// The same with probabilities instead of their logarithms: no exp or log an edge. Good for words
// whose probability is a normal number, and that is nearly all of them.
double WordLattice::sum_cuts_directly(std::size_t n) {
    alpha_.assign(n + 1, 0.0);
    beta_.assign(n + 1, 0.0);
    alpha_[0] = beta_[n] = 1;
    for (const Edge& e : edges_) alpha_[e.to] += alpha_[e.from] * probabilities_[e.id];
    for (std::size_t i = edges_.size(); i-- > 0;) {
        const Edge& e = edges_[i];
        beta_[e.from] += beta_[e.to] * probabilities_[e.id];
    }
    return alpha_[n];
}

double WordLattice::expect_pieces(std::span<const Symbol> word, double count,
                                  std::span<double> expected) {
    find_edges(word);
    constexpr double smallest = 1e-270;  // products with parts of the sums stay normal above it
    if (const double total = sum_cuts_directly(word.size()); total > smallest) {
        const double weight = count / total;
        for (const Edge& e : edges_)
            expected[e.id] += weight * alpha_[e.from] * probabilities_[e.id] * beta_[e.to];
        return std::log(total);
    }
    const double total = sum_cuts(word.size());
    if (total == minus_infinity) return total;
    for (const Edge& e : edges_) {
        const double p = std::exp(alpha_[e.from] + scores_[e.id] + beta_[e.to] - total);
        expected[e.id] += count * p;
    }
    return total;
}

double WordLattice::best_cut(std::span<const Symbol> word, std::uint32_t without,
                             std::vector<std::uint32_t>& pieces) {
    find_edges(word);
    alpha_.assign(word.size() + 1, minus_infinity);
    back_.assign(word.size() + 1, {0, PieceTrie::none});
    alpha_[0] = 0;
    for (const Edge& e : edges_) {
        if (e.id == without) continue;
        const double score = alpha_[e.from] + scores_[e.id];
        if (score > alpha_[e.to]) {
            alpha_[e.to] = score;
            back_[e.to] = {e.from, e.id};
        }
    }
    pieces.clear();
    if (alpha_[word.size()] == minus_infinity) return minus_infinity;
    for (std::size_t at = word.size(); at > 0; at = back_[at].first)
        pieces.push_back(back_[at].second);
    return alpha_[word.size()];
}

}  // namespace fovea
