#pragma once
// Runs of tokens, which share a table of fixed size by their hash.
//
// Tokens may be words or pieces: runs of min_ngram … max_ngram of them count. Or characters, with
// `separator_id` between words: then words and pairs of words count too, and runs do not reach
// beyond the separators around a word (Bojanowski et al. 2017: a word that was never seen has parts
// that were, and its beginning and end are told from its middle). A mark (`mark_ids`) parts words
// as a separator does and is a word by itself: "(fine)" is a bracket, the word fine, and a bracket.
// Thread-safety: plain values.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

struct RunConfig {
    int min_ngram = 1, max_ngram = 2;
    int separator_id = -1;  // tokens are characters, and this one parts words; -1: they are words
    int end_id = -1;        // and this one ends a text
    std::vector<int> mark_ids;
    int word_ngram = 2;     // with a separator: runs of words
    int buckets = 1 << 16;  // rows that the runs share

    void apply_runs(const EncoderChoice& choice);
    void read_runs(const Json& json, const std::string& where);
    void write_runs(Json& json) const;
};

// Rows of the table for each token of one sequence after the other: of runs of one token the
// token's own, of others one of the buckets behind those of the `vocabulary`.
class WordRuns {
public:
    WordRuns(const RunConfig& config, int vocabulary);
    void add(std::span<const std::int32_t> tokens);

    Ids ids;
    std::vector<char> of_words;  // of each: a word or a run of words, where tokens are characters
    std::vector<std::int64_t> lengths;  // how many end with each token

private:
    bool is_mark(std::int32_t token) const;
    bool parts(std::int32_t token) const;
    std::uint64_t word_of(std::span<const std::int32_t> tokens) const;
    void add_runs(std::span<const std::int32_t> tokens);
    void add_words(std::span<const std::uint64_t> words);
    void add_bucket(std::uint64_t run, bool words);

    const RunConfig& c_;
    int vocabulary_;
    std::vector<std::int32_t> marks_;
};

}  // namespace fovea
