#include <algorithm>
#include <type_traits>

#include "fovea/base/error.h"
#include "fovea/base/json_writer.h"
#include "fovea/text/base64.h"
#include "fovea/text/json/tokenizer_json.h"

namespace fovea {

namespace {

const char* name(Direction d) { return d == Direction::left ? "Left" : "Right"; }

const char* name(TruncationStrategy s) {
    switch (s) {
        case TruncationStrategy::longest_first:
            return "LongestFirst";
        case TruncationStrategy::only_first:
            return "OnlyFirst";
        default:
            return "OnlySecond";
    }
}

const char* name(SplitBehavior b) {
    switch (b) {
        case SplitBehavior::removed:
            return "Removed";
        case SplitBehavior::isolated:
            return "Isolated";
        case SplitBehavior::merged_with_previous:
            return "MergedWithPrevious";
        case SplitBehavior::merged_with_next:
            return "MergedWithNext";
        default:
            return "Contiguous";
    }
}

const char* name(PrependScheme p) {
    switch (p) {
        case PrependScheme::always:
            return "always";
        case PrependScheme::never:
            return "never";
        default:
            return "first";
    }
}

// A field whose value is unset is written as null.
template <class T>
void field(JsonWriter& w, std::string_view key, const std::optional<T>& v) {
    w.key(key);
    if (v)
        w.value(*v);
    else
        w.null();
}

void write(JsonWriter& w, const Pattern& p) {
    w.key("pattern").open('{');
    w.key(p.regex ? "Regex" : "String").value(p.text);
    w.close('}');
}

void write(JsonWriter& w, const NormalizerStep& step) {
    w.open('{');
    const auto type = [&](const char* t) { w.key("type").value(t); };
    std::visit(
        [&](const auto& n) {
            using T = std::decay_t<decltype(n)>;
            if constexpr (std::is_same_v<T, normalizer::Bert>) {
                type("BertNormalizer");
                w.key("clean_text").value(n.clean_text);
                w.key("handle_chinese_chars").value(n.handle_chinese_chars);
                field(w, "strip_accents", n.strip_accents);
                w.key("lowercase").value(n.lowercase);
            } else if constexpr (std::is_same_v<T, normalizer::Nfc>) {
                type("NFC");
            } else if constexpr (std::is_same_v<T, normalizer::Nfd>) {
                type("NFD");
            } else if constexpr (std::is_same_v<T, normalizer::Nfkc>) {
                type("NFKC");
            } else if constexpr (std::is_same_v<T, normalizer::Nfkd>) {
                type("NFKD");
            } else if constexpr (std::is_same_v<T, normalizer::Lowercase>) {
                type("Lowercase");
            } else if constexpr (std::is_same_v<T, normalizer::Strip>) {
                type("Strip");
                w.key("strip_left").value(n.strip_left);
                w.key("strip_right").value(n.strip_right);
            } else if constexpr (std::is_same_v<T, normalizer::StripAccents>) {
                type("StripAccents");
            } else if constexpr (std::is_same_v<T, normalizer::Prepend>) {
                type("Prepend");
                w.key("prepend").value(n.prepend);
            } else if constexpr (std::is_same_v<T, normalizer::Replace>) {
                type("Replace");
                write(w, n.pattern);
                w.key("content").value(n.content);
            } else if constexpr (std::is_same_v<T, normalizer::Precompiled>) {
                type("Precompiled");
                w.key("precompiled_charsmap").value(text::encode_base64(n.charsmap));
            } else if constexpr (std::is_same_v<T, normalizer::Nmt>) {
                type("Nmt");
            } else {
                static_assert(std::is_same_v<T, normalizer::ByteLevel>);
                type("ByteLevel");
            }
        },
        step);
    w.close('}');
}

template <class T>
void write_byte_level(JsonWriter& w, const T& b) {
    w.key("type").value("ByteLevel");
    w.key("add_prefix_space").value(b.add_prefix_space);
    w.key("trim_offsets").value(b.trim_offsets);
    w.key("use_regex").value(b.use_regex);
}

template <class T>
void write_metaspace(JsonWriter& w, const T& m) {
    w.key("type").value("Metaspace");
    w.key("replacement").value(m.replacement);
    w.key("prepend_scheme").value(name(m.prepend_scheme));
    w.key("split").value(m.split);
}

void write(JsonWriter& w, const PreTokenizerStep& step) {
    w.open('{');
    const auto type = [&](const char* t) { w.key("type").value(t); };
    std::visit(
        [&](const auto& p) {
            using T = std::decay_t<decltype(p)>;
            if constexpr (std::is_same_v<T, pretokenizer::Bert>) {
                type("BertPreTokenizer");
            } else if constexpr (std::is_same_v<T, pretokenizer::ByteLevel>) {
                write_byte_level(w, p);
            } else if constexpr (std::is_same_v<T, pretokenizer::Whitespace>) {
                type("Whitespace");
            } else if constexpr (std::is_same_v<T, pretokenizer::WhitespaceSplit>) {
                type("WhitespaceSplit");
            } else if constexpr (std::is_same_v<T, pretokenizer::Metaspace>) {
                write_metaspace(w, p);
            } else if constexpr (std::is_same_v<T, pretokenizer::Punctuation>) {
                type("Punctuation");
                w.key("behavior").value(name(p.behavior));
            } else if constexpr (std::is_same_v<T, pretokenizer::Digits>) {
                type("Digits");
                w.key("individual_digits").value(p.individual_digits);
            } else if constexpr (std::is_same_v<T, pretokenizer::CharDelimiterSplit>) {
                type("CharDelimiterSplit");
                w.key("delimiter").value(p.delimiter);
            } else if constexpr (std::is_same_v<T, pretokenizer::Split>) {
                type("Split");
                write(w, p.pattern);
                w.key("behavior").value(name(p.behavior));
                w.key("invert").value(p.invert);
            } else if constexpr (std::is_same_v<T, pretokenizer::UnicodeScripts>) {
                type("UnicodeScripts");
            } else {
                static_assert(std::is_same_v<T, pretokenizer::FixedLength>);
                type("FixedLength");
                w.key("length").value(p.length);
            }
        },
        step);
    w.close('}');
}

void write(JsonWriter& w, const char* key, const postprocessor::TokenAndId& t) {
    w.key(key).open('[');
    w.value(t.token);
    w.value(t.id);
    w.close(']');
}

void write(JsonWriter& w, const char* key,
           const std::vector<postprocessor::TemplatePiece>& pieces) {
    using Kind = postprocessor::TemplatePiece::Kind;
    w.key(key).open('[');
    for (const auto& p : pieces) {
        const bool special = p.kind == Kind::special;
        w.open('{');
        w.key(special ? "SpecialToken" : "Sequence").open('{');
        w.key("id").value(special                      ? std::string_view(p.special)
                          : p.kind == Kind::sequence_a ? "A"
                                                       : "B");
        w.key("type_id").value(p.type_id);
        w.close('}');
        w.close('}');
    }
    w.close(']');
}

void write(JsonWriter& w, const PostProcessorStep& step) {
    w.open('{');
    const auto type = [&](const char* t) { w.key("type").value(t); };
    std::visit(
        [&](const auto& p) {
            using T = std::decay_t<decltype(p)>;
            if constexpr (std::is_same_v<T, postprocessor::Bert>) {
                type("BertProcessing");
                write(w, "sep", p.sep);
                write(w, "cls", p.cls);
            } else if constexpr (std::is_same_v<T, postprocessor::Roberta>) {
                type("RobertaProcessing");
                write(w, "sep", p.sep);
                write(w, "cls", p.cls);
                w.key("trim_offsets").value(p.trim_offsets);
                w.key("add_prefix_space").value(p.add_prefix_space);
            } else if constexpr (std::is_same_v<T, postprocessor::Template>) {
                type("TemplateProcessing");
                write(w, "single", p.single);
                write(w, "pair", p.pair);
                w.key("special_tokens").open('{');
                for (const auto& s : p.special_tokens) {
                    w.key(s.name).open('{');
                    w.key("id").value(s.name);
                    w.key("ids").open('[');
                    for (const TokenId id : s.ids) w.value(id);
                    w.close(']');
                    w.key("tokens").open('[');
                    for (const std::string& t : s.tokens) w.value(t);
                    w.close(']');
                    w.close('}');
                }
                w.close('}');
            } else {
                static_assert(std::is_same_v<T, postprocessor::ByteLevel>);
                write_byte_level(w, p);
            }
        },
        step);
    w.close('}');
}

void write(JsonWriter& w, const DecoderStep& step) {
    w.open('{');
    const auto type = [&](const char* t) { w.key("type").value(t); };
    std::visit(
        [&](const auto& d) {
            using T = std::decay_t<decltype(d)>;
            if constexpr (std::is_same_v<T, decoder::WordPiece>) {
                type("WordPiece");
                w.key("prefix").value(d.prefix);
                w.key("cleanup").value(d.cleanup);
            } else if constexpr (std::is_same_v<T, decoder::ByteLevel>) {
                write_byte_level(w, d);
            } else if constexpr (std::is_same_v<T, decoder::Metaspace>) {
                write_metaspace(w, d);
            } else if constexpr (std::is_same_v<T, decoder::Bpe>) {
                type("BPEDecoder");
                w.key("suffix").value(d.suffix);
            } else if constexpr (std::is_same_v<T, decoder::ByteFallback>) {
                type("ByteFallback");
            } else if constexpr (std::is_same_v<T, decoder::Fuse>) {
                type("Fuse");
            } else if constexpr (std::is_same_v<T, decoder::Strip>) {
                type("Strip");
                w.key("content").value(d.content);
                w.key("start").value(d.start);
                w.key("stop").value(d.stop);
            } else if constexpr (std::is_same_v<T, decoder::Replace>) {
                type("Replace");
                write(w, d.pattern);
                w.key("content").value(d.content);
            } else {
                static_assert(std::is_same_v<T, decoder::Ctc>);
                type("CTC");
                w.key("pad_token").value(d.pad_token);
                w.key("word_delimiter_token").value(d.word_delimiter_token);
                w.key("cleanup").value(d.cleanup);
            }
        },
        step);
    w.close('}');
}

// Nothing is null, one step stands bare, several are a Sequence.
template <class Step>
void write_chain(JsonWriter& w, const char* key, const char* parts, const std::vector<Step>& steps,
                 bool empty_is_null) {
    w.key(key);
    if (steps.empty() && empty_is_null) {
        w.null();
    } else if (steps.size() == 1) {
        write(w, steps[0]);
    } else {
        w.open('{');
        w.key("type").value("Sequence");
        w.key(parts).open('[');
        for (const Step& s : steps) write(w, s);
        w.close(']');
        w.close('}');
    }
}

void write_vocab(JsonWriter& w, const Vocabulary& vocab) {
    w.key("vocab").open('{');
    for (const Vocabulary::Entry& e : vocab.by_id()) w.key(e.token).value(e.id);
    w.close('}');
}

void write(JsonWriter& w, const BpeSpec& m) {
    w.key("type").value("BPE");
    w.key("dropout");
    if (m.dropout)
        w.value(static_cast<double>(*m.dropout));
    else
        w.null();
    field(w, "unk_token", m.unk_token);
    field(w, "continuing_subword_prefix", m.continuing_subword_prefix);
    field(w, "end_of_word_suffix", m.end_of_word_suffix);
    w.key("fuse_unk").value(m.fuse_unk);
    w.key("byte_fallback").value(m.byte_fallback);
    w.key("ignore_merges").value(m.ignore_merges);
    write_vocab(w, m.vocab);
    w.key("merges").open('[');
    for (const Merge& merge : m.merges) {
        w.open('[');
        w.value(m.vocab.token(merge.left));
        w.value(m.vocab.token(merge.right));
        w.close(']');
    }
    w.close(']');
}

void write(JsonWriter& w, const WordPieceSpec& m) {
    w.key("type").value("WordPiece");
    w.key("unk_token").value(m.unk_token);
    w.key("continuing_subword_prefix").value(m.continuing_subword_prefix);
    w.key("max_input_chars_per_word").value(m.max_input_chars_per_word);
    write_vocab(w, m.vocab);
}

void write(JsonWriter& w, const UnigramSpec& m) {
    w.key("type").value("Unigram");
    w.key("unk_id");
    if (m.unk_id)
        w.value(*m.unk_id);
    else
        w.null();
    w.key("vocab").open('[');
    for (const UnigramPiece& p : m.vocab) {
        w.open('[');
        w.value(p.piece);
        w.value(p.score);
        w.close(']');
    }
    w.close(']');
    w.key("byte_fallback").value(m.byte_fallback);
}

void write(JsonWriter& w, const WordLevelSpec& m) {
    w.key("type").value("WordLevel");
    write_vocab(w, m.vocab);
    w.key("unk_token").value(m.unk_token);
}

void write(JsonWriter&, const SentencePieceSpec&) {
    fail_with(ErrorKind::usage, "save it as a .model file",
              "tokenizer.json: a SentencePiece model cannot be written as a tokenizer.json");
}

void write(JsonWriter& w, const std::optional<Truncation>& t) {
    w.key("truncation");
    if (!t) return w.null();
    w.open('{');
    w.key("direction").value(name(t->direction));
    w.key("max_length").value(t->max_length);
    w.key("strategy").value(name(t->strategy));
    w.key("stride").value(t->stride);
    w.close('}');
}

void write(JsonWriter& w, const std::optional<Padding>& p) {
    w.key("padding");
    if (!p) return w.null();
    w.open('{');
    w.key("strategy");
    if (p->fixed) {
        w.open('{');
        w.key("Fixed").value(*p->fixed);
        w.close('}');
    } else {
        w.value("BatchLongest");
    }
    w.key("direction").value(name(p->direction));
    field(w, "pad_to_multiple_of", p->pad_to_multiple_of);
    w.key("pad_id").value(p->pad_id);
    w.key("pad_type_id").value(p->pad_type_id);
    w.key("pad_token").value(p->pad_token);
    w.close('}');
}

}  // namespace

std::string write_tokenizer_json(const TokenizerSpec& spec) {
    JsonWriter w(JsonWriter::Style::indented);
    w.open('{');
    w.key("version").value("1.0");
    write(w, spec.truncation);
    write(w, spec.padding);
    w.key("added_tokens").open('[');
    std::vector<AddedToken> added = spec.added_tokens;
    std::stable_sort(added.begin(), added.end(),
                     [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    for (const AddedToken& t : added) {
        w.open('{');
        w.key("id").value(t.id);
        w.key("content").value(t.content);
        w.key("single_word").value(t.single_word);
        w.key("lstrip").value(t.lstrip);
        w.key("rstrip").value(t.rstrip);
        w.key("normalized").value(t.normalized);
        w.key("special").value(t.special);
        w.close('}');
    }
    w.close(']');
    write_chain(w, "normalizer", "normalizers", spec.normalizer, true);
    write_chain(w, "pre_tokenizer", "pretokenizers", spec.pre_tokenizer, true);
    write_chain(w, "post_processor", "processors", spec.post_processor, true);
    if (spec.decoder)
        write_chain(w, "decoder", "decoders", *spec.decoder, false);
    else
        w.key("decoder").null();
    w.key("model").open('{');
    std::visit([&](const auto& m) { write(w, m); }, spec.model);
    w.close('}');
    w.close('}');
    return w.take() + "\n";
}

}  // namespace fovea
