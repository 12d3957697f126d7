#pragma once
// From documents to sequences of the model's length, without padding: contexts of a causal model,
// blocks of whole sentences (RoBERTa), pairs of texts of which half follow each other (BERT), texts
// and their translations.
// Each is a pure function of the documents, the options and, where it draws, seed and epoch.
// Thread-safety: pure functions.
#include <cstdint>
#include <vector>

#include "fovea/data/token_documents.h"

namespace fovea {

// A sequence as ranges of tokens; special tokens are put around them later.
struct PackedText {
    TokenRange first, second{};  // empty: not there
    bool follows = true;         // the second text is what stands behind the first
    std::int64_t size() const { return first.size() + second.size(); }
    bool operator==(const PackedText&) const = default;
};

// Contexts of `length` tokens one after the other from `shift` on. The token behind a context is
// its last target, so that contexts of inputs and of targets tile the row. What is left at the end
// is a shorter context with `keep_rest`, else left out (another shift reaches it).
struct ContextOptions {
    std::int64_t length = 64, shift = 0;
    bool keep_rest = false;
};
std::vector<PackedText> causal_contexts(std::int64_t tokens, const ContextOptions& options);
// The shift of an epoch: 0 … length - 1.
std::int64_t context_shift(std::int64_t length, std::uint64_t seed, std::int64_t epoch);

// Whole sentences in order, as many as fit into `length` tokens; from one document into the next
// (Liu et al. 2019, section 4.2, "FULL-SENTENCES").
std::vector<PackedText> sentence_blocks(const TokenDocuments& documents, std::int64_t length);

// Two texts of whole sentences, each of up to length / 2 tokens; in half of them, drawn by (seed,
// epoch, document), the second one is from another document and about as long as what would have
// followed (Devlin et al. 2019, section 3.1, task 2). What was to follow then begins the next pair,
// so that nothing is lost. A document too short for two texts is left out.
struct PairOptions {
    std::int64_t length = 128;  // of both together
    std::uint64_t seed = 1;
    std::int64_t epoch = 0;
};
std::vector<PackedText> sentence_pairs(const TokenDocuments& documents, const PairOptions& options);

// Documents of two texts, the second a translation of the first (Lample and Conneau 2019): both in
// one sequence, or each in one of its own. Too long ones are cut at the end, the longer one first.
// A document with fewer texts is left out.
enum class TranslationView {
    together,
    apart,
    either,  // drawn by (seed, epoch, document): half of the documents together
};
struct TranslationOptions {
    TranslationView view = TranslationView::together;
    std::int64_t length = 128;        // of both together
    std::int64_t alone_length = 128;  // of a text alone
    std::uint64_t seed = 1;
    std::int64_t epoch = 0;
};
std::vector<PackedText> translations(const TokenDocuments& documents,
                                     const TranslationOptions& options);

}  // namespace fovea
