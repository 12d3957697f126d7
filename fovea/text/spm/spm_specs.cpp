// The tokenizers of models that come with a SentencePiece file, as tokenizer.json would say it.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/tokenizer_files.h"

namespace fovea {

namespace {

using postprocessor::TemplatePiece;

TemplatePiece text_a(int type = 0) { return {TemplatePiece::Kind::sequence_a, {}, type}; }
TemplatePiece text_b(int type) { return {TemplatePiece::Kind::sequence_b, {}, type}; }
TemplatePiece token(const std::string& name, int type = 0) {
    return {TemplatePiece::Kind::special, name, type};
}

// Id of a piece; a token that the model does not have comes after its vocabulary.
TokenId id_of(TokenizerSpec& spec, const std::string& content, bool lstrip = false) {
    auto& vocab = std::get<UnigramSpec>(spec.model).vocab;
    const auto at = std::find_if(vocab.begin(), vocab.end(),
                                 [&](const UnigramPiece& p) { return p.piece == content; });
    const auto known = std::find_if(spec.added_tokens.begin(), spec.added_tokens.end(),
                                    [&](const AddedToken& t) { return t.content == content; });
    if (known != spec.added_tokens.end()) return known->id;
    AddedToken t;
    t.content = content;
    t.special = true;
    t.normalized = false;
    t.lstrip = lstrip;
    std::size_t id = static_cast<std::size_t>(at - vocab.begin());
    if (at == vocab.end())
        for (const AddedToken& a : spec.added_tokens)
            if (static_cast<std::size_t>(a.id) >= id) id = static_cast<std::size_t>(a.id) + 1;
    t.id = static_cast<TokenId>(id);
    spec.added_tokens.push_back(t);
    return t.id;
}

}  // namespace

TokenizerSpec unigram_spec(const SentencePieceModel& model) {
    expect_input(model.kind == SentencePieceKind::unigram,
                 "SentencePiece: this kind of model needs a unigram vocabulary");
    TokenizerSpec spec;
    UnigramSpec unigram;
    unigram.unk_id = model.unk_id;
    unigram.byte_fallback = model.byte_fallback;
    for (const SentencePiece& p : model.pieces) {
        unigram.vocab.push_back({p.text, static_cast<double>(p.score)});
        if (p.type == PieceType::normal || p.type == PieceType::unused || p.type == PieceType::byte)
            continue;
        AddedToken t;
        t.id = static_cast<TokenId>(unigram.vocab.size() - 1);
        t.content = p.text;
        t.special = p.type != PieceType::user_defined;
        t.normalized = false;
        spec.added_tokens.push_back(std::move(t));
    }
    if (!model.normalizer.precompiled_charsmap.empty())
        spec.normalizer.push_back(normalizer::Precompiled{model.normalizer.precompiled_charsmap});
    spec.pre_tokenizer = {pretokenizer::WhitespaceSplit{}, pretokenizer::Metaspace{}};
    spec.decoder = {{decoder::Metaspace{}}};
    spec.model = std::move(unigram);
    spec.special_tokens.unk = model.unk_piece;
    return spec;
}

namespace {

// ALBERT and XLNet: quotation marks made plain, accents dropped, lower-cased, then the map.
void add_plain_text_rules(TokenizerSpec& spec, bool lowercase, bool keep_accents) {
    std::vector<NormalizerStep> steps;
    for (const char* quotes : {"``", "''"}) {
        normalizer::Replace r;
        r.pattern.text = quotes;
        r.content = "\"";
        steps.emplace_back(std::move(r));
    }
    if (!keep_accents) {
        steps.push_back(normalizer::Nfkd{});
        steps.push_back(normalizer::StripAccents{});
    }
    if (lowercase) steps.push_back(normalizer::Lowercase{});
    steps.insert(steps.end(), spec.normalizer.begin(), spec.normalizer.end());
    spec.normalizer = std::move(steps);
}

}  // namespace

TokenizerSpec albert_spec(const SentencePieceModel& model, bool lowercase, bool keep_accents) {
    TokenizerSpec spec = unigram_spec(model);
    add_plain_text_rules(spec, lowercase, keep_accents);
    const TokenId cls = id_of(spec, "[CLS]"), sep = id_of(spec, "[SEP]");
    postprocessor::Template t;
    t.single = {token("[CLS]"), text_a(), token("[SEP]")};
    t.pair = {token("[CLS]"), text_a(), token("[SEP]"), text_b(1), token("[SEP]", 1)};
    t.special_tokens = {{"[CLS]", {cls}, {"[CLS]"}}, {"[SEP]", {sep}, {"[SEP]"}}};
    spec.post_processor = {std::move(t)};
    spec.special_tokens = {.bos = "[CLS]",
                           .eos = "[SEP]",
                           .unk = model.unk_piece,
                           .sep = "[SEP]",
                           .pad = "<pad>",
                           .cls = "[CLS]",
                           .mask = "[MASK]"};
    return spec;
}

TokenizerSpec xlnet_spec(const SentencePieceModel& model, bool lowercase) {
    TokenizerSpec spec = unigram_spec(model);
    add_plain_text_rules(spec, lowercase, false);
    const TokenId sep = id_of(spec, "<sep>");
    id_of(spec, "<pad>");
    const TokenId cls = id_of(spec, "<cls>");
    id_of(spec, "<mask>", true);
    postprocessor::Template t;
    t.single = {text_a(), token("<sep>"), token("<cls>", 2)};
    t.pair = {text_a(), token("<sep>"), text_b(1), token("<sep>", 1), token("<cls>", 2)};
    t.special_tokens = {{"<sep>", {sep}, {"<sep>"}}, {"<cls>", {cls}, {"<cls>"}}};
    spec.post_processor = {std::move(t)};
    spec.special_tokens = {.bos = "<s>",
                           .eos = "</s>",
                           .unk = model.unk_piece,
                           .sep = "<sep>",
                           .pad = "<pad>",
                           .cls = "<cls>",
                           .mask = "<mask>"};
    return spec;
}

TokenizerSpec t5_spec(const SentencePieceModel& model) {
    TokenizerSpec spec = unigram_spec(model);
    auto& vocab = std::get<UnigramSpec>(spec.model).vocab;
    constexpr int extra_ids = 100;  // the sentinels of span corruption, the last one first
    const auto has = [&](const std::string& piece) {
        return std::any_of(vocab.begin(), vocab.end(),
                           [&](const UnigramPiece& p) { return p.piece == piece; });
    };
    if (!has("<extra_id_0>"))
        for (int i = extra_ids - 1; i >= 0; --i) {
            const std::string name = text_of("<extra_id_", i, ">");
            vocab.push_back({name, 0.0});
            id_of(spec, name);
        }
    const TokenId eos = id_of(spec, "</s>");
    postprocessor::Template t;
    t.single = {text_a(), token("</s>")};
    t.pair = {text_a(), token("</s>"), text_b(0), token("</s>")};
    t.special_tokens = {{"</s>", {eos}, {"</s>"}}};
    spec.post_processor = {std::move(t)};
    spec.special_tokens.eos = "</s>";
    spec.special_tokens.pad = "<pad>";
    return spec;
}

// The pieces of a SentencePiece model, with the ids of another file. "</s>" ends a text; names of
// languages (">>fra<<") are tokens.
TokenizerSpec marian_spec(std::string proto, Vocabulary vocab) {
    TokenizerSpec spec;
    for (const char* name : {"<unk>", "</s>", "<pad>"}) add_special(spec, vocab, name);
    for (std::size_t i = 0; i < vocab.size(); ++i) {
        const std::string_view name = vocab.entry(i).token;
        if (name.starts_with(">>") && name.ends_with("<<") && name.size() > 4)
            add_special(spec, vocab, name);
    }
    if (const TokenId eos = vocab.find("</s>"); eos >= 0) {
        postprocessor::Template t;
        t.single = {text_a(), token("</s>")};
        t.pair = {text_a(), text_b(0), token("</s>")};
        t.special_tokens = {{"</s>", {eos}, {"</s>"}}};
        spec.post_processor = {std::move(t)};
    }
    spec.special_tokens.eos = "</s>";
    spec.special_tokens.unk = "<unk>";
    spec.special_tokens.pad = "<pad>";
    SentencePieceSpec model;
    model.proto = std::move(proto);
    model.remap = std::move(vocab);
    spec.model = std::move(model);
    return spec;
}

}  // namespace fovea
