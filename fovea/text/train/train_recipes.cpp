// The recipes of well-known tokenizers: their normalisers, pre-tokenisers, special tokens and
// templates, so that what we train has the same shape as theirs.
#include <map>

#include "fovea/base/error.h"
#include "fovea/text/special_tokens.h"
#include "fovea/text/spm/sentencepiece_rules.h"
#include "fovea/text/steps/byte_level.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {

namespace {

using Kind = postprocessor::TemplatePiece::Kind;

// Replace steps, field by field: nested braces of strings make GCC 12 warn without a reason.
template <class Replace>
Replace replace(const std::string& pattern, bool regex, const std::string& content) {
    Replace r;
    r.pattern.text = pattern;
    r.pattern.regex = regex;
    r.content = content;
    return r;
}

template <class Chain, class... Steps>
void append(Chain& chain, const Steps&... steps) {
    (chain.emplace_back(steps), ...);
}

TokenId id_of(const TokenizerTraining& t, const std::string& content) {
    for (const AddedToken& s : t.special_tokens)
        if (s.content == content) return s.id;
    fail("recipe: no special token ", content);
}

postprocessor::TokenAndId token_and_id(const TokenizerTraining& t, const std::string& content) {
    return {content, id_of(t, content)};
}

// "[CLS] $A [SEP] $B:1 [SEP]:1": the templates of tokenizer.json in the spelling of its Python API.
std::vector<postprocessor::TemplatePiece> template_of(std::string_view text) {
    std::vector<postprocessor::TemplatePiece> pieces;
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        std::string word(text.substr(0, space));
        text.remove_prefix(std::min(space + 1, text.size()));
        postprocessor::TemplatePiece p;
        if (const std::size_t colon = word.rfind(':'); colon != std::string::npos) {
            p.type_id = word[colon + 1] - '0';
            word.resize(colon);
        }
        p.kind = word == "$A" ? Kind::sequence_a : word == "$B" ? Kind::sequence_b : Kind::special;
        if (p.kind == Kind::special) p.special = word;
        pieces.push_back(p);
    }
    return pieces;
}

void set_template(TokenizerTraining& t, std::string_view single, std::string_view pair) {
    postprocessor::Template post{template_of(single), template_of(pair), {}};
    for (const auto& p : post.pair) {
        if (p.kind != Kind::special) continue;
        bool known = false;
        for (const auto& s : post.special_tokens) known = known || s.name == p.special;
        if (!known) post.special_tokens.push_back({p.special, {id_of(t, p.special)}, {p.special}});
    }
    t.pipeline.post_processor = {post};
}

TokenizerTraining bert(bool uncased) {
    TokenizerTraining t;
    t.model = TrainedModel::wordpiece;
    t.special_tokens = special_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
    t.unk_token = "[UNK]";
    t.min_frequency = 2;
    t.limit_alphabet = 1000;
    t.continuing_subword_prefix = "##";
    normalizer::Bert n;
    n.lowercase = uncased;
    if (!uncased) n.strip_accents = false;
    t.pipeline.normalizer = {n};
    t.pipeline.pre_tokenizer = {pretokenizer::Bert{}};
    t.pipeline.decoder = {decoder::WordPiece{}};
    if (uncased)
        set_template(t, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1");
    else
        t.pipeline.post_processor = {
            postprocessor::Bert{token_and_id(t, "[SEP]"), token_and_id(t, "[CLS]")}};
    return t;
}

TokenizerTraining byte_level(const std::vector<std::string>& special, bool prefix_space) {
    TokenizerTraining t;
    t.model = TrainedModel::bpe;
    t.special_tokens = special_tokens(special);
    t.min_frequency = 2;
    t.initial_alphabet = text::byte_alphabet();
    t.keep_newlines = true;
    t.pipeline.pre_tokenizer = {pretokenizer::ByteLevel{.add_prefix_space = prefix_space}};
    t.pipeline.decoder = {decoder::ByteLevel{}};
    return t;
}

TokenizerTraining gpt2() {
    TokenizerTraining t = byte_level({"<|endoftext|>"}, false);
    t.pipeline.post_processor = {
        postprocessor::ByteLevel{.add_prefix_space = true, .trim_offsets = false}};
    return t;
}

TokenizerTraining roberta() {
    TokenizerTraining t = byte_level({"<s>", "<pad>", "</s>", "<unk>", "<mask>"}, true);
    t.special_tokens.back().lstrip = true;  // "<mask>" takes the space before it
    t.unk_token = "<unk>";
    t.pipeline.post_processor = {
        postprocessor::Roberta{token_and_id(t, "</s>"), token_and_id(t, "<s>")}};
    return t;
}

TokenizerTraining gpt() {  // the first GPT: characters, words end with "</w>"
    TokenizerTraining t;
    t.model = TrainedModel::bpe;
    t.special_tokens = special_tokens({"<unk>"});
    t.unk_token = "<unk>";
    t.min_frequency = 2;
    t.limit_alphabet = 1000;
    t.end_of_word_suffix = "</w>";
    t.pipeline.normalizer = {normalizer::Bert{}};
    t.pipeline.pre_tokenizer = {pretokenizer::Bert{}};
    t.pipeline.decoder = {decoder::Bpe{}};
    return t;
}

TokenizerTraining unigram(const std::vector<std::string>& special, bool fold_case) {
    TokenizerTraining t;
    t.model = TrainedModel::unigram;
    t.vocab_size = 8000;
    t.special_tokens = special_tokens(special);
    t.unk_token = "<unk>";
    t.limit_alphabet = 3000;
    t.pipeline.normalizer = {normalizer::Precompiled{nfkc_charsmap(fold_case)}};
    t.pipeline.pre_tokenizer = {pretokenizer::Metaspace{}};
    t.pipeline.decoder = {decoder::Metaspace{}};
    return t;
}

TokenizerTraining albert() {
    TokenizerTraining t = unigram({"<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"}, false);
    t.special_tokens.back().lstrip = true;
    const auto quote = [](const char* two) {
        return replace<normalizer::Replace>(two, false, "\"");
    };
    const NormalizerStep charsmap = t.pipeline.normalizer.front();
    t.pipeline.normalizer.clear();
    append(t.pipeline.normalizer, quote("``"), quote("''"), normalizer::Nfkd{},
           normalizer::StripAccents{}, normalizer::Lowercase{}, charsmap);
    t.pipeline.pre_tokenizer.insert(t.pipeline.pre_tokenizer.begin(),
                                    pretokenizer::WhitespaceSplit{});
    set_template(t, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1");
    return t;
}

TokenizerTraining xlnet() {
    TokenizerTraining t = unigram(
        {"<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"}, false);
    t.special_tokens[6].lstrip = true;
    append(t.pipeline.normalizer, replace<normalizer::Replace>(" {2,}", true, " "));
    set_template(t, "$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2");
    return t;
}

TokenizerTraining t5() {
    TokenizerTraining t =
        unigram({"<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>", "<extra_id_2>"}, false);
    set_template(t, "$A </s>", "$A </s> $B </s>");
    return t;
}

TokenizerTraining llama() {  // BPE over characters; what is not in the alphabet falls into bytes
    const std::string underline = "\xE2\x96\x81";
    TokenizerTraining t;
    t.model = TrainedModel::bpe;
    t.special_tokens = special_tokens({"<unk>", "<s>", "</s>"});
    t.unk_token = "<unk>";
    t.min_frequency = 2;
    t.limit_alphabet = 3000;
    t.byte_fallback = true;
    append(t.pipeline.normalizer, normalizer::Prepend{underline},
           replace<normalizer::Replace>(" ", false, underline));
    t.pipeline.decoder.emplace();
    append(*t.pipeline.decoder, replace<decoder::Replace>(underline, false, " "),
           decoder::ByteFallback{}, decoder::Fuse{}, decoder::Strip{" ", 1, 0});
    set_template(t, "<s> $A", "<s> $A <s>:1 $B:1");
    t.words_as = TokenizerSpec{};
    t.words_as->pre_tokenizer = {pretokenizer::Metaspace{}};
    return t;
}

TokenizerTraining word() {
    TokenizerTraining t;
    t.model = TrainedModel::word;
    t.special_tokens = special_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]"});
    t.unk_token = "[UNK]";
    t.min_frequency = 2;
    t.pipeline.normalizer = {normalizer::Nfc{}, normalizer::Lowercase{}};
    t.pipeline.pre_tokenizer = {pretokenizer::Whitespace{}};
    set_template(t, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1");
    return t;
}

const std::map<std::string, TokenizerTraining (*)()>& recipes() {
    static const std::map<std::string, TokenizerTraining (*)()> all = {
        {"albert", albert},
        {"bert-cased", [] { return bert(false); }},
        {"bert-uncased", [] { return bert(true); }},
        {"gpt", gpt},
        {"gpt2", gpt2},
        {"llama", llama},
        {"roberta", roberta},
        {"t5", t5},
        {"word", word},
        {"xlnet", xlnet},
    };
    return all;
}

}  // namespace

const std::vector<std::string>& training_recipes() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> n;
        for (const auto& [name, recipe] : recipes()) n.push_back(name);
        return n;
    }();
    return names;
}

TokenizerTraining training_like(const std::string& name) {
    const auto found = recipes().find(name);
    if (found == recipes().end()) {
        std::string known;
        for (const std::string& n : training_recipes()) known += (known.empty() ? "" : ", ") + n;
        fail_with(ErrorKind::usage, "the recipes are " + known, "no recipe is called \"", name,
                  "\"");
    }
    return found->second();
}

}  // namespace fovea
