#include "fovea/data/squad.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr const char* form_hint =
    "a question is {\"id\": \"…\", \"question\": \"…\", \"answers\": [{\"text\": \"…\", "
    "\"answer_start\": 17}]}; --skip-bad N passes over some";

// The byte at which a character begins; npos: the text has fewer.
std::size_t byte_of(const std::string& text, std::int64_t character) {
    if (is_ascii(text))
        return character <= static_cast<std::int64_t>(text.size())
                   ? static_cast<std::size_t>(character)
                   : std::string::npos;
    std::size_t at = 0;
    for (; character > 0 && at < text.size(); --character)
        at += static_cast<std::size_t>(utf8_size(text[at]));
    return character == 0 ? at : std::string::npos;
}

bool is_blank_text(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::string shortened(std::string_view text) {
    const std::string_view first = first_columns(text, 60);
    return std::string(first) + (first.size() < text.size() ? "…" : "");
}

// Where the answer stands instead, as a hint.
std::string nearest_place(const std::string& context, const AnswerText& a) {
    std::int64_t best = -1, start = 0;
    std::size_t counted = 0;
    for (std::size_t at = context.find(a.text); at != std::string::npos && start <= a.start;
         at = context.find(a.text, at + 1)) {
        start += static_cast<std::int64_t>(count_chars({context.data() + counted, at - counted}));
        counted = at;
        if (best < 0 || std::abs(start - a.start) < std::abs(best - a.start)) best = start;
    }
    if (best < 0) return "";
    return text_of("it stands at ", best,
                   " (offsets count characters, not bytes); --skip-bad N passes over some");
}

std::optional<BadQuestion> check_answer(const std::string& context, const AnswerText& a) {
    if (a.text.empty()) return BadQuestion{"an answer is empty", form_hint};
    const std::size_t at = a.start < 0 ? std::string::npos : byte_of(context, a.start);
    if (at != std::string::npos && context.compare(at, a.text.size(), a.text) == 0) return {};
    if (context.find(a.text) == std::string::npos)
        return BadQuestion{"the answer \"" + shortened(a.text) + "\" is not in its context",
                           "an answer is copied from the context, letter by letter; --skip-bad N "
                           "passes over some"};
    return BadQuestion{text_of("the answer \"", shortened(a.text), "\" does not stand at ", a.start,
                               at == std::string::npos ? ", beyond the context" : ""),
                       nearest_place(context, a)};
}

std::optional<BadQuestion> take_answer(const Json& text, const Json& start, AnswerText& to) {
    if (!text.is_string()) return BadQuestion{"an answer's \"text\" is no text", form_hint};
    if (!start.is_number_integer())
        return BadQuestion{"an answer's \"answer_start\" is no whole number", form_hint};
    to.text = text.get<std::string>();
    // beyond any context, whatever the number was
    to.start = start.is_number_unsigned() && start.get<std::uint64_t>() > INT32_MAX
                   ? std::int64_t{INT32_MAX}
                   : start.get<std::int64_t>();
    return {};
}

// [{"text", "answer_start"}, …], or {"text": […], "answer_start": […]}.
std::optional<BadQuestion> take_answers(const Json& answers, std::vector<AnswerText>& to) {
    if (answers.is_array()) {
        for (const Json& a : answers) {
            if (!a.is_object() || !a.contains("text") || !a.contains("answer_start"))
                return BadQuestion{"an answer has no \"text\" or no \"answer_start\"", form_hint};
            if (auto bad = take_answer(a["text"], a["answer_start"], to.emplace_back())) return bad;
        }
        return {};
    }
    if (!answers.is_object() || !answers.contains("text") || !answers.contains("answer_start") ||
        !answers["text"].is_array() || !answers["answer_start"].is_array() ||
        answers["text"].size() != answers["answer_start"].size())
        return BadQuestion{"\"answers\" is no list of texts with their \"answer_start\"",
                           form_hint};
    for (std::size_t i = 0; i < answers["text"].size(); ++i)
        if (auto bad =
                take_answer(answers["text"][i], answers["answer_start"][i], to.emplace_back()))
            return bad;
    return {};
}

}  // namespace

std::optional<BadQuestion> take_question(const Json& json, QuestionRecord& to) {
    if (!json.is_object()) return BadQuestion{"is no object", form_hint};
    if (json.contains("id")) {
        if (!json["id"].is_string()) return BadQuestion{"\"id\" is no text", form_hint};
        to.id = json["id"].get<std::string>();
    }
    if (!json.contains("question") || !json["question"].is_string())
        return BadQuestion{"has no text \"question\"", form_hint};
    to.question = json["question"].get<std::string>();
    if (is_blank_text(to.question)) return BadQuestion{"the question is empty", form_hint};
    bool impossible = false;
    if (json.contains("is_impossible")) {
        if (!json["is_impossible"].is_boolean())
            return BadQuestion{"\"is_impossible\" is neither true nor false", form_hint};
        impossible = json["is_impossible"].get<bool>();
    }
    if (!json.contains("answers")) return BadQuestion{"has no \"answers\"", form_hint};
    if (auto bad = take_answers(json["answers"], to.answers)) return bad;
    if (impossible && !to.answers.empty())
        return BadQuestion{"\"is_impossible\" is true, but there is an answer", form_hint};
    if (!impossible && to.answers.empty() && json.contains("is_impossible"))
        return BadQuestion{"\"is_impossible\" is false, but there is no answer", form_hint};
    if (!json.contains("is_impossible") && to.answers.empty())
        return BadQuestion{"there is no answer",
                           "a question without an answer says \"is_impossible\": true (SQuAD "
                           "2.0); --skip-bad N passes over some"};
    for (const AnswerText& a : to.answers)
        if (auto bad = check_answer(*to.context, a)) return bad;
    return {};
}

}  // namespace fovea
