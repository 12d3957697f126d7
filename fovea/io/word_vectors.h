#pragma once
// Files of word vectors, as word2vec and fastText have them:
//   text             "words dim", then a line for each word: the word and its numbers, by spaces
//                    (.vec, .txt; GloVe's have no first line)
//   word2vec binary  "words dim", then for each word: the word, a space, its numbers as f32
//   fastText binary  (.bin, version 12) dictionary with counts, rows of words and of n-grams, and
//                    the output table; files that were quantised are refused
// Files are hostile: sizes are checked against the file before memory is asked for.
// Thread-safety: calls for different files may run at once.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct WordVectorFile {
    std::vector<std::string> words;
    std::vector<std::int64_t> counts;  // empty: the file has none
    Tensor input;                      // [words + buckets, dim]
    Tensor output;                     // [words, dim]; empty: the file has none
    std::int64_t buckets = 0;
    int min_n = 0, max_n = 0;
    bool skip_gram = true;
    // What fastText writes down of the training beside that.
    int window = 5, epochs = 5, min_count = 1, negatives = 5;
    double sample = 1e-4;
    std::vector<std::string> notes{};  // "3 words were there twice"
};

enum class WordVectorFormat { text, word2vec, fasttext };

// The format is known by the file's beginning.
WordVectorFile read_word_vectors(const std::string& path);
WordVectorFile parse_word_vectors(const std::string& bytes, const std::string& where);

// Text and word2vec take the first words.size() rows of `input` as the vectors of the words. Words
// with white space in them cannot be written as text.
void write_word_vectors(const std::string& path, const WordVectorFile& vectors,
                        WordVectorFormat format);

}  // namespace fovea
