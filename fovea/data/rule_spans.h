#pragma once
// Dates and numbers, found by rule: 17 May 2024, 2024-05-17, 5/17/24, May 17th, next Friday,
// 1,250.5, 12 %, twenty-one thousand. English words; of figures, what is usual in Europe and
// America. What is only a number is no date, and a year alone (1999) is a number. Thread-safety:
// pure functions, safe from any thread.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fovea {

struct RuleKinds {
    bool dates = true, numbers = true;
};

struct RuleSpan {
    std::size_t first = 0, last = 0;  // words, both inside
    const char* kind = "";            // "date" or "number"

    bool operator==(const RuleSpan& o) const {
        return first == o.first && last == o.last && std::string(kind) == o.kind;
    }
};

// The longest ones, from the left; they do not overlap. Words as word_spans() cuts them.
std::vector<RuleSpan> rule_spans(std::span<const std::string> words, RuleKinds kinds = {});

}  // namespace fovea
