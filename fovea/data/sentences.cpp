#include "fovea/data/sentences.h"

#include <algorithm>
#include <array>
#include <string>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

// Their full stop does not end a sentence, whatever follows. Sorted.
constexpr std::array<std::string_view, 53> abbreviations = {
    "al",   "approx", "apr",   "art", "aug", "ave",  "bzw", "ca",  "capt", "cf",     "ch",
    "cmdr", "col",    "comdr", "dec", "dr",  "ed",   "eds", "est", "feb",  "fig",    "figs",
    "gen",  "gov",    "hon",   "jan", "jul", "jun",  "lt",  "maj", "mar",  "messrs", "mlle",
    "mme",  "mr",     "mrs",   "ms",  "mt",  "no",   "nos", "nov", "nr",   "oct",    "op",
    "pp",   "prof",   "rev",   "sen", "sep", "sept", "sgt", "st",  "vs"};

// Words that mostly begin a sentence: behind "U.S." or "vitamin C." they decide. Sorted.
constexpr std::array<std::string_view, 40> starters = {
    "A",   "After",  "All",   "Although", "An",   "And",  "As",   "At",      "Both", "But",
    "By",  "During", "For",   "From",     "He",   "Her",  "His",  "However", "I",    "If",
    "In",  "It",     "Its",   "Many",     "On",   "One",  "She",  "Since",   "Some", "That",
    "The", "Their",  "There", "These",    "They", "This", "When", "While",   "With", "You"};

static_assert(std::is_sorted(abbreviations.begin(), abbreviations.end()));
static_assert(std::is_sorted(starters.begin(), starters.end()));

bool is_white(char32_t c) { return text::has(c, text::is_space); }
// Letters of scripts that have two cases; the others (from Hebrew on) begin no sentence visibly.
bool is_lower(char32_t c) {
    return c < 0x590 && text::has(c, text::is_letter) && !text::has(c, text::is_upper);
}
bool ends_alone(char32_t c) {  // no space needed behind it
    return c == U'。' || c == U'！' || c == U'？' || c == U'｡' || c == U'．';
}
bool ends(char32_t c) { return c == '.' || c == '!' || c == '?' || c == U'…' || ends_alone(c); }
bool closes(char32_t c) {
    constexpr std::u32string_view all = U"\"')]}”’»›」』）】〉》";
    return all.find(c) != std::u32string_view::npos;
}
bool opens(char32_t c) {
    constexpr std::u32string_view all = U"\"'([{“‘«‹「『（【〈《-–—";
    return all.find(c) != std::u32string_view::npos;
}

class Splitter {
public:
    explicit Splitter(std::string_view text) : text_(text) {}

    std::vector<TextPart> run() {
        std::size_t at = 0;
        while (at < text_.size()) {
            const std::size_t here = at;
            const char32_t c = next_code_point(text_, at);
            if (c == '\n') {
                if (line_ends_sentence(here)) close(here);
            } else if (ends(c)) {
                at = after_mark(here, at, c);
            }
        }
        close(text_.size());
        return std::move(parts_);
    }

private:
    char32_t code_at(std::size_t at) const {
        return at < text_.size() ? next_code_point(text_, at) : U'\n';
    }

    // A line break ends a sentence, unless the next line goes on in lower case.
    bool line_ends_sentence(std::size_t newline) const {
        const std::size_t next = text_.find_first_not_of(" \t\r", newline + 1);
        return next == std::string_view::npos || text_[next] == '\n' || !is_lower(code_at(next));
    }

    // Behind further marks and closing quotes. Ends the sentence there if it ends.
    std::size_t after_mark(std::size_t mark, std::size_t at, char32_t c) {
        bool single_stop = c == '.', alone = ends_alone(c);
        while (at < text_.size()) {
            std::size_t next = at;
            const char32_t more = next_code_point(text_, next);
            if (!ends(more) && !closes(more)) break;
            if (ends(more)) single_stop = false;
            alone = alone || ends_alone(more);
            at = next;
        }
        if (alone || ends_here(mark, at, single_stop)) close(at);
        return at;
    }

    bool ends_here(std::size_t mark, std::size_t at, bool single_stop) const {
        if (at == text_.size()) return true;
        if (!is_white(code_at(at))) return false;  // 3.14, fovea.h
        std::size_t next = at;
        while (next < text_.size() && text_[next] != '\n' && is_white(code_at(next)))
            next_code_point(text_, next);
        if (next < text_.size() && text_[next] == '\n')  // lower-cased texts have no other sign
            return !single_stop || stop_ends(mark, next + 1);
        std::size_t word = next;
        while (word < text_.size() && opens(code_at(word))) next_code_point(text_, word);
        if (is_lower(code_at(word))) return false;  // "Stop!" he said
        return !single_stop || stop_ends(mark, word);
    }

    // A single full stop before white space and a word that may begin a sentence.
    bool stop_ends(std::size_t mark, std::size_t next_word) const {
        std::size_t begin = mark;
        while (begin > begin_ && !is_boundary(text_[begin - 1])) --begin;
        const std::string_view before = text_.substr(begin, mark - begin);
        if (before.empty()) return true;
        const bool is_first = text_.substr(begin_, begin - begin_).find_first_not_of(" \t\r\n") ==
                              std::string_view::npos;
        if (is_first && before.find_first_not_of("0123456789") == before.npos)
            return false;  // "1. Take two eggs"
        std::string lower(before);
        for (char& ch : lower)
            if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
        if (std::binary_search(abbreviations.begin(), abbreviations.end(), std::string_view(lower)))
            return false;
        const bool initial = before.size() == 1 && before[0] >= 'A' && before[0] <= 'Z';
        const bool dotted = before.find('.') != before.npos && !has_digit(before);  // U.S, a.m
        if (!initial && !dotted) return true;
        const std::size_t end = std::min(text_.find_first_of(" \t\r\n,.", next_word), text_.size());
        const std::string_view next = text_.substr(next_word, end - next_word);
        return std::binary_search(starters.begin(), starters.end(), next);
    }

    static bool is_boundary(char c) {
        return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '(' || c == '"' || c == '[';
    }
    static bool has_digit(std::string_view s) { return s.find_first_of("0123456789") != s.npos; }

    void close(std::size_t end) {
        std::size_t first = begin_, last = end;
        while (first < last && is_white(code_at(first))) next_code_point(text_, first);
        while (last > first) {
            std::size_t c = last - 1;
            while (c > first && is_continuation(text_[c])) --c;
            if (!is_white(code_at(c))) break;
            last = c;
        }
        if (last > first) parts_.push_back({first, last});
        begin_ = end;
    }

    std::string_view text_;
    std::size_t begin_ = 0;  // of the sentence that is open
    std::vector<TextPart> parts_;
};

}  // namespace

std::vector<TextPart> split_sentences(std::string_view text) { return Splitter(text).run(); }

}  // namespace fovea
