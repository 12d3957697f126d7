#include "fovea/data/dates.h"

#include <array>
#include <string>

#include "fovea/base/philox.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

using Names = std::array<const char*, 12>;

constexpr Names english = {"January", "February", "March",     "April",   "May",      "June",
                           "July",    "August",   "September", "October", "November", "December"};
constexpr Names english_short = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr Names german = {"Januar", "Februar", "März",      "April",   "Mai",      "Juni",
                          "Juli",   "August",  "September", "Oktober", "November", "Dezember"};
constexpr Names french = {"janvier", "février", "mars",      "avril",   "mai",      "juin",
                          "juillet", "août",    "septembre", "octobre", "novembre", "décembre"};
constexpr Names spanish = {"enero", "febrero", "marzo",      "abril",   "mayo",      "junio",
                           "julio", "agosto",  "septiembre", "octubre", "noviembre", "diciembre"};
constexpr Names italian = {"gennaio", "febbraio", "marzo",     "aprile",  "maggio",   "giugno",
                           "luglio",  "agosto",   "settembre", "ottobre", "novembre", "dicembre"};

int days_in(int month, int year) {
    constexpr int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

std::string ordinal(int day) {
    const char* end = day % 100 >= 11 && day % 100 <= 13 ? "th"
                      : day % 10 == 1                    ? "st"
                      : day % 10 == 2                    ? "nd"
                      : day % 10 == 3                    ? "rd"
                                                         : "th";
    return std::to_string(day) + end;
}

std::string padded(int n) {
    std::string text = std::to_string(n);
    return n < 10 ? text.insert(0, 1, '0') : text;
}

constexpr int styles = 16;

std::string written(int year, int month, int day, int style) {
    const auto m = static_cast<std::size_t>(month - 1);
    const std::string y = std::to_string(year), d = std::to_string(day);
    switch (style) {
        case 0:
            return std::string("the ") + ordinal(day) + " of " + english[m] + ", " + y;
        case 1:
            return std::string(english[m]) + " " + d + ", " + y;
        case 2:
            return d + " " + english[m] + " " + y;
        case 3:
            return std::string(english_short[m]) + " " + ordinal(day) + " " + y;
        case 4:
            return d + " " + english_short[m] + " " + y;
        case 5:
            return padded(month) + "/" + padded(day) + "/" + y;  // American
        case 6:
            return d + ". " + german[m] + " " + y;
        case 7:
            return "der " + d + ". " + german[m] + " " + y;
        case 8:
            return padded(day) + "." + padded(month) + "." + y;
        case 9:
            return (day == 1 ? "1er" : d) + " " + french[m] + " " + y;
        case 10:
            return "le " + (day == 1 ? std::string("1er") : d) + " " + french[m] + " " + y;
        case 11:
            return d + " de " + spanish[m] + " de " + y;
        case 12:
            return "el " + d + " de " + spanish[m] + " de " + y;
        case 13:
            return d + " " + italian[m] + " " + y;
        case 14:
            return "il " + d + " " + italian[m] + " " + y;
        default:
            return y + ", " + english[m] + " " + ordinal(day);
    }
}

// One date in ten is held out, by a hash of the date itself.
bool is_held_out(int year, int month, int day) {
    const auto number = static_cast<std::uint32_t>((year * 13 + month) * 32 + day);
    return philox({number, 0, 0, 0}, 0x6461746573)[0] % 10 == 0;
}

}  // namespace

std::vector<TextPair> written_dates(const DatesOptions& options) {
    Rng rng(options.seed, options.held_out ? 0x686f6c64u : 0x64617465u);
    std::vector<TextPair> pairs;
    while (static_cast<std::int64_t>(pairs.size()) < options.count) {
        const auto year = static_cast<int>(1900 + rng.below(150));
        const auto month = static_cast<int>(1 + rng.below(12));
        const auto day = static_cast<int>(1 + rng.below(days_in(month, year)));
        const auto style = static_cast<int>(rng.below(styles));
        if (is_held_out(year, month, day) != options.held_out) continue;
        pairs.push_back({written(year, month, day, style),
                         std::to_string(year) + "-" + padded(month) + "-" + padded(day),
                         static_cast<std::int64_t>(pairs.size()) + 1});
    }
    return pairs;
}

}  // namespace fovea
