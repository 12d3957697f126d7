#pragma once
// Documents as tokens: 4 bytes a token in one long row, with the places where sentences and
// documents begin. Kept in memory up to a bound, beyond it in a scratch file that is mapped.
//
// Between documents stands the joint (GPT-2's <|endoftext|>, RoBERTa's </s>) where there is one: a
// run of tokens may then cross from one into the next, as those models read them. It belongs to the
// document that it ends.
// Thread-safety: once made it does not change; any number of threads may read it.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/scratch_file.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct TokenRange {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    bool operator==(const TokenRange&) const = default;
};

class TokenDocuments {
public:
    std::span<const TokenId> tokens() const { return {data(), static_cast<std::size_t>(total_)}; }
    std::int64_t size() const { return total_; }
    std::int64_t documents() const { return static_cast<std::int64_t>(names_.size()); }
    std::int64_t sentences() const { return static_cast<std::int64_t>(sentences_.size()); }

    TokenRange document(std::int64_t d) const;  // its tokens
    // Its sentences, as numbers of sentence(); without sentences found, pieces of its text.
    TokenRange sentences_of(std::int64_t d) const;
    TokenRange sentence(std::int64_t s) const;
    std::int64_t sentence_at(std::int64_t token) const;
    std::int64_t document_at(std::int64_t token) const;  // whose that token is
    // A name made of what it says, so that choices tied to it do not depend on other documents.
    std::uint64_t name(std::int64_t d) const { return names_[static_cast<std::size_t>(d)]; }

    std::int64_t memory() const;  // bytes
    bool on_disk() const { return !in_memory_; }

    // Takes the last `share` of the tokens away, cut where a sentence begins (anywhere in a piece
    // where no sentences were looked for).
    TokenDocuments take_tail(double share);

private:
    friend class TokenDocumentsMaker;
    const TokenId* data() const {
        return in_memory_ ? row_.data() : static_cast<const TokenId*>(file_->map());
    }

    std::vector<TokenId> row_;
    std::optional<ScratchFile> file_;
    bool in_memory_ = true, has_sentences_ = true;
    std::int64_t total_ = 0;
    std::vector<std::int64_t> sentences_;  // the first token of each
    std::vector<std::int64_t> documents_;  // the first sentence of each
    std::vector<std::uint64_t> names_;
};

struct TokenDocumentsOptions {
    bool sentences = true;          // look for them; else the text is kept as it stands
    std::int64_t max_sentence = 0;  // longer ones are cut into parts; 0: no bound
    std::optional<TokenId> joint{};
    std::int64_t in_memory = std::int64_t{1} << 30;  // bytes of tokens; more go to a scratch file
};

// Takes documents piece by piece (for_each_document) and encodes them, without special tokens, on
// all threads. Not thread-safe.
class TokenDocumentsMaker {
public:
    TokenDocumentsMaker(const Tokenizer& tokenizer, const TokenDocumentsOptions& options);
    ~TokenDocumentsMaker();
    void add(std::string_view text, bool last);
    // Several texts: a whole document, of which each is a sentence. One: as above.
    void add(std::span<const std::string_view> texts, bool last);
    TokenDocuments finish();

private:
    struct Ending {
        std::size_t texts;  // so many texts were there when a document ended
        std::uint64_t name;
    };
    void end_waiting();
    void encode_waiting();
    void put_sentence(std::span<const TokenId> ids);
    void put(std::span<const TokenId> ids);
    void end_document(std::uint64_t name);

    const Tokenizer& tokenizer_;
    TokenDocumentsOptions options_;
    std::vector<std::string> texts_;  // waiting to be encoded
    std::vector<Ending> endings_;
    std::size_t waiting_bytes_ = 0;
    std::uint64_t name_ = 0;  // of the document so far
    std::size_t documents_begun_at_ = 0;
    TokenDocuments made_;
};

// The name of a document with so much more text; a document begins with 0.
std::uint64_t document_name(std::uint64_t before, std::string_view text);

}  // namespace fovea
