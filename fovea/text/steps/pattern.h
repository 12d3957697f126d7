#pragma once
// Finds the matches of a Split or Replace pattern. Literal strings and the split patterns of
// well-known models have scanners written by hand; other regular expressions go through PCRE2 with
// limits, so that a pattern that backtracks without end is an error and not a hang.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/steps/scanners.h"

namespace fovea::text {

struct ByteRange {
    std::uint32_t begin, end;
    bool operator==(const ByteRange&) const = default;
};

class Matcher {
public:
    // `where` names the component in errors.
    Matcher(const Pattern& pattern, const std::string& where);
    Matcher(Matcher&&) noexcept;
    Matcher& operator=(Matcher&&) noexcept;
    ~Matcher();

    // All matches from left to right, none overlapping; `matches` is overwritten.
    void find(std::string_view text, std::vector<ByteRange>& matches) const;

    SplitScanner scanner() const { return scanner_; }  // none where there is no such scanner

private:
    struct Regex;
    Pattern pattern_;
    std::string where_;
    SplitScanner scanner_ = SplitScanner::none;
    std::unique_ptr<Regex> regex_;

    void find_literal(std::string_view text, std::vector<ByteRange>& matches) const;
    void find_regex(std::string_view text, std::vector<ByteRange>& matches) const;
};

}  // namespace fovea::text
