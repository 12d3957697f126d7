#pragma once
// Questions with the text that answers them, from SQuAD's JSON (1.1 and 2.0; may be gzipped):
//
//   {"data": [{"paragraphs": [{"context": "…", "qas": [
//       {"id": "…", "question": "…", "answers": [{"text": "…", "answer_start": 17}]}]}]}]}
//
// and JSON lines of {"question", "context", "answers"} with answers as there or as datasets has
// them ({"text": […], "answer_start": […]}). Every answer must stand in its context where it says:
// offsets count characters (code points). Errors name the file and the place in it.
// Thread-safety: a call keeps nothing; different files may be read at once.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct AnswerText {
    std::string text;
    std::int64_t start = 0;  // characters of the context
};

struct QuestionRecord {
    std::string id, question;
    std::shared_ptr<const std::string> context;  // shared by the questions of a paragraph
    std::vector<AnswerText> answers;             // none: the context does not say (SQuAD 2.0)
    std::string path, place;                     // "data[3].paragraphs[0].qas[2]", or "line 7"
};

struct QuestionFiles {
    std::vector<std::string> paths;
    std::int64_t skip_bad = 0;  // so many bad questions are passed over
    std::int64_t limit = 0;     // only the first so many questions; 0: all
    int keep_messages = 5;
};

struct QuestionData {
    std::vector<QuestionRecord> questions;
    std::int64_t contexts = 0;    // different paragraphs
    std::int64_t unanswered = 0;  // questions without an answer
    Problems problems;
};

// Throws bad_input at the first bad question beyond skip_bad: a missing field or one of the wrong
// kind, an answer that is not in its context or not where it says, an id that stands twice.
QuestionData read_questions(const QuestionFiles& files);

}  // namespace fovea
