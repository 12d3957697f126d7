#include "fovea/metrics/bleu_tokenizers.h"

#include "fovea/base/error.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

struct Name {
    BleuTokenizer tokenizer;
    const char* name;
};
constexpr Name names[] = {{BleuTokenizer::none, "none"},
                          {BleuTokenizer::v13a, "13a"},
                          {BleuTokenizer::intl, "intl"},
                          {BleuTokenizer::chars, "char"},
                          {BleuTokenizer::zh, "zh"}};

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
    std::string out;
    for (;;) {
        const std::size_t at = text.find(what);
        out.append(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        out.append(by);
        text.remove_prefix(at + what.size());
    }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }

// ASCII punctuation but for ' , - .  (a space counts too, which changes nothing)
bool is_western_punctuation(char c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
           (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// Where neighbours (a, b) match, writes a, `between`, b, `after` with `before` in front, and goes
// on behind b: pairs do not overlap, as in a regular-expression substitution.
template <class Text, class Matches>
Text separate_pairs(const Text& in, Matches matches, bool before, bool after) {
    Text out;
    out.reserve(in.size() + 16);
    for (std::size_t i = 0; i < in.size();) {
        if (i + 1 < in.size() && matches(in[i], in[i + 1])) {
            if (before) out.push_back(' ');
            out.push_back(in[i]);
            out.push_back(' ');
            out.push_back(in[i + 1]);
            if (after) out.push_back(' ');
            i += 2;
        } else {
            out.push_back(in[i++]);
        }
    }
    return out;
}

// The language-dependent part of mteval-v13a. Bytes suffice: everything it looks for is ASCII, and
// a stop next to a longer character is split from it between whole characters.
std::string separate_western(std::string_view line) {
    std::string out;
    out.reserve(line.size() * 2);
    for (const char c : line) {
        if (is_western_punctuation(c)) {
            out.push_back(' ');
            out.push_back(c);
            out.push_back(' ');
        } else {
            out.push_back(c);
        }
    }
    // a stop stays inside a number, and only there; a dash behind a digit comes off
    out = separate_pairs(
        out, [](char a, char b) { return !is_digit(a) && is_stop(b); }, false, true);
    out = separate_pairs(
        out, [](char a, char b) { return is_stop(a) && !is_digit(b); }, true, false);
    return separate_pairs(
        out, [](char a, char b) { return is_digit(a) && b == '-'; }, false, true);
}

std::string tokenize_13a(std::string_view line) {
    std::string text = replace_all(line, "<skipped>", "");
    text = replace_all(text, "-\n", "");
    text = replace_all(text, "\n", " ");
    text = replace_all(text, "&quot;", "\"");  // in this order: "&amp;lt;" becomes "<"
    text = replace_all(text, "&amp;", "&");
    text = replace_all(text, "&lt;", "<");
    text = replace_all(text, "&gt;", ">");
    return separate_western(" " + text + " ");
}

std::string tokenize_intl(std::string_view line) {
    std::u32string text = decode_utf8(line);
    text = separate_pairs(
        text, [](char32_t a, char32_t b) { return !is_number(a) && is_punctuation(b); }, false,
        true);
    text = separate_pairs(
        text, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); }, true,
        false);
    std::string out;
    for (const char32_t c : text) {
        const bool symbol = is_symbol(c);
        if (symbol) out.push_back(' ');
        append_utf8(out, c);
        if (symbol) out.push_back(' ');
    }
    return out;
}

std::string tokenize_chars(std::string_view line) {
    std::string out;
    for (const char32_t c : decode_utf8(line)) {
        append_utf8(out, c);
        out.push_back(' ');
    }
    return out;
}

// What the reference takes for Chinese. The first range is its quirk, kept for equal scores: it
// meant the ideographs beyond U+20000, which so are not split, but compares with U+2000 and a '0'.
bool is_chinese(char32_t c) {
    constexpr struct {
        char32_t first, last;
    } ranges[] = {{0x2001, 0x2A6D}, {0x2E80, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F},
                  {0x31A0, 0x31EF}, {0x3200, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D},
                  {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F},
                  {0xFF00, 0xFFEF}};
    for (const auto& r : ranges)
        if (c >= r.first && c <= r.last) return true;
    return false;
}

std::string tokenize_zh(std::string_view line) {
    std::string out;
    for (const char32_t c : decode_utf8(strip(line))) {
        const bool apart = is_chinese(c);
        if (apart) out.push_back(' ');
        append_utf8(out, c);
        if (apart) out.push_back(' ');
    }
    return separate_western(out);
}

}  // namespace

BleuTokenizer bleu_tokenizer(std::string_view name) {
    for (const Name& n : names)
        if (name == n.name) return n.tokenizer;
    fail_with(ErrorKind::usage, "choose one of none, 13a, intl, char, zh",
              "BLEU: there is no tokenizer \"", name, "\"");
}

const char* name_of(BleuTokenizer tokenizer) {
    for (const Name& n : names)
        if (tokenizer == n.tokenizer) return n.name;
    fail("BLEU: unknown tokenizer ", static_cast<int>(tokenizer));
}

std::string tokenize_for_bleu(BleuTokenizer tokenizer, std::string_view line) {
    switch (tokenizer) {
        case BleuTokenizer::none:
            return std::string(line);
        case BleuTokenizer::v13a:
            return tokenize_13a(line);
        case BleuTokenizer::intl:
            return tokenize_intl(line);
        case BleuTokenizer::chars:
            return tokenize_chars(line);
        case BleuTokenizer::zh:
            return tokenize_zh(line);
    }
    fail("BLEU: unknown tokenizer ", static_cast<int>(tokenizer));
}

}  // namespace fovea
