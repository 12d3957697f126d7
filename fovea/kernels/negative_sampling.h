#pragma once
// Steps of word vectors learned by negative sampling (Mikolov et al. 2013; with subwords:
// Bojanowski et al. 2017), by stochastic gradient descent in place:
//
//   h = mean of the input rows of a bag          (skip-gram: the word; CBOW: the words around it)
//   L = −Σ log σ(h·u₊) − Σ log σ(−h·u₋)          over output rows u of true words and drawn ones
//   α = rate · (1 or 0 − σ(h·u))   u += α h   g = Σ α u   every row of the bag += g
//
// (g is not divided by the size of the bag: word2vec and fastText do not either.)
//
// A step takes many windows at once: all read the tables as they were before it, then all that they
// add is added, row by row and in the order of the windows. Work is split by windows and by rows,
// never by threads, so any number of threads gives the same bits. As in Ji et al. 2016 a window is
// one small product: skip-gram's h is met by all that the window tells and by all words drawn for
// it, where word2vec reads and writes the rows of h once for each pair.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea::kernels {

// The rows of the input table that make up each word: rows[begin[w]] … rows[begin[w + 1]].
struct WordRows {
    std::span<const std::int64_t> begin;
    std::span<const std::int32_t> rows;
};

// Draws word w with probability ∝ weight[w], from one random number (Walker's alias method).
class WordSampler {
public:
    explicit WordSampler(std::span<const double> weights);
    std::int32_t draw(std::uint64_t bits) const {
        const auto at = static_cast<std::uint32_t>(((bits >> 32) * keep_.size()) >> 32);
        return static_cast<std::int32_t>(
            static_cast<std::uint32_t>(bits) <= keep_[at] ? at : other_[at]);
    }
    std::size_t size() const { return keep_.size(); }

private:
    std::vector<std::uint32_t> keep_, other_;
};

struct WordWindow {
    std::int32_t center, begin, end;  // positions; the window is [begin, end) without its centre
    std::uint64_t name;               // of its random draws
};

struct WordTables {
    float *input, *output;
    std::int64_t dim;
};

struct NegativeSamplingWork {
    std::span<const std::int32_t> words;  // of each position
    std::span<const WordWindow> windows;  // their centres rising
    bool skip_gram = true;                // else CBOW
    int negatives = 5;
    float rate = 0;
    std::uint64_t seed = 0;
};

struct NegativeSamplingLoss {
    double sum = 0;
    std::int64_t pairs = 0;  // true words told
};

// Keeps its scratch from step to step. Not thread-safe: one step at a time.
class NegativeSamplingKernel {
public:
    NegativeSamplingLoss step(const WordTables& tables, const WordRows& rows,
                              const WordSampler& sampler, const NegativeSamplingWork& work);

    struct Entry {  // row += scale · source
        std::int32_t row, source;
        float scale;
    };
    static constexpr int shards = 8;         // of a table's rows
    static constexpr std::int64_t unit = 8;  // windows (positions) handled together
    struct Unit {
        std::vector<Entry> output[shards], input[shards];
        NegativeSamplingLoss loss;
        std::vector<std::int32_t> targets;  // scratch
        std::vector<float> scores, labels;
    };

private:
    void make_room(std::int64_t count);
    std::int32_t find_windows(const NegativeSamplingWork& work);

    std::vector<Unit> units_;
    std::vector<float> sums_, hidden_, gradients_, spread_;
    std::vector<std::int32_t> first_window_;
};

}  // namespace fovea::kernels
