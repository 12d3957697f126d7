#include "fovea/text/json/json_components.h"

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/text/base64.h"

namespace fovea::text {

namespace {

[[noreturn]] void unknown(const JsonValue& v, std::string_view what, std::string_view type,
                          const char* known) {
    fail_with(ErrorKind::bad_input, text_of("Fovea has ", known), v.path(), ": unknown ", what,
              " \"", type, "\"");
}

TokenId read_id(const JsonValue& v) {
    const std::int64_t id = v.integer();
    expect_input(id >= 0 && id < 2147483647, v.path(), ": ", id, " is no token id");
    return static_cast<TokenId>(id);
}

Pattern read_pattern(const JsonValue& v) {
    if (v.is_string()) return {std::string(v.string()), false};
    if (const auto s = v.find("String")) return {std::string(s->string()), false};
    if (const auto r = v.find("Regex")) return {std::string(r->string()), true};
    fail_with(ErrorKind::bad_input, {}, v.path(), ": should be {\"String\": …} or {\"Regex\": …}");
}

SplitBehavior read_behavior(const JsonValue& v) {
    const std::string_view s = v.string();
    if (s == "Removed") return SplitBehavior::removed;
    if (s == "Isolated") return SplitBehavior::isolated;
    if (s == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
    if (s == "MergedWithNext") return SplitBehavior::merged_with_next;
    if (s == "Contiguous") return SplitBehavior::contiguous;
    unknown(v, "behavior", s,
            "Removed, Isolated, MergedWithPrevious, MergedWithNext and Contiguous");
}

std::string one_char(const JsonValue& v) {
    const std::string s(v.string());
    expect_input(!s.empty() && count_chars(s) == 1, v.path(), ": \"", s,
                 "\" should be one character");
    return s;
}

std::int64_t count(const JsonValue& v) {
    const std::int64_t n = v.integer();
    expect_input(n >= 0, v.path(), ": ", n, " is negative");
    return n;
}

// Old files have add_prefix_space instead of prepend_scheme.
PrependScheme read_prepend_scheme(const JsonValue& v) {
    const auto scheme = v.find("prepend_scheme");
    const auto old = v.find("add_prefix_space");
    PrependScheme result = PrependScheme::always;
    if (scheme) {
        const std::string_view s = scheme->string();
        if (s == "never") {
            result = PrependScheme::never;
        } else if (s == "first") {
            result = PrependScheme::first;
        } else if (s != "always") {
            unknown(*scheme, "prepend_scheme", s, "always, first and never");
        }
    }
    if (old && !old->boolean()) {
        expect_input(!scheme || result == PrependScheme::never, v.path(),
                     ": add_prefix_space is false but prepend_scheme is not \"never\"");
        result = PrependScheme::never;
    }
    return result;
}

postprocessor::TokenAndId read_token_and_id(const JsonValue& v) {
    postprocessor::TokenAndId t;
    int n = 0;
    v.each([&](const JsonValue& e) {
        if (n == 0) t.token = e.string();
        if (n == 1) t.id = read_id(e);
        ++n;
    });
    expect_input(n == 2, v.path(), ": should be [token, id] but has ", n, " values");
    return t;
}

std::vector<postprocessor::TemplatePiece> read_template(const JsonValue& v) {
    using postprocessor::TemplatePiece;
    std::vector<TemplatePiece> pieces;
    v.each([&](const JsonValue& e) {
        TemplatePiece piece;
        if (const auto s = e.find("Sequence")) {
            const JsonValue id = s->at("id");
            const std::string_view name = id.string();
            expect_input(name == "A" || name == "B", id.path(), ": \"", name,
                         "\" should be \"A\" or \"B\"");
            piece.kind =
                name == "A" ? TemplatePiece::Kind::sequence_a : TemplatePiece::Kind::sequence_b;
            piece.type_id = static_cast<int>(count(s->at("type_id")));
        } else if (const auto t = e.find("SpecialToken")) {
            piece.kind = TemplatePiece::Kind::special;
            piece.special = t->at("id").string();
            piece.type_id = static_cast<int>(count(t->at("type_id")));
        } else {
            fail_with(ErrorKind::bad_input, {}, e.path(),
                      ": should be {\"Sequence\": …} or {\"SpecialToken\": …}");
        }
        pieces.push_back(std::move(piece));
    });
    return pieces;
}

postprocessor::Template read_template_processing(const JsonValue& v) {
    postprocessor::Template t;
    t.single = read_template(v.at("single"));
    t.pair = read_template(v.at("pair"));
    const JsonValue specials = v.at("special_tokens");
    for (const auto& [key, element] : specials.object()) {
        const JsonValue s(element, specials.path() + "." + std::string(key));
        postprocessor::TemplateSpecial special;
        special.name = key;
        s.at("ids").each([&](const JsonValue& e) { special.ids.push_back(read_id(e)); });
        s.at("tokens").each([&](const JsonValue& e) { special.tokens.emplace_back(e.string()); });
        expect_input(special.ids.size() == special.tokens.size(), s.path(), ": has ",
                     special.ids.size(), " ids but ", special.tokens.size(), " tokens");
        t.special_tokens.push_back(std::move(special));
    }
    for (const auto* pieces : {&t.single, &t.pair})
        for (const auto& piece : *pieces) {
            if (piece.kind != postprocessor::TemplatePiece::Kind::special) continue;
            const bool there = std::any_of(t.special_tokens.begin(), t.special_tokens.end(),
                                           [&](const auto& s) { return s.name == piece.special; });
            expect_input(there, v.path(), ": the template names the special token \"",
                         piece.special, "\" but special_tokens does not have it");
        }
    for (const auto& piece : t.single)
        expect_input(piece.kind != postprocessor::TemplatePiece::Kind::sequence_b, v.path(),
                     ": the template for one text names sequence B");
    return t;
}

// Appends the steps of a component; nested sequences are flattened. `parts` is the name of the
// field that holds the steps of a Sequence. The depth is bounded by the parser.
template <class Step, class One>
void read_chain(const JsonValue& v, const char* parts, One one, std::vector<Step>& out) {
    if (v.is_null()) return;
    const std::string_view type = v.at("type").string();
    if (type == "Sequence")
        v.at(parts).each([&](const JsonValue& e) { read_chain(e, parts, one, out); });
    else
        out.push_back(one(v, type));
}

NormalizerStep one_normalizer(const JsonValue& v, std::string_view type) {
    if (type == "BertNormalizer") {
        normalizer::Bert b;
        b.clean_text = v.boolean_or("clean_text", true);
        b.handle_chinese_chars = v.boolean_or("handle_chinese_chars", true);
        if (const auto s = v.find("strip_accents")) b.strip_accents = s->boolean();
        b.lowercase = v.boolean_or("lowercase", true);
        return b;
    }
    if (type == "NFC") return normalizer::Nfc{};
    if (type == "NFD") return normalizer::Nfd{};
    if (type == "NFKC") return normalizer::Nfkc{};
    if (type == "NFKD") return normalizer::Nfkd{};
    if (type == "Lowercase") return normalizer::Lowercase{};
    if (type == "Strip")
        return normalizer::Strip{v.at("strip_left").boolean(), v.at("strip_right").boolean()};
    if (type == "StripAccents") return normalizer::StripAccents{};
    if (type == "Prepend") return normalizer::Prepend{std::string(v.at("prepend").string())};
    if (type == "Replace")
        return normalizer::Replace{read_pattern(v.at("pattern")),
                                   std::string(v.at("content").string())};
    if (type == "Precompiled") {
        const JsonValue map = v.at("precompiled_charsmap");
        if (map.is_null()) return normalizer::Precompiled{};
        return normalizer::Precompiled{decode_base64(map.string(), map.path())};
    }
    if (type == "Nmt") return normalizer::Nmt{};
    if (type == "ByteLevel") return normalizer::ByteLevel{};
    unknown(v, "normalizer", type,
            "BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, Strip, StripAccents, Prepend, "
            "Replace, Precompiled, Nmt, ByteLevel and Sequence");
}

pretokenizer::ByteLevel read_byte_level(const JsonValue& v) {
    return {v.boolean_or("add_prefix_space", true), v.boolean_or("trim_offsets", true),
            v.boolean_or("use_regex", true)};
}

PreTokenizerStep one_pre_tokenizer(const JsonValue& v, std::string_view type) {
    if (type == "BertPreTokenizer") return pretokenizer::Bert{};
    if (type == "ByteLevel") return read_byte_level(v);
    if (type == "Whitespace") return pretokenizer::Whitespace{};
    if (type == "WhitespaceSplit") return pretokenizer::WhitespaceSplit{};
    if (type == "Metaspace")
        return pretokenizer::Metaspace{one_char(v.at("replacement")), read_prepend_scheme(v),
                                       v.boolean_or("split", true)};
    if (type == "Punctuation") {
        const auto b = v.find("behavior");
        return pretokenizer::Punctuation{b ? read_behavior(*b) : SplitBehavior::isolated};
    }
    if (type == "Digits") return pretokenizer::Digits{v.boolean_or("individual_digits", false)};
    if (type == "CharDelimiterSplit")
        return pretokenizer::CharDelimiterSplit{one_char(v.at("delimiter"))};
    if (type == "Split")
        return pretokenizer::Split{read_pattern(v.at("pattern")), read_behavior(v.at("behavior")),
                                   v.boolean_or("invert", false)};
    if (type == "UnicodeScripts") return pretokenizer::UnicodeScripts{};
    if (type == "FixedLength") {
        const std::int64_t n = v.integer_or("length", 5);
        expect_input(n > 0, v.path(), ": a length of ", n, " cuts nothing");
        return pretokenizer::FixedLength{n};
    }
    unknown(v, "pre_tokenizer", type,
            "BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Metaspace, Punctuation, "
            "Digits, CharDelimiterSplit, Split, UnicodeScripts, FixedLength and Sequence");
}

PostProcessorStep one_post_processor(const JsonValue& v, std::string_view type) {
    if (type == "BertProcessing")
        return postprocessor::Bert{read_token_and_id(v.at("sep")), read_token_and_id(v.at("cls"))};
    if (type == "RobertaProcessing")
        return postprocessor::Roberta{
            read_token_and_id(v.at("sep")), read_token_and_id(v.at("cls")),
            v.boolean_or("trim_offsets", true), v.boolean_or("add_prefix_space", true)};
    if (type == "TemplateProcessing") return read_template_processing(v);
    if (type == "ByteLevel") {
        const pretokenizer::ByteLevel b = read_byte_level(v);
        return postprocessor::ByteLevel{b.add_prefix_space, b.trim_offsets, b.use_regex};
    }
    unknown(v, "post_processor", type,
            "BertProcessing, RobertaProcessing, TemplateProcessing, ByteLevel and Sequence");
}

DecoderStep one_decoder(const JsonValue& v, std::string_view type) {
    if (type == "WordPiece")
        return decoder::WordPiece{v.string_or("prefix", "##"), v.boolean_or("cleanup", true)};
    if (type == "ByteLevel") {
        const pretokenizer::ByteLevel b = read_byte_level(v);
        return decoder::ByteLevel{b.add_prefix_space, b.trim_offsets, b.use_regex};
    }
    if (type == "Metaspace")
        return decoder::Metaspace{one_char(v.at("replacement")), read_prepend_scheme(v),
                                  v.boolean_or("split", true)};
    if (type == "BPEDecoder") return decoder::Bpe{v.string_or("suffix", "</w>")};
    if (type == "ByteFallback") return decoder::ByteFallback{};
    if (type == "Fuse") return decoder::Fuse{};
    if (type == "Strip")
        return decoder::Strip{one_char(v.at("content")), count(v.at("start")), count(v.at("stop"))};
    if (type == "Replace")
        return decoder::Replace{read_pattern(v.at("pattern")),
                                std::string(v.at("content").string())};
    if (type == "CTC")
        return decoder::Ctc{v.string_or("pad_token", "<pad>"),
                            v.string_or("word_delimiter_token", "|"),
                            v.boolean_or("cleanup", true)};
    unknown(v, "decoder", type,
            "WordPiece, ByteLevel, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Replace, CTC "
            "and Sequence");
}

Direction read_direction(const JsonValue& v) {
    const auto d = v.find("direction");
    if (!d) return Direction::right;
    const std::string_view s = d->string();
    expect_input(s == "Left" || s == "Right", d->path(), ": \"", s,
                 "\" should be \"Left\" or \"Right\"");
    return s == "Left" ? Direction::left : Direction::right;
}

}  // namespace

AddedToken read_added_token(const JsonValue& v) {
    AddedToken t;
    t.id = read_id(v.at("id"));
    t.content = v.at("content").string();
    t.single_word = v.boolean_or("single_word", false);
    t.lstrip = v.boolean_or("lstrip", false);
    t.rstrip = v.boolean_or("rstrip", false);
    t.special = v.boolean_or("special", false);
    t.normalized = v.boolean_or("normalized", !t.special);
    return t;
}

std::vector<NormalizerStep> read_normalizer(const JsonValue& v) {
    std::vector<NormalizerStep> steps;
    read_chain(v, "normalizers", one_normalizer, steps);
    return steps;
}

std::vector<PreTokenizerStep> read_pre_tokenizer(const JsonValue& v) {
    std::vector<PreTokenizerStep> steps;
    read_chain(v, "pretokenizers", one_pre_tokenizer, steps);
    return steps;
}

std::vector<PostProcessorStep> read_post_processor(const JsonValue& v) {
    std::vector<PostProcessorStep> steps;
    read_chain(v, "processors", one_post_processor, steps);
    return steps;
}

std::vector<DecoderStep> read_decoder(const JsonValue& v) {
    std::vector<DecoderStep> steps;
    read_chain(v, "decoders", one_decoder, steps);
    return steps;
}

Truncation read_truncation(const JsonValue& v) {
    Truncation t;
    t.max_length = count(v.at("max_length"));
    t.stride = count(v.at("stride"));
    t.direction = read_direction(v);
    const JsonValue strategy = v.at("strategy");
    const std::string_view s = strategy.string();
    if (s == "LongestFirst") {
        t.strategy = TruncationStrategy::longest_first;
    } else if (s == "OnlyFirst") {
        t.strategy = TruncationStrategy::only_first;
    } else if (s == "OnlySecond") {
        t.strategy = TruncationStrategy::only_second;
    } else {
        unknown(strategy, "truncation strategy", s, "LongestFirst, OnlyFirst and OnlySecond");
    }
    return t;
}

Padding read_padding(const JsonValue& v) {
    Padding p;
    const JsonValue strategy = v.at("strategy");
    if (strategy.is_object())
        p.fixed = count(strategy.at("Fixed"));
    else if (strategy.string() != "BatchLongest")
        unknown(strategy, "padding strategy", strategy.string(), "BatchLongest and Fixed");
    p.direction = read_direction(v);
    if (const auto m = v.find("pad_to_multiple_of")) p.pad_to_multiple_of = count(*m);
    p.pad_id = read_id(v.at("pad_id"));
    p.pad_type_id = count(v.at("pad_type_id"));
    p.pad_token = v.at("pad_token").string();
    return p;
}

}  // namespace fovea::text
