#include "fovea/data/rule_spans.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fovea {
namespace {

std::string lower_case(const std::string& word) {
    std::string out = word;
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool all_digits(std::string_view s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), is_digit);
}

template <std::size_t N>
bool stands_in(std::string_view word, const std::array<std::string_view, N>& list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// A month by its name, or by three letters of it with or without a full stop.
bool is_month(std::string_view w) {
    static constexpr std::array<std::string_view, 12> names = {
        "january", "february", "march",     "april",   "may",      "june",
        "july",    "august",   "september", "october", "november", "december"};
    if (stands_in(w, names)) return true;
    if (w == "sept") return true;
    return w.size() == 3 && std::any_of(names.begin(), names.end(),
                                        [&](std::string_view n) { return n.substr(0, 3) == w; });
}

bool is_weekday(std::string_view w) {
    static constexpr std::array<std::string_view, 7> names = {
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    return stands_in(w, names);
}

bool is_near_day(std::string_view w) {
    static constexpr std::array<std::string_view, 4> names = {"today", "tomorrow", "yesterday",
                                                              "tonight"};
    return stands_in(w, names);
}

int number_in(std::string_view w) {  // of at most four digits; else -1
    if (!all_digits(w) || w.size() > 4) return -1;
    int n = 0;
    for (const char c : w) n = 10 * n + (c - '0');
    return n;
}

// 17, 17th, 1st
bool is_day(std::string_view w) {
    std::string_view digits = w;
    for (const std::string_view end : {"st", "nd", "rd", "th"})
        if (w.ends_with(end)) digits = w.substr(0, w.size() - 2);
    const int n = digits.size() <= 2 ? number_in(digits) : -1;
    return n >= 1 && n <= 31;
}

bool is_year(std::string_view w) {
    return w.size() == 4 && number_in(w) >= 1000 && number_in(w) <= 2999;
}

// 2024-05-17, 17.05.2024, 17-05-24: three numbers between signs of one kind.
bool is_written_date(std::string_view w) {
    for (const char sign : {'-', '.'}) {
        const std::size_t a = w.find(sign), b = a == w.npos ? w.npos : w.find(sign, a + 1);
        if (b == w.npos || w.find(sign, b + 1) != w.npos) continue;
        const std::string_view x = w.substr(0, a), y = w.substr(a + 1, b - a - 1),
                               z = w.substr(b + 1);
        const int middle = y.size() <= 2 ? number_in(y) : -1;
        if (middle < 1 || middle > 31) continue;
        if (is_year(x) && is_day(z)) return true;
        if (is_day(x) && (is_year(z) || (z.size() == 2 && all_digits(z)))) return true;
    }
    return false;
}

// 12, 1,250.5, 3.14, 1.250,50; not 1.2.3: a sign that stands twice parts groups of three.
bool is_figure(std::string_view w) {
    if (w.empty() || !is_digit(w.front()) || !is_digit(w.back())) return false;
    if (w.find_first_not_of("0123456789.,") != w.npos) return false;
    for (const char sign : {'.', ','}) {
        if (std::count(w.begin(), w.end(), sign) < 2) continue;
        for (std::size_t at = w.find(sign); at != w.npos; at = w.find(sign, at + 1)) {
            const std::size_t end = std::min(w.find_first_of(".,", at + 1), w.size());
            if (end - at != 4) return false;
        }
    }
    return true;
}

bool is_number_word(std::string_view w) {
    static constexpr std::array<std::string_view, 32> names = {
        "zero",     "one",      "two",     "three",     "four",     "five",     "six",
        "seven",    "eight",    "nine",    "ten",       "eleven",   "twelve",   "thirteen",
        "fourteen", "fifteen",  "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
        "thirty",   "forty",    "fifty",   "sixty",     "seventy",  "eighty",   "ninety",
        "hundred",  "thousand", "million", "billion"};
    const std::size_t dash = w.find('-');  // twenty-one
    if (dash != w.npos)
        return stands_in(w.substr(0, dash), names) && stands_in(w.substr(dash + 1), names);
    return stands_in(w, names);
}

class RuleReader {
public:
    explicit RuleReader(std::span<const std::string> words) {
        for (const std::string& w : words) words_.push_back(lower_case(w));
    }

    // How many words from i on are a date; 0: none.
    std::size_t date_at(std::size_t i) const {
        if (is_written_date(at(i)) || is_near_day(at(i))) return 1;
        if (const std::size_t n = slashes_at(i)) return n;
        if (const std::size_t n = month_at(i)) return n;
        if ((at(i) == "next" || at(i) == "last" || at(i) == "this") &&
            (is_weekday(at(i + 1)) || at(i + 1) == "week" || at(i + 1) == "month" ||
             at(i + 1) == "year"))
            return 2;
        if (!is_weekday(at(i))) return 0;
        const std::size_t comma = at(i + 1) == "," ? 1 : 0;  // Friday, 17 May
        const std::size_t n = month_at(i + 1 + comma);
        return n > 0 ? 1 + comma + n : 1;
    }

    std::size_t number_at(std::size_t i) const {
        if (is_figure(at(i))) {
            std::size_t n = 1;
            while (at(i + n) == "hundred" || at(i + n) == "thousand" || at(i + n) == "million" ||
                   at(i + n) == "billion")
                ++n;
            return at(i + n) == "%" || at(i + n) == "percent" ? n + 1 : n;
        }
        std::size_t n = 0;  // "two hundred and five"
        while (is_number_word(at(i + n)) ||
               (n > 0 && at(i + n) == "and" && is_number_word(at(i + n + 1)) &&
                at(i + n - 1) == "hundred"))
            ++n;
        if (n > 0 && at(i + n) == "percent") ++n;
        return n;
    }

    std::size_t size() const { return words_.size(); }

private:
    std::string_view at(std::size_t i) const {
        return i < words_.size() ? std::string_view(words_[i]) : std::string_view();
    }

    std::size_t slashes_at(std::size_t i) const {  // 5/17/2024, 17/5/24
        if (at(i + 1) != "/" || at(i + 3) != "/" || !is_day(at(i)) || !is_day(at(i + 2))) return 0;
        return is_year(at(i + 4)) || (at(i + 4).size() == 2 && all_digits(at(i + 4))) ? 5 : 0;
    }

    // 17 May 2024, 17th of May, May 17, 2024, May 2024. "May" alone is a word like others.
    std::size_t month_at(std::size_t i) const {
        if (is_day(at(i))) {
            const std::size_t of = at(i + 1) == "of" ? 1 : 0;
            if (!is_month(at(i + 1 + of))) return 0;
            return 2 + of + year_at(i + 2 + of);
        }
        if (!is_month(at(i))) return 0;
        const std::size_t stop = at(i + 1) == "." ? 1 : 0;  // Sept. 3
        if (is_day(at(i + 1 + stop))) return 2 + stop + year_at(i + 2 + stop);
        return is_year(at(i + 1 + stop)) ? 2 + stop : 0;
    }

    std::size_t year_at(std::size_t i) const {
        if (is_year(at(i))) return 1;
        return at(i) == "," && is_year(at(i + 1)) ? 2 : 0;
    }

    std::vector<std::string> words_;
};

}  // namespace

std::vector<RuleSpan> rule_spans(std::span<const std::string> words, RuleKinds kinds) {
    const RuleReader reader(words);
    std::vector<RuleSpan> found;
    for (std::size_t i = 0; i < words.size();) {
        const std::size_t date = reader.date_at(i);
        const std::size_t number = date > 0 ? 0 : reader.number_at(i);
        const std::size_t n = std::max(date, number);
        if (date > 0 && kinds.dates) found.push_back({i, i + n - 1, "date"});
        if (number > 0 && kinds.numbers) found.push_back({i, i + n - 1, "number"});
        i += std::max<std::size_t>(1, n);
    }
    return found;
}

}  // namespace fovea
