#include "fovea/text/unicode/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace fovea::text {

namespace {

using unicode_tables::CodePair;

// Whether c lies in one of the sorted ranges [first, second].
bool in_ranges(const CodePair* ranges, int count, char32_t c) {
    const CodePair* end = ranges + count;
    const CodePair* after =
        std::upper_bound(ranges, end, c, [](char32_t x, const CodePair& r) { return x < r.first; });
    return after != ranges && c <= after[-1].second;
}

}  // namespace

int to_lower(char32_t c, char32_t out[2]) {
    out[0] = c;
    if (!has(c, is_upper)) return 1;
    if (c == 0x130) {  // capital I with dot: the only one that becomes two (SpecialCasing.txt)
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    const auto low = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
    if (low != c) {
        out[0] = low;
        return 1;
    }
    const CodePair* end = unicode_tables::lower + unicode_tables::lower_count;
    const CodePair* at = std::lower_bound(
        unicode_tables::lower, end, c, [](const CodePair& p, char32_t x) { return p.first < x; });
    if (at != end && at->first == c) out[0] = at->second;
    return 1;
}

int decompose(char32_t c, bool compatible, char32_t out[max_decomposition]) {
    out[0] = c;
    const unsigned changes = compatible ? nfkd_may_change : nfd_may_change;
    if (!has(c, changes) || in_ranges(unicode_tables::whole, unicode_tables::whole_count, c))
        return 1;
    utf8proc_int32_t parts[max_decomposition];
    int bound = 0;
    const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    const auto n =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, max_decomposition,
                                static_cast<utf8proc_option_t>(options), &bound);
    if (n < 1 || n > max_decomposition) return 1;
    for (int i = 0; i < n; ++i) out[i] = static_cast<char32_t>(parts[i]);
    return static_cast<int>(n);
}

int combining_class(char32_t c) {
    if (!has(c, nfd_may_change)) return 0;  // the flag covers every character with a class
    if (in_ranges(unicode_tables::classless, unicode_tables::classless_count, c)) return 0;
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

char32_t compose(char32_t a, char32_t b) {
    if (!has(b, nfc_may_change)) return 0;
    utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b),
                                0};
    const auto n = utf8proc_normalize_utf32(
        pair, 2, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    if (n != 1) return 0;
    const auto joined = static_cast<char32_t>(pair[0]);
    if (in_ranges(unicode_tables::whole, unicode_tables::whole_count, joined)) return 0;
    return joined;
}

int script_of(char32_t c) {
    const CodePair* end = unicode_tables::scripts + unicode_tables::scripts_count;
    const CodePair* after = std::upper_bound(
        unicode_tables::scripts, end, c, [](char32_t x, const CodePair& r) { return x < r.first; });
    return after == unicode_tables::scripts ? 0 : static_cast<int>(after[-1].second);
}

bool grapheme_break(char32_t before, char32_t after, std::int32_t& state) {
    return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                            static_cast<utf8proc_int32_t>(after), &state);
}

}  // namespace fovea::text
