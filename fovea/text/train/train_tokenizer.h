#pragma once
// Trains a whole tokenizer from text:
//
//     fovea::TokenizerTraining training = fovea::training_like("gpt2");
//     training.vocab_size = 8000;
//     const fovea::Tokenizer t(fovea::train_tokenizer({"corpus.txt"}, training));
//     t.save("tokenizer.json");
//
// Deterministic: the same files and options give the same tokenizer, whatever the threads.
//
// Memory: the whole process stays below memory_limit + 1 KB for every token of the vocabulary,
// whatever the corpus. Words are counted in a table (see train_word_counts.h) that is charged with
// what the trainer will need for them; when it is full, the rarest words are forgotten, and the
// report says up to which count words may be missing.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/train/train_progress.h"
#include "fovea/text/train/train_word_counts.h"

namespace fovea {

constexpr std::int64_t least_training_memory = std::int64_t{64} << 20;

enum class TrainedModel { bpe, wordpiece, unigram, word };

struct TokenizerTraining {
    TrainedModel model = TrainedModel::bpe;
    std::int64_t vocab_size = 30000;  // special tokens and alphabet included
    std::int64_t min_frequency = 0;   // of a merged pair, or of a whole word (word)
    // Content and flags of the special tokens; their ids are 0, 1, 2 … in this order.
    std::vector<AddedToken> special_tokens = {};
    std::string unk_token = {};  // one of the special tokens; empty: none
    std::optional<std::int64_t> limit_alphabet = {};
    std::vector<std::string> initial_alphabet = {};  // characters
    std::int64_t max_token_length = 0;               // characters; 0: the model's own rule
    std::string continuing_subword_prefix = {};      // "##" for WordPiece
    std::string end_of_word_suffix = {};             // "</w>" for the BPE of GPT
    bool byte_fallback = false;  // 256 tokens <0x00> … <0xFF> after the special ones
    bool keep_newlines = false;  // a line's "\n" is part of its text
    std::int64_t memory_limit = std::int64_t{2} << 30;  // at least least_training_memory

    // Everything of the result but the model: normaliser, pre-tokeniser, post-processor, decoder.
    // Words are counted with its normaliser and pre-tokeniser, or with `words_as` where that is
    // set (Llama's files have no pre-tokeniser, but one is needed to tell words apart).
    TokenizerSpec pipeline = {};
    std::optional<TokenizerSpec> words_as = {};
    TrainProgressCallback progress = {};
};

// The recipes of well-known models: bert-uncased, bert-cased, gpt2, roberta, gpt, albert, xlnet,
// t5, llama, word. Unknown names are a usage error that lists them.
TokenizerTraining training_like(const std::string& name);
const std::vector<std::string>& training_recipes();

// What was seen while training, for the report.
struct TrainingReport {
    std::int64_t words = 0, different_words = 0;
    std::int64_t undercount = 0;  // see WordCounts: 0 where every word was kept
};

TokenizerSpec train_tokenizer(const std::vector<std::string>& files,
                              const TokenizerTraining& training, TrainingReport* report = nullptr);
// The same from words that are counted already.
TokenizerSpec train_tokenizer(const WordCounts& words, const TokenizerTraining& training);

// The model of a trained Unigram or BPE tokenizer as a SentencePiece .model. The pipeline must be
// one SentencePiece can express: words marked by "▁" in front, an optional charsmap.
SentencePieceModel to_sentencepiece(const TokenizerSpec& trained);

}  // namespace fovea
