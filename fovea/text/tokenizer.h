#pragma once
// Text to token ids and back, exactly as Hugging Face's `tokenizers` (for tokenizer.json,
// vocab.txt, vocab.json + merges.txt) and SentencePiece (for .model files) do it.
//
//     const auto t = fovea::Tokenizer::load("bert-base-uncased/vocab.txt");
//     const fovea::Encoding e = t.encode("Hello, world!");
//     std::cout << t.decode(e.ids);
//
// A Tokenizer does not change after construction and may be used from many threads. Text is UTF-8;
// bytes that are not are read as U+FFFD, one for each maximal part of a broken sequence (Unicode
// 15, table 3-8). Time and memory are linear in the text, the stack is constant.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/text/encoding.h"
#include "fovea/text/spec.h"

namespace fovea {

enum class OffsetUnit { characters, bytes };

struct EncodeOptions {
    bool add_special_tokens = true;
    OffsetUnit offsets = OffsetUnit::characters;
    // Instead of what the file says. A max_length of 0 or less: no truncation.
    std::optional<Truncation> truncation = std::nullopt;
    // BPE dropout (Provilkov et al. 2020) is drawn from here. Without it a model that names a
    // dropout rate encodes without: the same text gives the same ids.
    Rng* dropout = nullptr;
};

class Tokenizer {
public:
    explicit Tokenizer(TokenizerSpec spec);
    Tokenizer(Tokenizer&&) noexcept;
    Tokenizer& operator=(Tokenizer&&) noexcept;
    ~Tokenizer();

    // A tokenizer.json, a vocab.txt, a vocab.json or merges.txt with its partner beside it, a
    // SentencePiece .model / .spm, or a folder that holds one of them.
    static Tokenizer load(const std::string& path);
    // The text of a tokenizer.json; `where` names it in errors.
    static Tokenizer from_json(std::string_view json, const std::string& where = "tokenizer.json");

    std::string to_json() const;               // the text of a tokenizer.json
    void save(const std::string& path) const;  // as .model where it was one and path says so

    Encoding encode(std::string_view text, const EncodeOptions& options = {}) const;
    Encoding encode_pair(std::string_view text, std::string_view pair,
                         const EncodeOptions& options = {}) const;
    // Lines over threads (parallel_for); the result does not depend on their number.
    std::vector<Encoding> encode_batch(std::span<const std::string> texts,
                                       const EncodeOptions& options = {}) const;
    std::vector<Encoding> encode_batch(std::span<const std::pair<std::string, std::string>> pairs,
                                       const EncodeOptions& options = {}) const;

    // Ids alone, without the work for offsets; appends to `ids`.
    void encode_ids(std::string_view text, std::vector<TokenId>& ids,
                    bool add_special_tokens = true) const;
    std::vector<TokenId> encode_ids(std::string_view text, bool add_special_tokens = true) const;
    std::vector<std::vector<TokenId>> encode_ids_batch(std::span<const std::string> texts,
                                                       bool add_special_tokens = true) const;

    // Always valid UTF-8. Unknown ids are left out.
    std::string decode(std::span<const TokenId> ids, bool skip_special = true) const;

    // One more than the largest id, added tokens included.
    std::int64_t vocab_size() const;
    std::optional<TokenId> token_to_id(std::string_view token) const;
    std::optional<std::string> id_to_token(TokenId id) const;
    bool is_special(TokenId id) const;
    // Tokens that encode() adds to one text or to a pair.
    std::int64_t special_tokens_added(bool pair = false) const;

    // The ids of the tokens that play a part, where the tokenizer has them.
    std::optional<TokenId> bos_id() const, eos_id() const, unk_id() const, sep_id() const,
        pad_id() const, cls_id() const, mask_id() const;

    const TokenizerSpec& spec() const;

private:
    struct State;
    std::unique_ptr<State> state_;
    friend class StreamDecoder;
};

// Decodes one id at a time, as a model generates them. What it has handed out so far is always a
// prefix of the text, in whole characters: bytes of an unfinished character wait.
class StreamDecoder {
public:
    explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true);

    std::string push(TokenId id);  // the text that this id completes, often empty
    std::string finish();          // what is left; starts anew

private:
    const Tokenizer* tokenizer_;
    bool skip_special_;
    std::vector<TokenId> ids_;
    std::string given_;  // the settled text of ids_, already handed out

    std::string settled_text() const;
};

}  // namespace fovea
