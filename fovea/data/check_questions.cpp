#include "fovea/data/check_questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "fovea/base/json.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

using SeenContexts = std::unordered_set<Key128, Key128::Hash>;

struct SeenQuestions {
    SeenContexts questions, contexts;
};

std::string question_key(const QuestionRecord& r) { return r.question + '\x1f' + *r.context; }

void count_answers(const QuestionRecord& r, QuestionFileCheck& f) {
    f.answers += static_cast<std::int64_t>(r.answers.size());
    if (r.answers.empty()) return;
    const std::string& text = r.answers[0].text;
    f.answer_lengths.add(text, f.questions);
    const std::size_t first = r.context->find(text);
    f.ambiguous +=
        first != std::string::npos && r.context->find(text, first + 1) != std::string::npos;
}

void look_at(const QuestionRecord& r, QuestionFileCheck& f, QuestionLeakCheck& leak,
             const SeenQuestions& training, SeenQuestions& own) {
    ++f.questions;
    f.question_lengths.add(r.question, f.questions);
    count_answers(r, f);
    f.repeated += !own.questions.insert(key_of(question_key(r))).second;
    leak.questions += training.questions.count(key_of(question_key(r))) > 0;
    if (!own.contexts.insert(key_of(*r.context)).second) return;
    ++f.contexts;
    f.context_lengths.add(*r.context, f.contexts);
    leak.contexts += training.contexts.count(key_of(*r.context)) > 0;
}

std::string file_text(const QuestionFileCheck& f) {
    std::string out = f.name + ":";
    for (const std::string& path : f.paths) out += " " + path;
    out += fmt::format("\n  {} questions about {} contexts, {} answers, {} questions have none{}\n",
                       grouped(f.questions), grouped(f.contexts), grouped(f.answers),
                       grouped(f.unanswered), f.on_disk.text());
    if (f.bad_questions > 0) {
        out += fmt::format("  BAD QUESTIONS: {}\n", grouped(f.bad_questions));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += f.question_lengths.text("question", f.questions);
    out += f.context_lengths.text("context", f.contexts);
    out += f.answer_lengths.text("answer", f.questions - f.unanswered);
    if (f.repeated > 0)
        out += fmt::format("  questions that repeat an earlier one: {}\n", grouped(f.repeated));
    if (f.ambiguous > 0)
        out += fmt::format("  answers that stand in their context more than once: {}\n",
                           grouped(f.ambiguous));
    return out;
}

Json file_json(const QuestionFileCheck& f) {
    return {{"name", f.name},
            {"paths", f.paths},
            {"bytes", f.on_disk.bytes < 0 ? Json(nullptr) : Json(f.on_disk.bytes)},
            {"fingerprint", f.on_disk.fingerprint},
            {"questions", f.questions},
            {"contexts", f.contexts},
            {"answers", f.answers},
            {"unanswered", f.unanswered},
            {"bad_questions", f.bad_questions},
            {"bad_messages", f.bad_messages},
            {"question", f.question_lengths.json(f.questions)},
            {"context", f.context_lengths.json(f.contexts)},
            {"answer", f.answer_lengths.json(f.questions - f.unanswered)},
            {"repeated", f.repeated},
            {"ambiguous", f.ambiguous}};
}

}  // namespace

QuestionCheck check_questions(std::span<const NamedQuestions> sets) {
    QuestionCheck check;
    SeenQuestions training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        QuestionFiles files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = lines_to_show;
        QuestionFileCheck f;
        f.name = sets[s].name;
        f.paths = files.paths;
        f.on_disk = files_on_disk(files.paths);
        QuestionData data = read_questions(files);
        f.unanswered = data.unanswered;
        QuestionLeakCheck leak{.training = sets[0].name, .held_out = f.name};
        SeenQuestions own;
        for (const QuestionRecord& r : data.questions) look_at(r, f, leak, training, own);
        f.bad_questions = data.problems.skipped;
        f.bad_messages = std::move(data.problems.first);
        if (s == 0)
            training = std::move(own);
        else
            check.leaks.push_back(std::move(leak));
        check.files.push_back(std::move(f));
    }
    return check;
}

bool QuestionCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const QuestionFileCheck& f) { return f.bad_questions == 0; }) &&
           std::all_of(leaks.begin(), leaks.end(),
                       [](const QuestionLeakCheck& l) { return l.contexts == 0; });
}

std::string QuestionCheck::text() const {
    std::string out;
    for (const QuestionFileCheck& f : files) out += file_text(f);
    for (const QuestionLeakCheck& l : leaks)
        out += fmt::format("{} in {}: {} contexts, {} questions\n", l.held_out, l.training,
                           grouped(l.contexts), grouped(l.questions));
    return out + (clean() ? "clean: no bad questions, no shared contexts\n"
                          : "NOT CLEAN: see bad questions or shared contexts above\n");
}

std::string QuestionCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const QuestionFileCheck& f : files) j["files"].push_back(file_json(f));
    for (const QuestionLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"contexts", l.contexts},
                              {"questions", l.questions}});
    return to_text(j);
}

}  // namespace fovea
