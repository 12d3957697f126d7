#pragma once
// The sequences of a pretraining run and their batches: documents packed for an objective, special
// tokens around them, tokens chosen and hidden. What a sequence is and which of its tokens are
// hidden does not depend on the batch it stands in.
// Not thread-safe while an epoch begins; batch() is const.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fovea/data/language_frame.h"
#include "fovea/data/masking.h"
#include "fovea/data/packing.h"
#include "fovea/data/sequence_frame.h"
#include "fovea/tasks/pretrain_settings.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {

struct PretrainBatch {
    TokenBatch tokens;
    ChosenTokens chosen;             // rows to tell; without rows: all of them
    std::vector<std::int64_t> told;  // of each sequence: how many
    // Where the order of telling is not the text's (TextEncoder::targets): positions of all
    // sequences, and how many of the last are told. `chosen` then has labels alone.
    Ids order;
    std::vector<std::int64_t> predicted;
    Ids next;  // of each sequence: 0 the second text follows, 1 it does not
    // What stands before each sequence, for models with a memory; without tokens: nothing is there.
    TokenBatch before;
    bool left_to_right = false;  // it is read so
};

struct SequenceOptions {
    Objective objective = Objective::masked;
    std::int64_t length = 128;  // special tokens too
    MaskingOptions masking{};
    std::uint64_t seed = 1;
    bool measuring = false;  // nothing is left out or shifted
    bool any_order = false;  // the model has TextEncoder::targets
    // Documents are texts and their translations; translated texts alone are of two languages too.
    bool pairs = false;
    std::int64_t memory = 0;  // tokens before a sequence that it sees
};

class PretrainSequences {
public:
    PretrainSequences(const TokenDocuments& documents, const Tokenizer& tokenizer,
                      const SequenceOptions& options);

    void begin(std::int64_t epoch);  // the sequences of this epoch
    std::int64_t count() const { return static_cast<std::int64_t>(packed_.size()); }
    const std::vector<std::int64_t>& lengths() const { return lengths_; }
    std::int64_t tokens() const;  // of all sequences of the epoch
    Objective objective() const { return options_.objective; }
    PretrainBatch batch(std::span<const std::int64_t> indices) const;

private:
    void add_masked(const PackedText& text, PretrainBatch& to) const;
    void add_causal(const PackedText& text, PretrainBatch& to) const;
    void add_permuted(const PackedText& text, PretrainBatch& to) const;
    void add_translated(const PackedText& text, PretrainBatch& to) const;
    void add_before(const PackedText& text, TokenBatch& to) const;
    void begin_translations(std::int64_t epoch);
    void add_framed(const PackedText& text, const Ids& tokens, PretrainBatch& to) const;
    void add_runs(const TokenRange& range, std::uint32_t again, std::vector<TextRun>& runs) const;

    const TokenDocuments& documents_;
    SequenceOptions options_;
    SequenceFrame frame_;
    std::optional<LanguageFrame> languages_;  // where documents are pairs
    bool types_ = false;
    std::optional<Masker> masker_;
    Ids special_;  // tokens that are never told
    std::int64_t epoch_ = 0;
    std::vector<PackedText> packed_;
    std::vector<std::int64_t> lengths_;
};

// How documents are to be kept for such sequences.
TokenDocumentsOptions documents_for(const SequenceOptions& options, const Tokenizer& tokenizer);

}  // namespace fovea
