#pragma once
// All ways to cut a word into pieces: what the unigram trainer sums and maximises over.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/text/train_unigram_text.h"

namespace fovea {

// Finds the pieces that begin at a place: a trie over symbols in one hash table.
class PieceTrie {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    explicit PieceTrie(std::size_t pieces);
    void add(std::span<const Symbol> piece, std::uint32_t id);

    // visit(length, id) for every piece that `text` begins with, shortest first.
    template <class Visit>
    void prefixes(std::span<const Symbol> text, Visit&& visit) const {
        std::uint32_t node = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            node = child(node, text[i]);
            if (node == none) return;
            if (ids_[node] != none) visit(i + 1, ids_[node]);
        }
    }

private:
    struct Slot {
        std::uint64_t key;  // node + 1 above, symbol below; 0 = free
        std::uint32_t node;
    };
    static std::uint64_t key_of(std::uint32_t node, Symbol s) {
        return (std::uint64_t{node} + 1) << 21 | s;
    }
    std::size_t home(std::uint64_t key) const {
        key *= 0x9E3779B97F4A7C15u;
        return (key ^ key >> 32) & (slots_.size() - 1);
    }
    std::uint32_t child(std::uint32_t node, Symbol s) const {
        const std::uint64_t key = key_of(node, s);
        for (std::size_t at = home(key);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at].key == key) return slots_[at].node;
            if (slots_[at].key == 0) return none;
        }
    }
    std::uint32_t child_or_new(std::uint32_t node, Symbol s);

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> ids_;  // of each node; none = inside
};

// Expected counts and best cuts under piece probabilities. Holds scratch memory: one a thread.
class WordLattice {
public:
    WordLattice(const PieceTrie& trie, std::span<const double> scores)
        : trie_(trie), scores_(scores) {}

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
    std::vector<Edge> edges_;
    std::vector<double> alpha_, beta_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> back_;  // where from, by which piece

    void find_edges(std::span<const Symbol> word);
    double sum_cuts(std::size_t length);
};

}  // namespace fovea
