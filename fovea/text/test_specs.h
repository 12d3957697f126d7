#pragma once
// Small tokenizers for the tests of this room, made by hand.
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/utf8.h"
#include "fovea/text/spec.h"
#include "fovea/text/steps/byte_level.h"

namespace fovea::text {

// A BPE that knows all of `alphabet` and the merges, given as pairs of tokens.
inline BpeSpec bpe_of(const std::vector<std::string>& alphabet,
                      const std::vector<std::pair<std::string, std::string>>& merges) {
    BpeSpec spec;
    for (const std::string& a : alphabet)
        if (!spec.vocab.contains(a)) spec.vocab.add(a, static_cast<TokenId>(spec.vocab.size()));
    for (const auto& [a, b] : merges) {
        if (!spec.vocab.contains(a + b))
            spec.vocab.add(a + b, static_cast<TokenId>(spec.vocab.size()));
        spec.merges.push_back({spec.vocab.find(a), spec.vocab.find(b), spec.vocab.find(a + b)});
    }
    return spec;
}

// The spelling of all 256 bytes.
inline std::vector<std::string> byte_alphabet() {
    std::vector<std::string> out;
    for (int b = 0; b < 256; ++b) out.push_back(spell_bytes(std::string(1, static_cast<char>(b))));
    return out;
}

// GPT-2 with a handful of merges.
inline TokenizerSpec tiny_gpt2() {
    TokenizerSpec spec;
    spec.model = bpe_of(
        byte_alphabet(),
        {{"Ġ", "t"}, {"h", "e"}, {"Ġt", "he"}, {"l", "l"}, {"o", "w"}, {"Ġ", "w"}, {"Ã", "©"}});
    spec.pre_tokenizer = {pretokenizer::ByteLevel{false, true, true}};
    spec.decoder = {{decoder::ByteLevel{}}};
    AddedToken end;
    end.content = "<|end|>";
    end.special = true;
    end.normalized = false;
    spec.added_tokens = {end};
    return spec;
}

// BERT, uncased, with two dozen words.
inline TokenizerSpec tiny_bert() {
    TokenizerSpec spec;
    WordPieceSpec model;
    for (const char* t :
         {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the",  "fox", "jump", "##s",
          "##ed",  "over",  "lazy",  "dog",   ",",      ".",    "!",   "un",   "##want",
          "##ed",  "a",     "##b",   "##c",   "中",     "cafe", "'"})
        if (!model.vocab.contains(t)) model.vocab.add(t, static_cast<TokenId>(model.vocab.size()));
    spec.normalizer = {normalizer::Bert{}};
    spec.pre_tokenizer = {pretokenizer::Bert{}};
    spec.decoder = {{decoder::WordPiece{}}};
    for (const char* t : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) {
        AddedToken a;
        a.content = t;
        a.special = true;
        a.normalized = false;
        spec.added_tokens.push_back(a);
    }
    postprocessor::Bert b;
    b.cls = {"[CLS]", model.vocab.find("[CLS]")};
    b.sep = {"[SEP]", model.vocab.find("[SEP]")};
    spec.post_processor = {b};
    spec.model = std::move(model);
    return spec;
}

// Unigram behind a Metaspace.
inline TokenizerSpec tiny_unigram() {
    TokenizerSpec spec;
    UnigramSpec model;
    model.vocab = {{"<unk>", 0},  {"▁", -2},  {"a", -3},  {"b", -3},   {"c", -3},
                   {"▁ab", -2.5}, {"ab", -4}, {"bc", -4}, {"abc", -5}, {"▁a", -3.5}};
    model.unk_id = 0;
    spec.pre_tokenizer = {pretokenizer::Metaspace{}};
    spec.decoder = {{decoder::Metaspace{}}};
    spec.model = std::move(model);
    return spec;
}

}  // namespace fovea::text
