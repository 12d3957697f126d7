#pragma once
// Copying for any sequence-to-sequence network (--copy), and the words of a text that a vocabulary
// has not: ids from the target's vocabulary on stand for them, counted by each source anew.
// Thread-safety: plain values and pure functions.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/models/pointer.h"
#include "fovea/tasks/seq2seq_network.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// A network's inside, as copying needs it.
struct CopyParts {
    struct Rows {
        Tensor rows, memory;  // of the decoder; of the encoder
    };
    std::function<Rows(const Seq2SeqBatch& batch)> read;
    std::function<Tensor(const Tensor& rows)> logits;
    struct Steps {
        std::unique_ptr<Stepper> rows;
        Tensor memory;
    };
    std::function<Steps(const TokenBatch& sources)> steps;
};

// The plain network with a pointer on its rows: losses and steps are those of ops/loss/copy.h. In
// training (a tape is alive) `coverage` times the coverage loss is added (See et al. 2017, eq. 13).
Seq2SeqNetwork with_copying(Seq2SeqNetwork plain, CopyParts parts,
                            std::shared_ptr<const PointerHead> head, float coverage = 0);

// What config.json says of copying ("copy": none, mixed or only), and of the weight of the coverage
// loss ("coverage").
CopyMode copy_mode_in(const Json& config, const std::string& where);
float coverage_in(const Json& config, const std::string& where);

struct CopiedText {
    Ids ids;                         // of the target's vocabulary and beyond, as long as the source
    std::vector<std::string> words;  // words[k] has the id vocabulary + k
};

// How texts share words: both tokenizers and the size of the target's vocabulary.
struct CopyVocabulary {
    const Tokenizer& source;
    const Tokenizer& target;
    std::int32_t size, end;

    CopiedText source_of(std::string_view text) const;
    // The target's ids, with words of the source that the vocabulary has not.
    Ids labels_of(std::string_view text, const std::vector<std::string>& words) const;
    std::string text_of(const Ids& tokens, const std::vector<std::string>& words) const;
};

}  // namespace fovea
