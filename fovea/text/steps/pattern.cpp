#define PCRE2_CODE_UNIT_WIDTH 8
#include "fovea/text/steps/pattern.h"

#include <pcre2.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea::text {

namespace {

// From one start a match may take this many steps; patterns in use need a handful a character.
constexpr std::uint32_t match_limit = 200'000;
constexpr std::uint32_t heap_limit_kib = 64 * 1024;
// PCRE2 cannot limit the steps of all starts together, so starts are tried this many at a time and
// the clock is looked at in between: a pattern that is quadratic on a long text ends in an error.
constexpr std::size_t starts_at_once = 256;
constexpr double seconds_allowed = 2, seconds_per_byte = 2e-6;

}  // namespace

struct Matcher::Regex {
    pcre2_code* code = nullptr;
    pcre2_match_context* context = nullptr;

    ~Regex() {
        pcre2_match_context_free(context);
        pcre2_code_free(code);
    }
};

Matcher::Matcher(const Pattern& pattern, const std::string& where)
    : pattern_(pattern), where_(where) {
    if (!pattern.regex) return;
    scanner_ = scanner_for(pattern.text);
    if (scanner_ != SplitScanner::none) return;
    int error = 0;
    PCRE2_SIZE at = 0;
    regex_ = std::make_unique<Regex>();
    // ^ and $ match at line ends, as in Oniguruma's default syntax, which tokenizers uses.
    regex_->code = pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(pattern.text.data()), pattern.text.size(),
        PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_USE_OFFSET_LIMIT, &error, &at, nullptr);
    if (regex_->code == nullptr) {
        unsigned char message[256];
        pcre2_get_error_message(error, message, sizeof message);
        throw Error(text_of(where, ": regular expression \"", pattern.text,
                            "\": ", reinterpret_cast<char*>(message), " at ", at),
                    ErrorKind::bad_input);
    }
    pcre2_jit_compile(regex_->code, PCRE2_JIT_COMPLETE);  // faster where it works, else harmless
    regex_->context = pcre2_match_context_create(nullptr);
    expect(regex_->context != nullptr, where, ": out of memory");
    pcre2_set_match_limit(regex_->context, match_limit);
    pcre2_set_heap_limit(regex_->context, heap_limit_kib);
}

Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

void Matcher::find(std::string_view text, std::vector<ByteRange>& matches) const {
    matches.clear();
    if (scanner_ != SplitScanner::none) {
        for (std::size_t i = 0; i < text.size();) {
            const std::size_t end = scan(scanner_, text, i);
            matches.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)});
            i = end;
        }
    } else if (regex_) {
        find_regex(text, matches);
    } else {
        find_literal(text, matches);
    }
}

void Matcher::find_literal(std::string_view text, std::vector<ByteRange>& matches) const {
    const std::string& needle = pattern_.text;
    if (needle.empty()) {  // found before every character and at the end, as a regex would be
        for (std::size_t i = 0; i <= text.size();) {
            matches.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)});
            i += i < text.size() ? static_cast<std::size_t>(utf8_size(text[i])) : 1;
        }
        return;
    }
    for (std::size_t i = text.find(needle); i != std::string_view::npos;
         i = text.find(needle, i + needle.size()))
        matches.push_back(
            {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + needle.size())});
}

void Matcher::find_regex(std::string_view text, std::vector<ByteRange>& matches) const {
    const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(
        pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
    const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> context(
        pcre2_match_context_copy(regex_->context), pcre2_match_context_free);
    expect(data && context, where_, ": out of memory");
    const auto too_slow = [&](int code) {
        throw Error(text_of(where_, ": regular expression \"", pattern_.text,
                            "\" needs too many steps on this text (PCRE2 error ", code, ")"),
                    ErrorKind::bad_input, "the pattern backtracks too much; simplify it");
    };
    // The text has been checked, and every start below is the start of a character.
    std::uint32_t options = PCRE2_NO_UTF_CHECK;
    constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    std::size_t last_end = nowhere, checked = 0;
    const Stopwatch watch;
    const double allowed = seconds_allowed + seconds_per_byte * static_cast<double>(text.size());
    for (std::size_t i = 0; i <= text.size();) {
        const std::size_t window = std::min(i + starts_at_once, text.size());
        pcre2_set_offset_limit(context.get(), window);
        const int rc = pcre2_match(regex_->code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                   text.size(), i, options, data.get(), context.get());
        if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
            options |= PCRE2_NO_JIT;
            continue;
        }
        if (i - checked >= starts_at_once) {
            checked = i;
            if (watch.seconds() > allowed) too_slow(PCRE2_ERROR_MATCHLIMIT);
        }
        if (rc == PCRE2_ERROR_NOMATCH) {
            if (window == text.size()) break;
            i = window + 1;
            while (i < text.size() && is_continuation(text[i])) ++i;
            continue;
        }
        if (rc < 0) too_slow(rc);
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
        const std::size_t begin = ends[0], end = ends[1];
        if (begin > end || begin < i) break;  // \K in a look-ahead: nothing sensible to report
        const bool empty_after_match = begin == end && begin == last_end;
        if (!empty_after_match) {
            matches.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
            last_end = end;
        }
        i = end;
        if (begin == end) i += i < text.size() ? static_cast<std::size_t>(utf8_size(text[i])) : 1;
    }
}

}  // namespace fovea::text
