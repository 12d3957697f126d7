#pragma once
// A tokenizer as plain data: what tokenizer.json says, one struct a component, names as in that
// file. Readers (tokenizer.json, vocab.txt, SentencePiece) and trainers produce a TokenizerSpec;
// Tokenizer is built from one and can give it back, so "save" is "write the spec".
//
// "Sequence" does not appear: the parts of nested sequences are applied one after the other
// whatever the nesting, so a chain is a flat vector. One part is written bare, several as Sequence.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fovea/text/models/vocabulary.h"

namespace fovea {

// A token that is found in the text before anything else is done to it.
struct AddedToken {
    TokenId id = 0;
    std::string content;
    bool single_word = false;  // only where no word character touches it
    bool lstrip = false;       // takes the whitespace before it along
    bool rstrip = false;       // and after it
    bool normalized = true;    // looked for in the normalised text (its own normalised form)
    bool special = false;      // left out by decode(…, skip_special)
    bool operator==(const AddedToken&) const = default;
};

// {"String": "…"} or {"Regex": "…"}
struct Pattern {
    std::string text;
    bool regex = false;
    bool operator==(const Pattern&) const = default;
};

// What happens to the text that a Split or Punctuation step has matched.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

enum class PrependScheme { always, never, first };

namespace normalizer {
struct Bert {
    bool clean_text = true;
    bool handle_chinese_chars = true;
    std::optional<bool> strip_accents;  // unset: as lowercase
    bool lowercase = true;
    bool operator==(const Bert&) const = default;
};
struct Nfc {
    bool operator==(const Nfc&) const = default;
};
struct Nfd {
    bool operator==(const Nfd&) const = default;
};
struct Nfkc {
    bool operator==(const Nfkc&) const = default;
};
struct Nfkd {
    bool operator==(const Nfkd&) const = default;
};
struct Lowercase {
    bool operator==(const Lowercase&) const = default;
};
struct Strip {
    bool strip_left = true;
    bool strip_right = true;
    bool operator==(const Strip&) const = default;
};
struct StripAccents {
    bool operator==(const StripAccents&) const = default;
};
struct Prepend {
    std::string prepend;
    bool operator==(const Prepend&) const = default;
};
struct Replace {
    Pattern pattern;
    std::string content;
    bool operator==(const Replace&) const = default;
};
struct Precompiled {
    std::string charsmap;  // the raw bytes (base64 in JSON)
    bool operator==(const Precompiled&) const = default;
};
struct Nmt {
    bool operator==(const Nmt&) const = default;
};
struct ByteLevel {
    bool operator==(const ByteLevel&) const = default;
};
}  // namespace normalizer
using NormalizerStep =
    std::variant<normalizer::Bert, normalizer::Nfc, normalizer::Nfd, normalizer::Nfkc,
                 normalizer::Nfkd, normalizer::Lowercase, normalizer::Strip,
                 normalizer::StripAccents, normalizer::Prepend, normalizer::Replace,
                 normalizer::Precompiled, normalizer::Nmt, normalizer::ByteLevel>;

namespace pretokenizer {
struct Bert {
    bool operator==(const Bert&) const = default;
};
struct ByteLevel {
    bool add_prefix_space = true;
    bool trim_offsets = true;  // used by the post-processor of the same name only
    bool use_regex = true;
    bool operator==(const ByteLevel&) const = default;
};
struct Whitespace {
    bool operator==(const Whitespace&) const = default;
};
struct WhitespaceSplit {
    bool operator==(const WhitespaceSplit&) const = default;
};
struct Metaspace {
    std::string replacement = "▁";  // one character
    PrependScheme prepend_scheme = PrependScheme::always;
    bool split = true;
    bool operator==(const Metaspace&) const = default;
};
struct Punctuation {
    SplitBehavior behavior = SplitBehavior::isolated;
    bool operator==(const Punctuation&) const = default;
};
struct Digits {
    bool individual_digits = false;
    bool operator==(const Digits&) const = default;
};
struct CharDelimiterSplit {
    std::string delimiter;  // one character
    bool operator==(const CharDelimiterSplit&) const = default;
};
struct Split {
    Pattern pattern;
    SplitBehavior behavior = SplitBehavior::isolated;
    bool invert = false;
    bool operator==(const Split&) const = default;
};
struct UnicodeScripts {
    bool operator==(const UnicodeScripts&) const = default;
};
struct FixedLength {
    std::int64_t length = 5;  // characters
    bool operator==(const FixedLength&) const = default;
};
}  // namespace pretokenizer
using PreTokenizerStep =
    std::variant<pretokenizer::Bert, pretokenizer::ByteLevel, pretokenizer::Whitespace,
                 pretokenizer::WhitespaceSplit, pretokenizer::Metaspace, pretokenizer::Punctuation,
                 pretokenizer::Digits, pretokenizer::CharDelimiterSplit, pretokenizer::Split,
                 pretokenizer::UnicodeScripts, pretokenizer::FixedLength>;

namespace postprocessor {
struct TokenAndId {
    std::string token;
    TokenId id = 0;
    bool operator==(const TokenAndId&) const = default;
};
struct Bert {
    TokenAndId sep, cls;
    bool operator==(const Bert&) const = default;
};
struct Roberta {
    TokenAndId sep, cls;
    bool trim_offsets = true;
    bool add_prefix_space = true;
    bool operator==(const Roberta&) const = default;
};
// One place of a template: sequence A or B, or a special token by name.
struct TemplatePiece {
    enum class Kind { sequence_a, sequence_b, special } kind = Kind::sequence_a;
    std::string special;  // key into Template::special_tokens
    int type_id = 0;
    bool operator==(const TemplatePiece&) const = default;
};
struct TemplateSpecial {  // one name may stand for several tokens
    std::string name;
    std::vector<TokenId> ids;
    std::vector<std::string> tokens;
    bool operator==(const TemplateSpecial&) const = default;
};
struct Template {
    std::vector<TemplatePiece> single, pair;
    std::vector<TemplateSpecial> special_tokens;
    bool operator==(const Template&) const = default;
};
struct ByteLevel {
    bool add_prefix_space = true;
    bool trim_offsets = true;
    bool use_regex = true;
    bool operator==(const ByteLevel&) const = default;
};
}  // namespace postprocessor
using PostProcessorStep = std::variant<postprocessor::Bert, postprocessor::Roberta,
                                       postprocessor::Template, postprocessor::ByteLevel>;

namespace decoder {
struct WordPiece {
    std::string prefix = "##";
    bool cleanup = true;
    bool operator==(const WordPiece&) const = default;
};
struct ByteLevel {
    bool add_prefix_space = true, trim_offsets = true, use_regex = true;  // kept, not used
    bool operator==(const ByteLevel&) const = default;
};
struct Metaspace {
    std::string replacement = "▁";
    PrependScheme prepend_scheme = PrependScheme::always;
    bool split = true;
    bool operator==(const Metaspace&) const = default;
};
struct Bpe {
    std::string suffix = "</w>";
    bool operator==(const Bpe&) const = default;
};
struct ByteFallback {
    bool operator==(const ByteFallback&) const = default;
};
struct Fuse {
    bool operator==(const Fuse&) const = default;
};
struct Strip {
    std::string content;  // one character
    std::int64_t start = 0, stop = 0;
    bool operator==(const Strip&) const = default;
};
struct Replace {
    Pattern pattern;
    std::string content;
    bool operator==(const Replace&) const = default;
};
struct Ctc {
    std::string pad_token = "<pad>";
    std::string word_delimiter_token = "|";
    bool cleanup = true;
    bool operator==(const Ctc&) const = default;
};
}  // namespace decoder
using DecoderStep = std::variant<decoder::WordPiece, decoder::ByteLevel, decoder::Metaspace,
                                 decoder::Bpe, decoder::ByteFallback, decoder::Fuse, decoder::Strip,
                                 decoder::Replace, decoder::Ctc>;

// ---- models ----

struct WordPieceSpec {
    Vocabulary vocab;
    std::string unk_token = "[UNK]";
    std::string continuing_subword_prefix = "##";
    std::int64_t max_input_chars_per_word = 100;
};

// merged = left followed by right (without right's continuing_subword_prefix).
struct Merge {
    TokenId left, right, merged;
    bool operator==(const Merge&) const = default;
};

struct BpeSpec {
    Vocabulary vocab;           // byte-level vocabularies in their printable spelling ("Ġthe")
    std::vector<Merge> merges;  // the order is the rank
    std::optional<float> dropout;
    std::optional<std::string> unk_token;
    std::optional<std::string> continuing_subword_prefix;
    std::optional<std::string> end_of_word_suffix;
    bool fuse_unk = false;
    bool byte_fallback = false;  // unknown characters as <0x00> … <0xFF>
    bool ignore_merges = false;  // a word that is a token is that token
};

struct UnigramPiece {
    std::string piece;
    double score = 0;
    bool operator==(const UnigramPiece&) const = default;
};

struct UnigramSpec {
    std::vector<UnigramPiece> vocab;  // the id is the index
    std::optional<TokenId> unk_id;
    bool byte_fallback = false;
};

struct WordLevelSpec {
    Vocabulary vocab;
    std::string unk_token = "<unk>";
};

// A SentencePiece .model read as it stands: its own normaliser, its own search. `proto` is the
// file's bytes; read_sentencepiece() (sentencepiece_model.h) takes them apart.
struct SentencePieceSpec {
    std::string proto;
    // Marian: the ids of the model come from vocab.json, not from the piece's place in the file.
    std::optional<Vocabulary> remap;
    std::string remap_unk = "<unk>";
};

using ModelSpec =
    std::variant<WordPieceSpec, BpeSpec, UnigramSpec, WordLevelSpec, SentencePieceSpec>;

// ---- the whole ----

enum class TruncationStrategy { longest_first, only_first, only_second };
enum class Direction { left, right };

struct Truncation {
    std::int64_t max_length = 512;  // special tokens included
    TruncationStrategy strategy = TruncationStrategy::longest_first;
    std::int64_t stride = 0;                 // tokens that consecutive overflowing parts share
    Direction direction = Direction::right;  // the side that is cut
    bool operator==(const Truncation&) const = default;
};

// Kept so that files survive a round trip. Fovea packs sequences end to end and never pads.
struct Padding {
    std::optional<std::int64_t> fixed;  // unset: to the longest of the batch
    Direction direction = Direction::right;
    std::optional<std::int64_t> pad_to_multiple_of;
    TokenId pad_id = 0;
    std::int64_t pad_type_id = 0;
    std::string pad_token = "[PAD]";
    bool operator==(const Padding&) const = default;
};

// Which token plays which part (special_tokens_map.json, tokenizer_config.json; guessed from the
// usual spellings where a tokenizer.json stands alone). Not in tokenizer.json itself.
struct SpecialTokens {
    std::optional<std::string> bos = {}, eos = {}, unk = {}, sep = {}, pad = {}, cls = {},
                               mask = {};
    bool operator==(const SpecialTokens&) const = default;
};

struct TokenizerSpec {
    std::vector<AddedToken> added_tokens;
    std::vector<NormalizerStep> normalizer;
    std::vector<PreTokenizerStep> pre_tokenizer;
    std::vector<PostProcessorStep> post_processor;
    // Unset: tokens are joined by spaces. (An empty chain joins them by nothing.)
    std::optional<std::vector<DecoderStep>> decoder;
    ModelSpec model = WordLevelSpec{};
    std::optional<Truncation> truncation;
    std::optional<Padding> padding;
    SpecialTokens special_tokens;
};

}  // namespace fovea
