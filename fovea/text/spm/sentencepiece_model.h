#pragma once
// SentencePiece .model files (the ModelProto message of google/sentencepiece), read and written by
// our own small protobuf code. Hostile input is one clear Error that names the file: truncated
// varints, lengths past the end, groups, wrong wire types, pieces beyond the limits, text that is
// not UTF-8. Unknown fields are skipped.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

enum class PieceType : int {  // the numbers are the file's
    normal = 1,
    unknown = 2,
    control = 3,       // <s>, </s>: never made from text
    user_defined = 4,  // always one token
    unused = 5,
    byte = 6,  // "<0x00>" ... "<0xFF>"
};

struct SentencePiece {
    std::string text;  // valid UTF-8, never empty
    float score = 0;   // log probability (unigram), minus the merge's rank (BPE); finite
    PieceType type = PieceType::normal;
};

enum class SentencePieceKind : int { unigram = 1, bpe = 2, word = 3, character = 4 };

struct SentencePieceNormalizer {
    std::string name;                  // "nmt_nfkc", "identity", ...
    std::string precompiled_charsmap;  // see sentencepiece_charsmap.h; empty: no mapping
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;  // " " becomes "▁" (U+2581)
    bool operator==(const SentencePieceNormalizer&) const = default;
};

struct SentencePieceModel {
    std::vector<SentencePiece> pieces;  // index = id
    SentencePieceKind kind = SentencePieceKind::unigram;
    bool byte_fallback = false;
    bool treat_whitespace_as_suffix = false;
    // Ids as the trainer was asked for; -1 = none. unk_id is the one piece of type unknown.
    int unk_id = 0, bos_id = 1, eos_id = 2, pad_id = -1;
    std::string unk_piece = "<unk>", bos_piece = "<s>", eos_piece = "</s>", pad_piece = "<pad>";
    std::string unk_surface = " \xE2\x81\x87 ";  // what decode writes for unk: " ⁇ "
    SentencePieceNormalizer normalizer;
    bool has_denormalizer = false;
    SentencePieceNormalizer denormalizer;
};

// Reads the file (at most 256 MiB; at most 2^24 pieces).
SentencePieceModel read_sentencepiece(const std::string& path);

// The same from bytes; `where` names the file in errors.
SentencePieceModel parse_sentencepiece(std::string_view bytes, const std::string& where);

// The bytes of a .model file that the sentencepiece library loads; parse gives the same model back.
std::string write_sentencepiece(const SentencePieceModel& model);

}  // namespace fovea
