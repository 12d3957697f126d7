#include "fovea/metrics/answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/metrics/signature.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

// Whether one of a, an, the stands at text[at] as a word; its length, else 0.
std::size_t article_at(std::u32string_view text, std::size_t at) {
    if (at > 0 && is_word_character(text[at - 1])) return 0;
    for (const std::u32string_view article : {U"a", U"an", U"the"}) {
        const std::size_t end = at + article.size();
        if (text.substr(at, article.size()) == article &&
            (end == text.size() || !is_word_character(text[end])))
            return article.size();
    }
    return 0;
}

using Words = std::vector<std::string>;

double f1_of(const Words& predicted, const Words& wanted, AnswerRules rules) {
    if (rules == AnswerRules::squad2 && (predicted.empty() || wanted.empty()))
        return predicted.empty() == wanted.empty() ? 1 : 0;
    std::map<std::string, int> left;
    for (const std::string& w : wanted) ++left[w];
    int same = 0;
    for (const std::string& w : predicted)
        if (const auto at = left.find(w); at != left.end() && at->second > 0) --at->second, ++same;
    if (same == 0) return 0;
    const double precision = same / static_cast<double>(predicted.size());
    const double recall = same / static_cast<double>(wanted.size());
    return (2 * precision * recall) / (precision + recall);
}

double percent(double sum, std::int64_t of) {
    return of > 0 ? 100.0 * sum / static_cast<double>(of) : 0;
}

bool has_answer(const WantedAnswers& wanted) { return !wanted.empty(); }

// The sum of scores as the bound passes one question after the other, from the one that is surest
// of its answer: what counts first is that all say "none".
AnswerBound best_bound(std::span<const double> scores, std::span<const std::string> predicted,
                       std::span<const double> no_answer, std::span<const WantedAnswers> wanted) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return no_answer[a] < no_answer[b]; });
    double now = 0;
    for (const WantedAnswers& w : wanted) now += !has_answer(w);
    AnswerBound best{now, 0};
    for (const std::size_t i : order) {
        if (has_answer(wanted[i]))
            now += scores[i];
        else if (!predicted[i].empty())
            now -= 1;
        if (now > best.score) best = {now, no_answer[i]};
    }
    best.score = percent(best.score, static_cast<std::int64_t>(scores.size()));
    return best;
}

}  // namespace

std::string normalised_answer(std::string_view text) {
    std::u32string plain;
    for (const char32_t c : lower(std::u32string_view(decode_utf8(text))))
        if (!is_ascii_punctuation(c)) plain.push_back(c);
    std::u32string kept;
    for (std::size_t at = 0; at < plain.size();) {
        if (const std::size_t n = article_at(plain, at); n > 0) {
            kept.push_back(' ');
            at += n;
        } else {
            kept.push_back(plain[at++]);
        }
    }
    std::string out;
    for (const std::string& word : split_words(encode_utf8(kept)))
        out += (out.empty() ? "" : " ") + word;
    return out;
}

AnswerMatch answer_match(const std::string& predicted, std::span<const std::string> wanted,
                         AnswerRules rules) {
    const std::string said = normalised_answer(predicted);
    const Words words = split_words(said);
    AnswerMatch best;
    const auto compare = [&](const std::string& text) {
        const std::string gold = normalised_answer(text);
        best.exact = std::max(best.exact, said == gold ? 1.0 : 0.0);
        best.f1 = std::max(best.f1, f1_of(words, split_words(gold), rules));
    };
    bool any = false;
    for (const std::string& w : wanted) {
        if (rules == AnswerRules::squad2 && normalised_answer(w).empty()) continue;
        any = true;
        compare(w);
    }
    if (!any && rules == AnswerRules::squad2) compare("");
    return best;
}

AnswerScore answer_score(std::span<const std::string> predicted,
                         std::span<const WantedAnswers> wanted, AnswerRules rules) {
    expect(predicted.size() == wanted.size(), "answers: ", predicted.size(), " predicted but ",
           wanted.size(), " wanted");
    AnswerScore s;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const AnswerMatch m = answer_match(predicted[i], wanted[i], rules);
        s.exact += m.exact;
        s.f1 += m.f1;
        ++s.questions;
        if (has_answer(wanted[i])) {
            ++s.answered;
            s.answered_exact += m.exact;
            s.answered_f1 += m.f1;
        } else {
            ++s.unanswered;
            s.unanswered_exact += m.exact;
        }
    }
    s.exact = percent(s.exact, s.questions);
    s.f1 = percent(s.f1, s.questions);
    s.answered_exact = percent(s.answered_exact, s.answered);
    s.answered_f1 = percent(s.answered_f1, s.answered);
    s.unanswered_exact = percent(s.unanswered_exact, s.unanswered);
    return s;
}

MetricScore AnswerScore::score(AnswerRules rules) const {
    const bool two = rules == AnswerRules::squad2;
    MetricScore out{.name = "f1",
                    .value = f1,
                    .higher_is_better = true,
                    .signature = fmt::format("squad:{}|{}", two ? "2.0" : "1.1", signature_version),
                    .figures = {{"f1", f1}, {"exact", exact}}};
    if (two) {
        out.figures["answered_f1"] = answered_f1;
        out.figures["answered_exact"] = answered_exact;
        out.figures["unanswered_exact"] = unanswered_exact;
    }
    return out;
}

BestBounds best_no_answer_bounds(std::span<const std::string> predicted,
                                 std::span<const double> no_answer,
                                 std::span<const WantedAnswers> wanted) {
    expect(predicted.size() == wanted.size() && no_answer.size() == wanted.size(),
           "answers: ", predicted.size(), " predicted and ", no_answer.size(), " judged but ",
           wanted.size(), " wanted");
    std::vector<double> exact, f1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const AnswerMatch m = answer_match(predicted[i], wanted[i], AnswerRules::squad2);
        exact.push_back(m.exact);
        f1.push_back(m.f1);
    }
    return {best_bound(exact, predicted, no_answer, wanted),
            best_bound(f1, predicted, no_answer, wanted)};
}

}  // namespace fovea
