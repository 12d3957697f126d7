#pragma once
// Word vectors: a table of words and, after Bojanowski et al. 2017 (fastText), of character
// n-grams, so that a word is the mean of its own row and of those of its n-grams, and a word that
// was never seen is the mean of its n-grams' rows. They are learned by ops/negative_sampling.h.
// Thread-safety: const calls from several threads are safe while nobody trains the tables.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// n-grams of min … max characters of "<word>" share `buckets` rows by a hash. No buckets: none.
struct SubwordRule {
    int min = 3, max = 6;
    std::int64_t buckets = 0;

    bool on() const { return buckets > 0 && max > 0 && min <= max; }
    // Their rows, behind those of the words, in fastText's order: by where they begin, the shorter
    // first. A character at an end ("<" and ">") is no n-gram by itself.
    void append_rows(std::string_view word, std::int64_t words, Ids& rows) const;
};

// FNV-1a of 32 bits over bytes that are signed, as fastText has it: files depend on it.
std::uint32_t subword_hash(std::string_view bytes);

struct WordVectors {
    static constexpr const char* end_of_line = "</s>";  // a word too: lines end with it

    // Words are found by their number from here on; of two that are the same the first counts.
    void index();
    std::optional<std::int32_t> find(std::string_view word) const;
    std::int64_t dim() const { return input.cols(); }

    // The rows that make up a word, seen or not; none: nothing is known of it.
    Ids rows_of(std::string_view word) const;
    // Their mean into `to` [dim]; zeros and false where there are none.
    bool vector_of(std::string_view word, float* to) const;

    std::vector<std::string> words;
    std::vector<std::int64_t> counts;  // how often each was seen; empty: unknown
    SubwordRule subwords;
    bool skip_gram = true;  // how they were learned; else CBOW
    Tensor input;           // [words + buckets, dim]
    Tensor output;          // [words, dim]; empty where a file has none

private:
    std::unordered_map<std::string, std::int32_t> numbers_;
};

struct Neighbour {
    std::int32_t word;
    float similarity;  // cosine
};

// The words of a table by their direction: neighbours and analogies.
class WordNeighbours {
public:
    explicit WordNeighbours(const WordVectors& vectors);

    // For each query (rows [n, dim]) the `count` nearest words but those of `without`, nearest
    // first; equal ones by their number. A query of zeros has none.
    std::vector<std::vector<Neighbour>> nearest(const Tensor& queries, std::size_t count,
                                                std::span<const Ids> without) const;

private:
    Tensor unit_;  // [words, dim], each of length one
};

// v / ‖v‖ in place; zeros stay.
void normalise(std::span<float> v);

}  // namespace fovea
