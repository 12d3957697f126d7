#include <array>

#include "fovea/text/special_tokens.h"
#include "fovea/text/tokenizer_files.h"

namespace fovea {

namespace {

postprocessor::TemplatePiece sequence(bool second, int type) {
    using Kind = postprocessor::TemplatePiece::Kind;
    return {second ? Kind::sequence_b : Kind::sequence_a, {}, type};
}

postprocessor::TemplatePiece special(const std::string& name, int type) {
    return {postprocessor::TemplatePiece::Kind::special, name, type};
}

}  // namespace

void add_special(TokenizerSpec& spec, const Vocabulary& vocab, std::string_view content,
                 bool lstrip) {
    const TokenId id = vocab.find(content);
    if (id < 0) return;
    spec.added_tokens.push_back(special_token(std::string(content), id));
    spec.added_tokens.back().lstrip = lstrip;
}

TokenizerSpec bert_spec(Vocabulary vocab, bool lowercase) {
    TokenizerSpec spec;
    spec.normalizer = {normalizer::Bert{true, true, std::nullopt, lowercase}};
    spec.pre_tokenizer = {pretokenizer::Bert{}};
    spec.decoder = {{decoder::WordPiece{}}};
    for (const char* t : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
        add_special(spec, vocab, t);
    const TokenId cls = vocab.find("[CLS]"), sep = vocab.find("[SEP]");
    if (cls >= 0 && sep >= 0) {
        postprocessor::Template t;
        t.single = {special("[CLS]", 0), sequence(false, 0), special("[SEP]", 0)};
        t.pair = {special("[CLS]", 0), sequence(false, 0), special("[SEP]", 0), sequence(true, 1),
                  special("[SEP]", 1)};
        t.special_tokens = {{"[CLS]", {cls}, {"[CLS]"}}, {"[SEP]", {sep}, {"[SEP]"}}};
        spec.post_processor = {std::move(t)};
    }
    WordPieceSpec model;
    model.vocab = std::move(vocab);
    spec.model = std::move(model);
    spec.special_tokens = {.bos = std::nullopt,
                           .eos = std::nullopt,
                           .unk = "[UNK]",
                           .sep = "[SEP]",
                           .pad = "[PAD]",
                           .cls = "[CLS]",
                           .mask = "[MASK]"};
    return spec;
}

TokenizerSpec gpt2_spec(BpeSpec bpe, bool add_prefix_space) {
    TokenizerSpec spec;
    spec.pre_tokenizer = {pretokenizer::ByteLevel{add_prefix_space, true, true}};
    spec.post_processor = {postprocessor::ByteLevel{true, false, true}};
    spec.decoder = {{decoder::ByteLevel{}}};
    add_special(spec, bpe.vocab, "<|endoftext|>");
    if (bpe.vocab.contains("<|endoftext|>"))
        spec.special_tokens.bos = spec.special_tokens.eos = spec.special_tokens.unk =
            "<|endoftext|>";
    spec.model = std::move(bpe);
    return spec;
}

TokenizerSpec roberta_spec(BpeSpec bpe, bool add_prefix_space) {
    TokenizerSpec spec;
    spec.pre_tokenizer = {pretokenizer::ByteLevel{add_prefix_space, true, true}};
    spec.decoder = {{decoder::ByteLevel{}}};
    for (const char* t : {"<s>", "<pad>", "</s>", "<unk>"}) add_special(spec, bpe.vocab, t);
    add_special(spec, bpe.vocab, "<mask>", true);
    const TokenId cls = bpe.vocab.find("<s>"), sep = bpe.vocab.find("</s>");
    if (cls >= 0 && sep >= 0)
        spec.post_processor = {
            postprocessor::Roberta{{"</s>", sep}, {"<s>", cls}, true, add_prefix_space}};
    spec.special_tokens = {.bos = "<s>",
                           .eos = "</s>",
                           .unk = "<unk>",
                           .sep = "</s>",
                           .pad = "<pad>",
                           .cls = "<s>",
                           .mask = "<mask>"};
    spec.model = std::move(bpe);
    return spec;
}

TokenizerSpec word_level_spec(Vocabulary vocab) {
    TokenizerSpec spec;
    spec.pre_tokenizer = {pretokenizer::WhitespaceSplit{}};
    WordLevelSpec model;
    for (const char* t : {"<unk>", "[UNK]", "UNK", "<UNK>"})
        if (vocab.contains(t)) {
            model.unk_token = t;
            break;
        }
    for (const char* t :
         {"<s>", "</s>", "<pad>", "<unk>", "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<mask>"})
        add_special(spec, vocab, t);
    model.vocab = std::move(vocab);
    spec.model = std::move(model);
    return spec;
}

}  // namespace fovea
