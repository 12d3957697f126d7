#pragma once
// Finds out what a path is and reads it. See Tokenizer::load.
#include <string>
#include <string_view>

#include "fovea/text/spec.h"

namespace fovea {

TokenizerSpec read_tokenizer(const std::string& path);

// The specs of the usual models, from their vocabularies. Special tokens are taken in where the
// vocabulary has them.
TokenizerSpec bert_spec(Vocabulary vocab, bool lowercase);
TokenizerSpec gpt2_spec(BpeSpec bpe, bool add_prefix_space = false);
TokenizerSpec roberta_spec(BpeSpec bpe, bool add_prefix_space = false);
TokenizerSpec word_level_spec(Vocabulary vocab);

// The same for models whose vocabulary is a SentencePiece file.
struct SentencePieceModel;
TokenizerSpec unigram_spec(const SentencePieceModel& model);
TokenizerSpec albert_spec(const SentencePieceModel& model, bool lowercase, bool keep_accents);
TokenizerSpec xlnet_spec(const SentencePieceModel& model, bool lowercase);
TokenizerSpec t5_spec(const SentencePieceModel& model);
TokenizerSpec marian_spec(std::string proto, Vocabulary vocab);

// What they build on: a special token that is matched as it stands, if the vocabulary has it.
void add_special(TokenizerSpec& spec, const Vocabulary& vocab, std::string_view content,
                 bool lstrip = false);

// What read_tokenizer() makes of a vocab.txt, and of a vocab.json with its merges.txt, once it has
// read them. A path is only a name for errors here.
struct FileText {
    std::string text, path;
};
struct TokenizerConfig;
TokenizerSpec vocab_txt_spec(const FileText& file, const TokenizerConfig& config);
TokenizerSpec byte_level_spec(const FileText& vocab, const FileText& merges,
                              const TokenizerConfig& config);

// One token a line; white space at the end of a line is no part of it.
Vocabulary read_vocab_txt(std::string_view text, const std::string& where);
// {"token": id, …} and "left right" a line.
BpeSpec read_vocab_and_merges(std::string_view vocab_json, const std::string& vocab_where,
                              std::string_view merges, const std::string& merges_where);

}  // namespace fovea
