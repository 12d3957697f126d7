#include "fovea/tasks/answer.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/data/batch_plan.h"
#include "fovea/metrics/answers.h"
#include "fovea/tasks/answer_texts.h"

namespace fovea {
namespace {

constexpr std::size_t kept_spans = 20;  // that probabilities are shared among, as is usual

struct ScoredSpan {
    double score = 0;
    std::int64_t first = 0, last = 0;  // tokens of the context

    bool before(const ScoredSpan& o) const {  // the higher score, else the earlier and shorter
        if (score != o.score) return score > o.score;
        return first != o.first ? first < o.first : last < o.last;
    }
};

// What the windows of one question have shown so far.
struct Findings {
    std::vector<ScoredSpan> best;  // in order
    double none = 0, loss = 0;     // none: the least of the windows
    std::int64_t windows = 0;

    void add(const ScoredSpan& s, std::size_t most) {
        if (best.size() == most && !s.before(best.back())) return;
        const auto at = std::find_if(best.begin(), best.end(),
                                     [&](const ScoredSpan& o) { return s.before(o); });
        best.insert(at, s);
        if (best.size() > most) best.pop_back();
    }
};

void find_spans(const ReadingWindow& w, const float* scores, const AnswerOptions& o, Findings& to) {
    const std::size_t most = std::max(kept_spans, static_cast<std::size_t>(o.n_best));
    const auto row = [&](std::int64_t token) { return scores + 2 * (w.first + token - w.from); };
    for (std::int64_t i = w.judged_from; i < w.judged_to; ++i)
        for (std::int64_t j = i; j < std::min(i + o.longest, w.from + w.count); ++j)
            to.add({double{row(i)[0]} + double{row(j)[1]}, i, j}, most);
    const double none = double{scores[2 * w.none]} + double{scores[2 * w.none + 1]};
    to.none = to.windows == 0 ? none : std::min(to.none, none);
    ++to.windows;
}

// −log softmax of the wanted rows, mean of beginning and end.
double window_loss(const float* scores, std::int64_t rows, std::int32_t start, std::int32_t end) {
    double loss = 0;
    for (const int column : {0, 1}) {
        double most = scores[column], sum = 0;
        for (std::int64_t i = 0; i < rows; ++i)
            most = std::max<double>(most, scores[2 * i + column]);
        for (std::int64_t i = 0; i < rows; ++i) sum += std::exp(scores[2 * i + column] - most);
        loss += most + std::log(sum) - scores[2 * (column == 0 ? start : end) + column];
    }
    return loss / 2;
}

// Batch by batch: take(window, its scores [rows, 2], how many rows).
template <class Take>
void judge_windows(const AnswerModel& model, const AnswerTexts& texts, std::int64_t batch_tokens,
                   const PredictControl& control, Take&& take) {
    const PrecisionScope scope(model.precision);
    std::vector<std::int64_t> lengths;
    for (const ReadingWindow& w : texts.windows()) lengths.push_back(w.tokens);
    const BatchPlan plan(lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        const SpanScores s = model.network->scores(texts.pack(plan[b]));
        for (std::size_t k = 0; k < plan[b].size(); ++k) {
            const auto i = static_cast<std::int64_t>(k);
            take(texts.windows()[static_cast<std::size_t>(plan[b][k])],
                 s.scores.data() + 2 * s.segments.begin(i), s.segments.length(i));
        }
        done += static_cast<std::int64_t>(plan[b].size());
        if (control.progress)
            control.progress(done * static_cast<std::int64_t>(texts.questions()) /
                                 static_cast<std::int64_t>(lengths.size()),
                             static_cast<std::int64_t>(texts.questions()));
    }
}

TextAnswer text_answer(const std::string& context, const ReadText& tokens, const ScoredSpan& s) {
    auto begin = static_cast<std::size_t>(tokens.offsets[static_cast<std::size_t>(s.first)].begin);
    auto end = static_cast<std::size_t>(tokens.offsets[static_cast<std::size_t>(s.last)].end);
    const auto is_space = [&](std::size_t at) {
        return std::string_view(" \t\r\n").find(context[at]) != std::string_view::npos;
    };
    while (begin < end && is_space(begin)) ++begin;  // a token may bring the space before it
    while (end > begin && is_space(end - 1)) --end;
    TextAnswer a;
    a.text = context.substr(begin, end - begin);
    a.start = static_cast<std::int64_t>(count_chars({context.data(), begin}));
    a.end = a.start + static_cast<std::int64_t>(count_chars(a.text));
    a.score = s.score;
    return a;
}

AnsweredQuestion answered(const AnswerModel& model, const Findings& f, const AnswerTexts& texts,
                          std::size_t question, const AnswerOptions& o) {
    AnsweredQuestion a;
    a.windows = f.windows;
    a.cut = texts.was_cut(question);
    if (f.windows == 0) {
        a.none = true;  // there is nothing to take an answer from
        return a;
    }
    a.loss = f.loss / static_cast<double>(f.windows);
    const double top = f.best.empty() ? f.none : f.best[0].score;
    const double most = model.may_be_none ? std::max(top, f.none) : top;
    double sum = model.may_be_none ? std::exp(f.none - most) : 0;
    for (const ScoredSpan& s : f.best) sum += std::exp(s.score - most);
    for (const ScoredSpan& s : f.best) {
        if (a.best.size() == static_cast<std::size_t>(o.n_best)) break;
        a.best.push_back(text_answer(texts.context(question), texts.context_tokens(question), s));
        a.best.back().probability = std::exp(s.score - most) / sum;
    }
    a.none_score = f.none - top;
    if (model.may_be_none) {
        a.none_probability = std::exp(f.none - most) / sum;
        a.none = a.none_score > o.none_bound.value_or(model.none_bound);
    }
    return a;
}

std::vector<AnsweredQuestion> answer_all(const AnswerModel& model, const AnswerTexts& texts,
                                         std::span<const QuestionRecord> wanted,
                                         const AnswerOptions& o, const PredictControl& control) {
    std::vector<Findings> found(texts.questions());
    judge_windows(model, texts, o.batch_tokens, control,
                  [&](const ReadingWindow& w, const float* scores, std::int64_t rows) {
                      Findings& f = found[w.question];
                      find_spans(w, scores, o, f);
                      if (wanted.empty()) return;
                      const auto& answers = wanted[w.question].answers;
                      const auto [start, end] =
                          texts.rows_of(w, answers.empty() ? nullptr : &answers[0]);
                      f.loss += window_loss(scores, rows, start, end);
                  });
    std::vector<AnsweredQuestion> out;
    for (std::size_t i = 0; i < found.size(); ++i)
        out.push_back(answered(model, found[i], texts, i, o));
    return out;
}

}  // namespace

std::vector<AnsweredQuestion> answer(const AnswerModel& model,
                                     std::span<const AskedQuestion> questions,
                                     const AnswerOptions& options, const PredictControl& control) {
    expect(options.n_best > 0 && options.longest > 0, "answer: n_best is ", options.n_best,
           " and longest is ", options.longest, ", but both must be positive");
    AnswerTexts texts(model);
    for (const AskedQuestion& q : questions)
        texts.add(repair_utf8(q.question),
                  std::make_shared<const std::string>(repair_utf8(q.context)));
    return answer_all(model, texts, {}, options, control);
}

MetricScore score_answers(const AnswerModel& model, std::span<const QuestionRecord> records,
                          const AnswerOptions& options, std::vector<AnsweredQuestion>* found,
                          const PredictControl& control) {
    AnswerTexts texts(model);
    std::vector<WantedAnswers> wanted;
    bool unanswered = false;
    for (const QuestionRecord& r : records) {
        texts.add(r.question, r.context);
        WantedAnswers& w = wanted.emplace_back();
        for (const AnswerText& a : r.answers) w.push_back(a.text);
        unanswered = unanswered || w.empty();
    }
    std::vector<AnsweredQuestion> answers = answer_all(model, texts, records, options, control);
    std::vector<std::string> said, surest;
    std::vector<double> none;
    double loss = 0;
    for (const AnsweredQuestion& a : answers) {
        said.push_back(a.text());
        surest.push_back(a.best.empty() ? "" : a.best[0].text);
        none.push_back(a.none_score);
        loss += a.loss;
    }
    const AnswerRules rules = unanswered ? AnswerRules::squad2 : AnswerRules::squad1;
    MetricScore s = answer_score(said, wanted, rules).score(rules);
    s.figures["loss"] = loss / static_cast<double>(std::max<std::size_t>(1, answers.size()));
    if (unanswered && model.may_be_none) {
        const BestBounds best = best_no_answer_bounds(surest, none, wanted);
        s.figures["best_f1"] = best.f1.score;
        s.figures["best_f1_bound"] = best.f1.bound;
        s.figures["best_exact"] = best.exact.score;
        s.figures["best_exact_bound"] = best.exact.bound;
    }
    if (found) *found = std::move(answers);
    return s;
}

}  // namespace fovea
