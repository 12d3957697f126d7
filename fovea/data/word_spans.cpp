#include "fovea/data/word_spans.h"

#include <cstddef>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

bool is_inner(char32_t c) {  // part of a word wherever it stands
    return text::has(c, text::is_letter | text::is_number | text::is_mark) || c == '_';
}
bool is_digit_sign(char32_t c) { return c == '.' || c == ',' || c == ':'; }
bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

// One stretch between spaces, cut into words.
class Stretch {
public:
    Stretch(std::string_view text, std::size_t begin, std::size_t end, std::vector<TextSpan>& to)
        : to_(to) {
        for (std::size_t at = begin; at < end;) {
            const Utf8Char c = read_char(text.data() + at);
            chars_.push_back(c.code);
            offsets_.push_back(at);
            at += static_cast<std::size_t>(c.size);
        }
        offsets_.push_back(end);
        const std::size_t whole = is_address(text.substr(begin, end - begin)) ? address_end() : 0;
        if (whole > 0) put(0, whole);
        for (std::size_t i = whole; i < chars_.size();) {
            const std::size_t next = word_end(i);
            put_parts(i, next);
            i = next;
        }
    }

private:
    static bool is_address(std::string_view s) {
        return s.starts_with("http://") || s.starts_with("https://") || s.starts_with("www.");
    }
    // A sentence's own punctuation at the end is not part of the address.
    std::size_t address_end() const {
        std::size_t n = chars_.size();
        while (n > 1 &&
               std::u32string_view(U".,;:!?)\"'").find(chars_[n - 1]) != std::u32string_view::npos)
            --n;
        return n;
    }

    std::size_t word_end(std::size_t i) const {
        const char32_t c = chars_[i];
        const auto inner = [&](std::size_t k) { return k < chars_.size() && is_inner(chars_[k]); };
        if (text::has(c, text::is_chinese)) return i + 1;
        std::size_t k = i;
        if ((c == '@' || c == '#') && inner(i + 1)) k = i + 1;
        if (!inner(k) && !(is_apostrophe(c) && inner(i + 1))) {  // a run of one sign: "..." "!!"
            while (k < chars_.size() && chars_[k] == c) ++k;
            return k;
        }
        for (++k; k < chars_.size(); ++k) {
            if (text::has(chars_[k], text::is_chinese)) return k;
            if (is_inner(chars_[k])) continue;
            const bool between = inner(k + 1);
            const bool digits = between && is_digit_sign(chars_[k]) &&
                                text::has(chars_[k - 1], text::is_number) &&
                                text::has(chars_[k + 1], text::is_number);
            const bool joins = between && (chars_[k] == '-' || chars_[k] == '.' ||
                                           chars_[k] == '&' || is_apostrophe(chars_[k]));
            if (!digits && !joins) return k;
        }
        return k;
    }

    // "don't" is do + n't, "I'm" is I + 'm; "o'clock" and "D'Arcy" are one.
    void put_parts(std::size_t begin, std::size_t end) {
        for (std::size_t k = begin + 1; k < end; ++k) {
            if (!is_apostrophe(chars_[k])) continue;
            std::u32string tail;
            for (std::size_t i = k + 1; i < end; ++i)
                tail += chars_[i] < 128 ? (chars_[i] | 32) : chars_[i];
            const bool not_ = tail == U"t" && (chars_[k - 1] | 32) == 'n' && k - 1 > begin;
            const bool clitic = tail == U"s" || tail == U"m" || tail == U"d" || tail == U"re" ||
                                tail == U"ve" || tail == U"ll";
            if (not_ || clitic) {
                const std::size_t cut = not_ ? k - 1 : k;
                put(begin, cut);
                put(cut, end);
                return;
            }
        }
        put(begin, end);
    }

    void put(std::size_t begin, std::size_t end) {
        to_.push_back(
            {static_cast<std::int32_t>(offsets_[begin]), static_cast<std::int32_t>(offsets_[end])});
    }

    std::u32string chars_;
    std::vector<std::size_t> offsets_;
    std::vector<TextSpan>& to_;
};

}  // namespace

std::vector<TextSpan> word_spans(std::string_view text) {
    std::vector<TextSpan> words;
    constexpr unsigned between = text::is_space | text::is_control;
    for (std::size_t at = 0; at < text.size();) {
        Utf8Char c = read_char(text.data() + at);
        if (text::has(c.code, between)) {
            at += static_cast<std::size_t>(c.size);
            continue;
        }
        std::size_t end = at;
        while (end < text.size()) {
            c = read_char(text.data() + end);
            if (text::has(c.code, between)) break;
            end += static_cast<std::size_t>(c.size);
        }
        [[maybe_unused]] const Stretch cut(text, at, end, words);  // appends its words
        at = end;
    }
    return words;
}

}  // namespace fovea
