// A trained tokenizer as a SentencePiece .model.
#include <map>

#include "fovea/base/error.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {

namespace {

bool is_byte_piece(const std::string& s) {
    const auto hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
    return s.size() == 6 && s.rfind("<0x", 0) == 0 && hex(s[3]) && hex(s[4]) && s[5] == '>';
}

// Normaliser steps that a .model can hold: one charsmap, or none.
void copy_normalizer(const TokenizerSpec& spec, SentencePieceModel& m) {
    for (const NormalizerStep& step : spec.normalizer) {
        if (const auto* p = std::get_if<normalizer::Precompiled>(&step)) {
            m.normalizer.precompiled_charsmap = p->charsmap;
            m.normalizer.name = "nmt_nfkc";
        } else if (!std::holds_alternative<normalizer::Prepend>(step) &&
                   !std::holds_alternative<normalizer::Replace>(step)) {
            fail_with(ErrorKind::usage, "write a tokenizer.json, which can hold every normaliser",
                      "a .model file cannot hold this tokenizer's normaliser");
        }
    }
}

}  // namespace

SentencePieceModel to_sentencepiece(const TokenizerSpec& spec) {
    SentencePieceModel m;
    m.normalizer.name = "identity";
    copy_normalizer(spec, m);
    std::map<std::string, PieceType> types;
    for (const AddedToken& t : spec.added_tokens) types[t.content] = PieceType::control;
    const auto type_of = [&](const std::string& s, const std::string& unk) {
        if (s == unk) return PieceType::unknown;
        if (m.byte_fallback && is_byte_piece(s)) return PieceType::byte;
        const auto found = types.find(s);
        return found == types.end() ? PieceType::normal : found->second;
    };
    if (const auto* unigram = std::get_if<UnigramSpec>(&spec.model)) {
        m.kind = SentencePieceKind::unigram;
        m.byte_fallback = unigram->byte_fallback;
        expect(unigram->unk_id.has_value(), "a .model file needs an unknown token");
        m.unk_id = *unigram->unk_id;
        m.unk_piece = unigram->vocab[static_cast<std::size_t>(m.unk_id)].piece;
        for (const UnigramPiece& p : unigram->vocab)
            m.pieces.push_back(
                {p.piece, static_cast<float>(p.score), type_of(p.piece, m.unk_piece)});
    } else if (const auto* bpe = std::get_if<BpeSpec>(&spec.model)) {
        m.kind = SentencePieceKind::bpe;
        m.byte_fallback = bpe->byte_fallback;
        m.normalizer.remove_extra_whitespaces = false;  // as Llama's: runs of spaces are text
        const bool marks_words =
            !bpe->continuing_subword_prefix && !bpe->end_of_word_suffix && bpe->unk_token;
        if (!marks_words)
            fail_with(ErrorKind::usage, "write a tokenizer.json, or train --like llama",
                      "a .model file cannot hold this BPE");
        m.unk_piece = *bpe->unk_token;
        m.unk_id = bpe->vocab.find(m.unk_piece);
        // SentencePiece joins the two neighbours whose joint piece has the best score.
        const auto n = static_cast<std::size_t>(bpe->vocab.end_id());
        std::vector<float> scores(n, 0.f);
        std::vector<char> made(n, 0);
        for (std::size_t r = 0; r < bpe->merges.size(); ++r) {
            const auto id = static_cast<std::size_t>(bpe->merges[r].merged);
            if (made[id]) continue;
            made[id] = 1;
            scores[id] = -static_cast<float>(r);
        }
        for (std::size_t id = 0; id < n; ++id) {
            const std::string text(bpe->vocab.token(static_cast<TokenId>(id)));
            const PieceType type = type_of(text, m.unk_piece);
            const bool is_character = !made[id] && type == PieceType::normal;
            m.pieces.push_back(
                {text, is_character ? -static_cast<float>(bpe->merges.size() + id) : scores[id],
                 type});
        }
    } else {
        fail_with(ErrorKind::usage, "write a tokenizer.json",
                  "a .model file holds Unigram or BPE models only");
    }
    // The sentencepiece library refuses pieces with NUL in them.
    std::erase_if(m.pieces,
                  [](const SentencePiece& p) { return p.text.find('\0') != std::string::npos; });
    return m;
}

}  // namespace fovea
