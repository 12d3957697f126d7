#include "fovea/text/train/train_unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"
#include "fovea/text/train/train_characters.h"
#include "fovea/text/train/train_unigram_lattice.h"
#include "fovea/text/train/train_unigram_text.h"

namespace fovea {

namespace {

// Words are dealt to this many shares, whose sums are added in order: same bits whatever the
// threads.
constexpr std::size_t shares = 8;

// d/dx log Γ(x), by recurrence up to 7 and the asymptotic series there.
double digamma(double x) {
    double r = 0;
    while (x < 7) {
        r -= 1 / x;
        x += 1;
    }
    const double y = 1 / (x * x);
    return r + std::log(x) - 0.5 / x -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240))));
}

struct Piece {
    std::size_t at;  // in UnigramText::symbols; for a character: its symbol
    std::uint32_t length;
    double score;  // log probability
    bool is_character() const { return length == 1; }
};

class UnigramTrainer {
public:
    UnigramTrainer(const UnigramText& text, const UnigramTraining& options)
        : text_(text), options_(options) {
        for (std::size_t i = 0; i < text.alphabet.size(); ++i)
            characters_.push_back(static_cast<Symbol>(i + 1));
    }

    std::vector<UnigramPiece> train() {
        seed();
        const auto wanted = static_cast<std::size_t>(static_cast<double>(options_.pieces) * 1.1);
        const auto start = static_cast<double>(std::max(pieces_.size(), wanted + 1));
        for (;;) {
            for (int i = 0; i < options_.em_steps; ++i) maximise(expected_counts());
            report(std::log(start / static_cast<double>(pieces_.size())) /
                   std::log(start / static_cast<double>(wanted)));
            if (pieces_.size() <= wanted) break;
            const std::size_t before = pieces_.size();
            prune(wanted);
            if (pieces_.size() == before) break;
        }
        return finish();
    }

private:
    void report(double share) const {
        if (!options_.progress) return;
        const auto done = static_cast<std::int64_t>(100 * std::clamp(share, 0.0, 1.0));
        options_.progress({"pruning", done, 100, "%"});
    }

    std::span<const Symbol> symbols(const Piece& p) const {
        if (p.is_character()) return {&characters_[p.at - 1], 1};
        return {text_.symbols.data() + p.at, p.length};
    }

    void seed() {
        const std::size_t n_characters = text_.alphabet.size();
        std::vector<double> weight(n_characters, 0);
        for (std::size_t w = 0; w < text_.words(); ++w)
            for (const Symbol s : text_.word(w))
                weight[s - 1] += static_cast<double>(text_.counts[w]);
        for (std::size_t i = 0; i < n_characters; ++i)
            pieces_.push_back({i + 1, 1, std::max(weight[i], 0.5)});
        const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(options_.seed_size, 0));
        for (const SeedPiece& s :
             find_seeds(text_, static_cast<std::size_t>(options_.max_piece_length), limit))
            pieces_.push_back({s.at, s.length, s.weight});
        // In the order of their symbols, which pruning keeps and the trie relies on.
        std::sort(pieces_.begin(), pieces_.end(), [&](const Piece& a, const Piece& b) {
            const auto x = symbols(a), y = symbols(b);
            return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
        });
        double sum = 0;
        for (const Piece& p : pieces_) sum += p.score;
        for (Piece& p : pieces_) p.score = std::log(p.score) - std::log(sum);
    }

    PieceTrie build_trie() const {
        std::vector<std::span<const Symbol>> sorted;
        sorted.reserve(pieces_.size());
        for (const Piece& p : pieces_) sorted.push_back(symbols(p));
        return PieceTrie(sorted);
    }
    std::vector<double> scores() const {
        std::vector<double> s;
        s.reserve(pieces_.size());
        for (const Piece& p : pieces_) s.push_back(p.score);
        return s;
    }

    // Runs work(lattice, word number, sums) over all words; the sums of the shares are added up.
    template <class Work>
    std::vector<double> sum_over_words(Work&& work) const {
        const PieceTrie trie = build_trie();
        const std::vector<double> score = scores();
        std::vector<std::vector<double>> sums(shares);
        parallel_for(static_cast<std::int64_t>(shares), 1,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (auto k = static_cast<std::size_t>(begin);
                              k < static_cast<std::size_t>(end); ++k) {
                             sums[k].assign(pieces_.size(), 0.0);
                             WordLattice lattice(trie, score);
                             const std::size_t from = text_.words() * k / shares;
                             const std::size_t to = text_.words() * (k + 1) / shares;
                             for (std::size_t w = from; w < to; ++w) work(lattice, w, sums[k]);
                         }
                     });
        for (std::size_t k = 1; k < shares; ++k)
            for (std::size_t i = 0; i < pieces_.size(); ++i) sums[0][i] += sums[k][i];
        return std::move(sums[0]);
    }

    std::vector<double> expected_counts() const {
        return sum_over_words([&](WordLattice& lattice, std::size_t w, std::vector<double>& sums) {
            lattice.expect_pieces(text_.word(w), static_cast<double>(text_.counts[w]), sums);
        });
    }

    // Pieces expected less than half a time go. The digamma of the counts instead of their log is
    // the variational M step under a sparse Dirichlet prior (Liang & Klein 2009, tutorial on
    // structured Bayesian nonparametrics, section 3.3): rare pieces pay more.
    void maximise(const std::vector<double>& expected) {
        constexpr double least = 0.5;
        std::size_t kept = 0;
        double sum = 0;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (expected[i] < least && !pieces_[i].is_character()) continue;
            pieces_[kept] = pieces_[i];
            pieces_[kept].score = std::max(expected[i], least);
            sum += pieces_[kept++].score;
        }
        pieces_.resize(kept);
        const double log_sum = digamma(sum);
        for (Piece& p : pieces_) p.score = digamma(p.score) - log_sum;
    }

    // Drops the pieces without which the likelihood falls least: a piece would be written by the
    // best cut of the rest (Kudo 2018, section 3.2, step 2c).
    void prune(std::size_t wanted) {
        const std::vector<double> used =
            sum_over_words([&](WordLattice& lattice, std::size_t w, std::vector<double>& sums) {
                thread_local std::vector<std::uint32_t> cut;
                lattice.best_cut(text_.word(w), PieceTrie::none, cut);
                for (const std::uint32_t id : cut) sums[id] += static_cast<double>(text_.counts[w]);
            });
        double total = 0;
        for (const double u : used) total += u;
        const double log_total = std::log(total);
        const PieceTrie trie = build_trie();
        const std::vector<double> score = scores();
        WordLattice lattice(trie, score);
        std::vector<std::pair<double, std::size_t>> by_loss;  // minus the loss, piece
        std::vector<char> keep(pieces_.size(), 0);
        std::size_t kept = 0;
        std::vector<std::uint32_t> instead;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (pieces_[i].is_character()) {
                keep[i] = 1;
                ++kept;
                continue;
            }
            if (used[i] == 0) continue;
            const double other =
                lattice.best_cut(symbols(pieces_[i]), static_cast<std::uint32_t>(i), instead);
            if (other > pieces_[i].score) continue;  // it would never be chosen
            const double log_total_without =
                std::log(total + used[i] * (static_cast<double>(instead.size()) - 1));
            double without = 0;
            for (const std::uint32_t id : instead)
                without += std::log(used[id] + used[i]) - log_total_without;
            const double loss = used[i] * (std::log(used[i]) - log_total - without);
            by_loss.emplace_back(-loss, i);
        }
        const auto target =
            std::max(wanted, static_cast<std::size_t>(options_.shrinking_factor *
                                                      static_cast<double>(pieces_.size())));
        std::sort(by_loss.begin(), by_loss.end());  // ties: the order of their symbols
        for (const auto& [loss, i] : by_loss) {
            if (kept >= target) break;
            keep[i] = 1;
            ++kept;
        }
        std::size_t out = 0;
        for (std::size_t i = 0; i < pieces_.size(); ++i)
            if (keep[i]) pieces_[out++] = pieces_[i];
        pieces_.resize(out);
    }

    std::vector<UnigramPiece> finish() const {
        std::vector<UnigramPiece> characters, others;
        for (const Piece& p : pieces_)
            (p.is_character() ? characters : others)
                .push_back({text_.spelled(symbols(p)), p.score});
        const auto better = [](const UnigramPiece& a, const UnigramPiece& b) {
            return a.score != b.score ? a.score > b.score : a.piece < b.piece;
        };
        std::sort(others.begin(), others.end(), better);
        const std::size_t room = static_cast<std::size_t>(options_.pieces) - characters.size();
        if (others.size() > room) others.resize(room);
        characters.insert(characters.end(), others.begin(), others.end());
        std::sort(characters.begin(), characters.end(), better);
        return characters;
    }

    const UnigramText& text_;
    const UnigramTraining& options_;
    std::vector<Symbol> characters_;  // every symbol once, for symbols()
    std::vector<Piece> pieces_;       // in the order of their symbols
};

}  // namespace

std::vector<UnigramPiece> train_unigram(const WordCounts& words, const UnigramTraining& options) {
    expect(options.max_piece_length >= 1 && options.max_piece_length < 1000000,
           "unigram training: pieces of at most ", options.max_piece_length, " characters");
    expect(options.shrinking_factor > 0 && options.shrinking_factor < 1,
           "unigram training: a shrinking factor of ", options.shrinking_factor,
           " but it should lie between 0 and 1");
    std::vector<std::uint32_t> alphabet =
        choose_alphabet(words, options.initial_alphabet, options.limit_alphabet);
    if (alphabet.empty()) return {};
    if (static_cast<std::int64_t>(alphabet.size()) > options.pieces) {
        fail_with(ErrorKind::bad_input,
                  text_of("ask for a larger vocabulary, or limit the alphabet to fewer than ",
                          options.pieces, " characters"),
                  "unigram training: the text has ", alphabet.size(),
                  " different characters but there is room for ", options.pieces, " pieces");
    }
    const UnigramText text(words, std::move(alphabet));
    return UnigramTrainer(text, options).train();
}

}  // namespace fovea
