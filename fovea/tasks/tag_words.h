#pragma once
// The words of sentences as a network reads them: pieces of a tokenizer in windows that overlap,
// and what each word looks like. Tagging and slot filling stand on them.
// Thread-safety: pure functions and plain values, safe from any thread.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/tensor/token_batch.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct EncodedWords {
    std::vector<Ids> windows, types;  // of pieces; types: empty where the tokenizer gives none
    Ids rows;                         // of each word: its first piece, counted over the windows
    Ids features;                     // what words look like, where the network asks
    std::int64_t words = 0, tokens = 0;
};

struct WordBatch {
    TokenBatch pieces;
    Ids rows, features;
    Segments words;  // of the sentences
};
// sentences[indices[0]], sentences[indices[1]], …
WordBatch pack_words(std::span<const EncodedWords> sentences,
                     std::span<const std::int64_t> indices);

// How many words these sentences have.
std::int64_t words_in(std::span<const EncodedWords> sentences,
                      std::span<const std::int64_t> indices);

// What a network reads of words.
struct WordReading {
    const Tokenizer* tokenizer = nullptr;  // null: it reads no pieces
    int max_length = 0;                    // tokens of a window
    int buckets = 0;                       // of word features; 0: it reads none
};

// `words` are bytes of the text, in order. A text longer than a window is read in several; a
// word's row comes from the window in which it stands furthest from an edge.
EncodedWords encode_words(const WordReading& reading, const std::string& text,
                          std::span<const TextSpan> words);
EncodedWords encode_words(const WordReading& reading, std::span<const std::string> words);

}  // namespace fovea
