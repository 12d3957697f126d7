#pragma once
// From a text of word numbers to steps of negative sampling: which words are kept, how wide a
// window is, and which windows make a step. All of it is a function of (seed, epoch, place in the
// text). Not thread-safe: it belongs to the training loop.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/word_corpus.h"
#include "fovea/ops/negative_sampling.h"

namespace fovea {

struct WordWindowOptions {
    int window = 5;          // words on each side at most; drawn anew for each word from 1 to that
    double sample = 1e-4;    // threshold of subsampling frequent words; 0: all are kept
    int step_windows = 128;  // windows that read the tables before any of them writes
    std::uint64_t seed = 1;
};

class VectorsText {
public:
    VectorsText(const WordCorpus& corpus, const WordWindowOptions& options);

    // The probability of keeping word w: √(t/f) + t/f with f its share of the text (fastText's
    // form of Mikolov et al. 2013).
    float keep(std::size_t word) const { return keep_[word]; }

    // Trains on these lines of the corpus.
    NegativeSampling::Loss train(std::span<const std::int64_t> lines, std::int64_t epoch,
                                 float rate, NegativeSampling& sampling);

private:
    void draw_line(std::int64_t line, std::int64_t epoch);
    void add_line(float rate, NegativeSampling& sampling, NegativeSampling::Loss& loss);
    void flush(float rate, NegativeSampling& sampling, NegativeSampling::Loss& loss);

    const WordCorpus& corpus_;
    WordWindowOptions options_;
    std::vector<float> keep_;
    // The line at hand, after subsampling: words, widths of their windows, names of their draws.
    Ids words_;
    std::vector<std::int32_t> widths_;
    std::vector<std::uint64_t> names_;
    // The step that is being filled.
    Ids step_words_;
    std::vector<TextWindow> step_windows_;
};

}  // namespace fovea
