#include "fovea/text/train_unigram_lattice.h"

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

PieceTrie::PieceTrie(std::size_t pieces) {
    std::size_t slots = 64;
    while (slots < 4 * pieces) slots *= 2;
    slots_.resize(slots);
    ids_.push_back(none);
}

std::uint32_t PieceTrie::child_or_new(std::uint32_t node, Symbol s) {
    const std::uint64_t key = key_of(node, s);
    std::size_t at = home(key);
    for (; slots_[at].key != 0; at = (at + 1) & (slots_.size() - 1))
        if (slots_[at].key == key) return slots_[at].node;
    const auto made = static_cast<std::uint32_t>(ids_.size());
    slots_[at] = {key, made};
    ids_.push_back(none);
    if (2 * ids_.size() > slots_.size()) {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& o : old) {
            if (o.key == 0) continue;
            std::size_t to = home(o.key);
            while (slots_[to].key != 0) to = (to + 1) & (slots_.size() - 1);
            slots_[to] = o;
        }
    }
    return made;
}

void PieceTrie::add(std::span<const Symbol> piece, std::uint32_t id) {
    std::uint32_t node = 0;
    for (const Symbol s : piece) node = child_or_new(node, s);
    ids_[node] = id;
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

double WordLattice::expect_pieces(std::span<const Symbol> word, double count,
                                  std::span<double> expected) {
    find_edges(word);
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
