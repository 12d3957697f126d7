#pragma once
// All ways to cut a word into pieces: what the unigram trainer sums and maximises over.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/text/train/train_unigram_text.h"

namespace fovea {

// Finds the pieces that begin at a place: a trie over symbols whose nodes lie level by level, the
// children of one node side by side, so that a step down touches one or two cache lines.
class PieceTrie {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    // Pieces in lexicographic order, none empty, none twice; the id of a piece is its place.
    explicit PieceTrie(std::span<const std::span<const Symbol>> pieces);

    // visit(length, id) for every piece that `text` begins with, shortest first.
    template <class Visit>
    void prefixes(std::span<const Symbol> text, Visit&& visit) const {
        if (text.empty() || text[0] >= roots_.size()) return;
        std::uint32_t node = roots_[text[0]];
        for (std::size_t i = 1; node != none; ++i) {
            if (ids_[node] != none) visit(i, ids_[node]);
            if (i == text.size()) return;
            node = child(node, text[i]);
        }
    }

private:
    std::uint32_t child(std::uint32_t node, Symbol s) const {
        std::uint32_t begin = first_child_[node], end = first_child_[node + 1];
        while (end - begin > 8) {
            const std::uint32_t middle = (begin + end) / 2;
            (symbols_[middle] <= s ? begin : end) = middle;
        }
        for (; begin < end; ++begin)
            if (symbols_[begin] == s) return begin;
        return none;
    }

    std::vector<std::uint32_t> roots_;        // first symbol -> node
    std::vector<Symbol> symbols_;             // that lead to each node
    std::vector<std::uint32_t> ids_;          // of each node; none = inside
    std::vector<std::uint32_t> first_child_;  // of each node, and one more
};

// Expected counts and best cuts under piece probabilities. Holds scratch memory: one per thread.
class WordLattice {
public:
    WordLattice(const PieceTrie& trie, std::span<const double> scores);

    // Adds to expected[id] how often each piece occurs in `count` words on average over all cuts
    // (forward-backward). Returns the log probability of one word.
    double expect_pieces(std::span<const Symbol> word, double count, std::span<double> expected);

    // The best cut, last piece first; pieces equal to `without` are not used. Returns its log
    // probability, or minus infinity where there is no cut.
    double best_cut(std::span<const Symbol> word, std::uint32_t without,
                    std::vector<std::uint32_t>& pieces);

private:
    struct Edge {
        std::uint32_t from, to, id;
    };
    const PieceTrie& trie_;
    std::span<const double> scores_;
    std::vector<double> probabilities_;
    std::vector<Edge> edges_;
    std::vector<double> alpha_, beta_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> back_;  // where from, by which piece

    void find_edges(std::span<const Symbol> word);
    double sum_cuts(std::size_t length);
    double sum_cuts_directly(std::size_t length);
};

}  // namespace fovea
