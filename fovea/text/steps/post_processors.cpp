#include "fovea/text/steps/post_processors.h"

#include <algorithm>
#include <type_traits>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

Encoding special(const std::vector<TokenId>& ids, const std::vector<std::string>& tokens,
                 int type_id) {
    Encoding e;
    const std::size_t n = ids.size();
    e.ids = ids;
    e.tokens = tokens;
    e.offsets.assign(n, {});
    e.type_ids.assign(n, type_id);
    e.word_ids.assign(n, -1);
    e.sequence_ids.assign(n, -1);
    e.special_mask.assign(n, 1);
    return e;
}

Encoding special(const postprocessor::TokenAndId& t, int type_id) {
    return special({t.id}, {t.token}, type_id);
}

void set_type(Encoding& e, int type_id) {
    std::fill(e.type_ids.begin(), e.type_ids.end(), type_id);
}

// before + e + after, for e and for the parts cut off from it.
void wrap(Encoding& e, const Encoding* before, const Encoding* after) {
    std::vector<Encoding> cut_off = std::move(e.overflowing);
    e.overflowing.clear();
    const auto surround = [&](Encoding& x) {
        Encoding whole = before ? *before : Encoding{};
        append(whole, x);
        if (after) append(whole, *after);
        x = std::move(whole);
    };
    surround(e);
    for (Encoding& o : cut_off) surround(o);
    e.overflowing = std::move(cut_off);
}

using Encodings = std::vector<Encoding>;

void process(const postprocessor::Bert& p, Encodings& e, bool specials) {
    if (!specials) return;
    const Encoding cls = special(p.cls, 0), sep = special(p.sep, 0), last = special(p.sep, 1);
    for (std::size_t i = 0; i < e.size(); ++i)
        wrap(e[i], i == 0 ? &cls : nullptr, i == 0 ? &sep : &last);
}

void process(const postprocessor::Roberta& p, Encodings& e, bool specials) {
    for (Encoding& x : e) {
        if (p.trim_offsets) {
            trim_offsets(x, p.add_prefix_space);
            for (Encoding& o : x.overflowing) trim_offsets(o, p.add_prefix_space);
        }
        set_type(x, 0);
        if (specials)
            for (Encoding& o : x.overflowing) set_type(o, 0);
    }
    if (!specials) return;
    const Encoding cls = special(p.cls, 0), sep = special(p.sep, 0);
    for (std::size_t i = 0; i < e.size(); ++i) wrap(e[i], i == 0 ? &cls : &sep, &sep);
}

void process(const postprocessor::Template& p, Encodings& e, bool specials) {
    using Kind = postprocessor::TemplatePiece::Kind;
    Encodings out;
    for (const auto& piece : e.size() > 1 ? p.pair : p.single) {
        if (piece.kind == Kind::special) {
            if (!specials) continue;
            for (const auto& s : p.special_tokens)
                if (s.name == piece.special) out.push_back(special(s.ids, s.tokens, piece.type_id));
        } else {
            const std::size_t i = piece.kind == Kind::sequence_a ? 0 : 1;
            if (i >= e.size()) continue;
            set_type(e[i], piece.type_id);
            out.push_back(e[i]);
        }
    }
    e = std::move(out);
}

void process(const postprocessor::ByteLevel& p, Encodings& e, bool) {
    if (!p.trim_offsets) return;
    for (Encoding& x : e) {
        trim_offsets(x, p.add_prefix_space);
        for (Encoding& o : x.overflowing) trim_offsets(o, p.add_prefix_space);
    }
}

std::int64_t count(const postprocessor::Template& p, bool pair) {
    std::int64_t n = 0;
    for (const auto& piece : pair ? p.pair : p.single)
        for (const auto& s : p.special_tokens)
            if (piece.kind == postprocessor::TemplatePiece::Kind::special &&
                s.name == piece.special)
                n += static_cast<std::int64_t>(s.ids.size());
    return n;
}

// "Ġ" is how a space is spelled.
bool blank(char32_t c) { return c == 0x120 || has(c, is_space); }

}  // namespace

void trim_offsets(Encoding& e, bool add_prefix_space) {
    for (std::size_t i = 0; i < e.size(); ++i) {
        const std::string& token = e.tokens[i];
        std::int32_t leading = 0, trailing = 0;
        for (std::size_t at = 0; at < token.size();) {
            const Utf8Char c = read_char(token.data() + at);
            if (!blank(c.code)) break;
            ++leading;
            at += static_cast<std::size_t>(c.size);
        }
        for (std::size_t end = token.size(); end > 0;) {
            std::size_t at = end - 1;
            while (at > 0 && is_continuation(token[at])) --at;
            if (!blank(read_char(token.data() + at).code)) break;
            ++trailing;
            end = at;
        }
        TextSpan& o = e.offsets[i];
        if (leading > 0) {
            // The one space that was put before the text is nobody's: nothing to take out.
            const bool at_start = i == 0 || o.begin == 0;
            if (at_start && add_prefix_space && leading == 1) leading = 0;
            o.begin = std::min(o.begin + leading, o.end);
        }
        if (trailing > 0 && o.end >= trailing) o.end = std::max(o.end - trailing, o.begin);
    }
}

void PostProcessorChain::check_ids(TokenId end) const {
    const auto check = [&](const std::string& token, TokenId id) {
        if (id < 0 || id >= end)
            fail_with(ErrorKind::bad_input,
                      "the post_processor was made for another vocabulary: give the token the id "
                      "that it has in this one",
                      "tokenizer: the post_processor adds \"", token, "\" as id ", id,
                      " but the vocabulary has ids from 0 to ", end - 1);
    };
    const auto check_used = [&](const postprocessor::Template& t,
                                const std::vector<postprocessor::TemplatePiece>& pieces) {
        for (const auto& piece : pieces)
            for (const auto& s : t.special_tokens)
                if (piece.kind == postprocessor::TemplatePiece::Kind::special &&
                    s.name == piece.special)
                    for (const TokenId id : s.ids) check(s.name, id);
    };
    for (const PostProcessorStep& step : steps_) {
        const auto check_both = [&](const auto& p) {
            check(p.cls.token, p.cls.id);
            check(p.sep.token, p.sep.id);
        };
        if (const auto* p = std::get_if<postprocessor::Bert>(&step)) check_both(*p);
        if (const auto* p = std::get_if<postprocessor::Roberta>(&step)) check_both(*p);
        if (const auto* p = std::get_if<postprocessor::Template>(&step)) {
            check_used(*p, p->single);
            check_used(*p, p->pair);
        }
    }
}

std::int64_t PostProcessorChain::tokens_added(bool pair) const {
    std::int64_t n = 0;
    for (const PostProcessorStep& step : steps_) {
        if (std::holds_alternative<postprocessor::Bert>(step)) n += pair ? 3 : 2;
        if (std::holds_alternative<postprocessor::Roberta>(step)) n += pair ? 4 : 2;
        if (const auto* t = std::get_if<postprocessor::Template>(&step)) n += count(*t, pair);
    }
    return n;
}

Encoding PostProcessorChain::process(Encodings encodings, bool add_special_tokens) const {
    for (const PostProcessorStep& step : steps_)
        std::visit([&](const auto& p) { text::process(p, encodings, add_special_tokens); }, step);
    if (encodings.empty()) return {};
    Encoding whole = std::move(encodings[0]);
    for (std::size_t i = 1; i < encodings.size(); ++i) append(whole, encodings[i]);
    return whole;
}

bool PostProcessorChain::around(std::vector<TokenId>& before, std::vector<TokenId>& after) const {
    before.clear();
    after.clear();
    // Encode a marker that no special token can be and see where it ends up.
    Encoding marker = special({-2}, {"x"}, 0);
    marker.special_mask[0] = 0;
    const Encoding whole = process({marker}, true);
    const auto at = std::find(whole.ids.begin(), whole.ids.end(), -2);
    if (std::count(whole.ids.begin(), whole.ids.end(), -2) != 1) return false;
    before.assign(whole.ids.begin(), at);
    after.assign(at + 1, whole.ids.end());
    return true;
}

}  // namespace fovea::text
