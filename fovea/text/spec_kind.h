#pragma once
// The name of a tokenizer's model, as tokenizer.json writes it. Thread-safety: a pure function.
#include <string>
#include <variant>

#include "fovea/text/spec.h"

namespace fovea {

inline std::string kind_of(const TokenizerSpec& spec) {
    struct Kind {
        const char* operator()(const WordPieceSpec&) const { return "WordPiece"; }
        const char* operator()(const BpeSpec&) const { return "BPE"; }
        const char* operator()(const UnigramSpec&) const { return "Unigram"; }
        const char* operator()(const WordLevelSpec&) const { return "WordLevel"; }
        const char* operator()(const SentencePieceSpec&) const { return "SentencePiece"; }
    };
    return std::visit(Kind{}, spec.model);
}

}  // namespace fovea
