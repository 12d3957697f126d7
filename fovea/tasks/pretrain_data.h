#pragma once
// The documents of a pretraining run: which are learnt from and which are held out (decided by
// their names, before anything else), their text for the vocabulary, their tokens for the model.
// Files are read once for each of these, as a stream.
// Not thread-safe: it belongs to one trainer.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/documents.h"
#include "fovea/data/pairs.h"
#include "fovea/data/token_documents.h"
#include "fovea/tasks/pretrain_settings.h"
#include "fovea/tasks/run_settings.h"

namespace fovea {

// Files of documents, or of texts and their translations, of which each pair is a document.
struct PretrainFiles {
    DocumentFiles documents;
    std::optional<PairFiles> pairs{};

    // A document in pieces, or a pair as its two texts.
    using Take = std::function<void(std::span<const std::string_view> texts, bool last)>;
    void each(const Take& take, std::vector<std::string>* notes = nullptr) const;
};
PairFiles pair_files_of(const std::vector<std::string>& paths);

class PretrainData {
public:
    // Looks through the files. `say` hears what was guessed and how many documents there are.
    PretrainData(const RunSettings& run, const PretrainSettings& settings,
                 const std::function<void(const std::string&)>& say);

    // The text that is learnt from.
    void each_text(const std::function<void(std::string_view)>& take) const;

    struct Tokens {
        TokenDocuments train, dev;  // dev: empty where nothing is measured
    };
    Tokens encode(const Tokenizer& tokenizer, const TokenDocumentsOptions& options) const;

    std::int64_t documents() const { return learnt_; }
    // Two documents at least on either side: one to go on with, one to take another text from.
    bool has_other_documents() const { return learnt_ >= (holds_out_tail_ ? 11 : 2); }
    Json fingerprint() const;

private:
    enum class Part : std::uint8_t { train, dev, left_out };
    void choose_parts(const RunSettings& run);
    void say_what(const std::function<void(const std::string&)>& say) const;

    PretrainFiles train_;
    std::optional<PretrainFiles> dev_;
    std::vector<std::uint64_t> names_;
    std::vector<Part> parts_;
    std::int64_t bytes_ = 0, learnt_ = 0, held_out_ = 0;
    bool holds_out_tail_ = false;  // too few documents: the last tenth of the text
    std::uint64_t seed_;
};

}  // namespace fovea
