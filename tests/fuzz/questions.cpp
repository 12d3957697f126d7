#include <unistd.h>

#include <cstdio>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/check_questions.h"
#include "fovea/metrics/answers.h"
#include "fuzz_targets.h"

namespace fovea {
namespace {

struct QuestionFile {
    explicit QuestionFile(std::string_view bytes)
        : path(std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
               "/fovea-fuzz-questions-" + std::to_string(::getpid()) + ".json") {
        if (FILE* f = std::fopen(path.c_str(), "wb")) {
            std::fwrite(bytes.data(), 1, bytes.size(), f);
            std::fclose(f);
        }
    }
    ~QuestionFile() { ::unlink(path.c_str()); }
    std::string path;
};

void check_record(const QuestionRecord& r) {
    property(is_utf8(r.question) && is_utf8(*r.context), "texts are UTF-8");
    property(!r.question.empty() && !r.place.empty(), "a question has its place");
    WantedAnswers wanted;
    for (const AnswerText& a : r.answers) {
        const std::u32string context = decode_utf8(*r.context), text = decode_utf8(a.text);
        property(!text.empty() && a.start >= 0 &&
                     context.compare(static_cast<std::size_t>(a.start), text.size(), text) == 0,
                 "an answer stands where it says");
        wanted.push_back(a.text);
    }
    for (const AnswerRules rules : {AnswerRules::squad1, AnswerRules::squad2}) {
        const AnswerMatch m = answer_match(r.question, wanted, rules);
        property(m.f1 >= m.exact * (normalised_answer(r.question).empty() ? 0 : 1) && m.f1 <= 1,
                 "F1 is at least the exact match");
    }
}

}  // namespace

void fuzz_questions(FuzzBytes data) {
    if (data.empty()) return;
    const QuestionFile file(text_of_bytes(data).substr(1));
    const std::int64_t skip = data[0] % 4;
    try {
        const QuestionData d = read_questions({.paths = {file.path}, .skip_bad = skip});
        property(d.problems.skipped <= skip, "no more are passed over than was allowed");
        for (const QuestionRecord& r : d.questions) check_record(r);
        const NamedQuestions sets[] = {{"train", {.paths = {file.path}}},
                                       {"dev", {.paths = {file.path}}}};
        const QuestionCheck check = check_questions(sets);
        property(check.files[0].contexts == check.leaks[0].contexts, "a file leaks into itself");
        property(!check.text().empty() && !check.json().empty(), "a report is made");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(file.path, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
