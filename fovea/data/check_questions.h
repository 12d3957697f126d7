#pragma once
// What is in files of questions and answers, before hours are spent on them: counts, lengths, bad
// questions, questions that repeat, and what the held-out sets share with the first one.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/questions.h"
#include "fovea/data/text_stats.h"

namespace fovea {

struct QuestionFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    FilesOnDisk on_disk;
    std::int64_t questions = 0, contexts = 0, answers = 0, unanswered = 0;
    std::int64_t bad_questions = 0;
    std::vector<std::string> bad_messages;  // the first of them, with file and place
    LengthReport question_lengths, context_lengths, answer_lengths;
    std::int64_t repeated = 0;   // the same question about the same context, again
    std::int64_t ambiguous = 0;  // first answers that stand in their context more than once
};

struct QuestionLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t questions = 0;  // about contexts of training, word for word
    std::int64_t contexts = 0;   // that are in training
};

struct QuestionCheck {
    std::vector<QuestionFileCheck> files;
    std::vector<QuestionLeakCheck> leaks;
    bool clean() const;  // no bad question, no shared context
    std::string text() const;
    std::string json() const;
};

struct NamedQuestions {
    std::string name;
    QuestionFiles files;
};

QuestionCheck check_questions(std::span<const NamedQuestions> sets);

}  // namespace fovea
