#pragma once
// One question of a file of questions, taken out of its JSON and checked.
#include <optional>
#include <string>

#include "fovea/base/json.h"
#include "fovea/data/questions.h"

namespace fovea {

// What is wrong with a question, and the way out; its place is the caller's to name.
struct BadQuestion {
    std::string what, hint = {};
};

// "question", "answers" and "is_impossible" of `json` (the context is set already), "id" where
// there is one. Nothing: `to` is whole.
std::optional<BadQuestion> take_question(const Json& json, QuestionRecord& to);

}  // namespace fovea
