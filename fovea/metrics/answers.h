#pragma once
// Scores of short answers taken from a text: exact match and F1 over words, as the official scripts
// of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018) define them, digit for digit. An answer is
// compared in lower case, without ASCII punctuation, the articles a, an, the, and extra spaces;
// of several wanted answers the one that fits best counts.
// Thread-safety: pure functions and plain values, safe from any thread.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

// How they differ: 2.0 knows questions without an answer (nothing was wanted: only nothing is
// right), and leaves out wanted answers of which the rules leave nothing.
enum class AnswerRules { squad1, squad2 };

std::string normalised_answer(std::string_view text);

struct AnswerMatch {  // 0 … 1
    double exact = 0, f1 = 0;
};
AnswerMatch answer_match(const std::string& predicted, std::span<const std::string> wanted,
                         AnswerRules rules);

struct AnswerScore {  // in percent
    double exact = 0, f1 = 0;
    std::int64_t questions = 0;
    // 2.0: of the questions that have an answer, and of those that have none.
    std::int64_t answered = 0, unanswered = 0;
    double answered_exact = 0, answered_f1 = 0, unanswered_exact = 0;

    // As a task reports it: F1 first, the rest as figures.
    MetricScore score(AnswerRules rules) const;
};

using WantedAnswers = std::vector<std::string>;  // of one question; empty: it has no answer

// predicted[i] is "" where the system says that there is no answer.
AnswerScore answer_score(std::span<const std::string> predicted,
                         std::span<const WantedAnswers> wanted, AnswerRules rules);

// A system that gives its best answer and, apart from it, how much it thinks that there is none:
// the bound beyond which "none" should be said, for the best sum (find_all_best_thresh of the 2.0
// script).
struct AnswerBound {
    double score = 0;  // at the bound, in percent
    double bound = 0;  // "none" is said where it is exceeded
};
struct BestBounds {
    AnswerBound exact, f1;
};
BestBounds best_no_answer_bounds(std::span<const std::string> predicted,
                                 std::span<const double> no_answer,
                                 std::span<const WantedAnswers> wanted);

}  // namespace fovea
