#include "fovea/data/slot_texts.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_source.h"
#include "fovea/data/word_spans.h"

namespace fovea {
namespace {

struct Problem {
    std::string what, hint;
};

std::vector<std::string> words_of_line(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

std::string without_space(const std::string& line) {
    const std::vector<std::string> words = words_of_line(line);
    return sentence_text(words);
}

// What is wrong with a text that was read; tags become BIO2 on the way.
Problem settle(SlotText& t) {
    if (t.words.empty()) return {"there are no words", ""};
    if (t.words.size() != t.tags.size())
        return {text_of(t.words.size(), " words but ", t.tags.size(), " tags"),
                "seq.in and seq.out hold the words and the tags of a text in the same line"};
    if (t.intent.empty()) return {"the intent is empty", ""};
    for (const std::string& word : t.words)
        if (!is_utf8(word)) return {"the words are not valid UTF-8", ""};
    if (!is_utf8(t.intent)) return {"the intent is not valid UTF-8", ""};
    if (const auto bad = turn_into_bio(TagScheme::bio, t.tags))
        return {text_of("word ", bad->word + 1, ": ", bad->problem),
                "slots are B-NAME for their first word, I-NAME for the others, O between"};
    return {};
}

// The three files of a folder, line by line.
class ParallelLines {
public:
    explicit ParallelLines(const std::string& folder)
        : words_(join_path(folder, "seq.in")),
          tags_(join_path(folder, "seq.out")),
          intents_(join_path(folder, "label")) {}

    bool next(SlotText& to) {
        std::string words, tags, intent;
        const bool has_words = words_.next(words), has_tags = tags_.next(tags),
                   has_intent = intents_.next(intent);
        if (!has_words && !has_tags && !has_intent) return false;
        if (!has_words || !has_tags || !has_intent) fail_of_lengths(has_words, has_tags);
        to = {};
        to.words = words_of_line(words);
        to.tags = words_of_line(tags);
        to.intent = without_space(intent);
        to.path = words_.path();
        to.line = words_.line_number();
        return true;
    }

private:
    [[noreturn]] void fail_of_lengths(bool has_words, bool has_tags) {
        const LineSource& shorter = !has_words ? words_ : !has_tags ? tags_ : intents_;
        const LineSource& longer = has_words ? words_ : has_tags ? tags_ : intents_;
        fail_with(ErrorKind::bad_input, "line i of seq.in, seq.out and label belong together",
                  shorter.path(), ": ends after line ", shorter.line_number(), ", but ",
                  longer.path(), " has more");
    }

    LineSource words_, tags_, intents_;
};

const Json* field_of(const Json& object, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (const auto at = object.find(name); at != object.end()) return &*at;
    return nullptr;
}

std::vector<std::string> list_of_texts(const Json* list, const char* what, Problem& problem) {
    std::vector<std::string> all;
    if (!list || !list->is_array()) {
        problem = {text_of("no list under \"", what, "\""),
                   "tokens and tags, or text and slots: see docs/tasks.md"};
        return all;
    }
    for (const Json& item : *list) {
        if (!item.is_string()) {
            problem = {
                text_of("the list \"", what, "\" holds ", to_text(item), ", which is no text"), ""};
            return all;
        }
        all.push_back(item.get<std::string>());
    }
    return all;
}

// Where characters begin, in bytes.
std::vector<std::int32_t> character_bytes(const std::string& text) {
    std::vector<std::int32_t> bytes;
    for (std::size_t at = 0; at < text.size(); at += static_cast<std::size_t>(utf8_size(text[at])))
        bytes.push_back(static_cast<std::int32_t>(at));
    bytes.push_back(static_cast<std::int32_t>(text.size()));
    return bytes;
}

// Tags the words that one slot covers.
Problem take_span(const Json& slot, const std::vector<std::int32_t>& bytes,
                  const std::vector<TextSpan>& spans, SlotText& to) {
    const Json* label = slot.is_object() ? field_of(slot, {"label", "slot", "name"}) : nullptr;
    const Json* start = slot.is_object() ? field_of(slot, {"start"}) : nullptr;
    const Json* end = slot.is_object() ? field_of(slot, {"end"}) : nullptr;
    if (!label || !label->is_string() || !start || !start->is_number_integer() || !end ||
        !end->is_number_integer())
        return {text_of("the slot ", to_text(slot), " is not {\"start\", \"end\", \"label\"}"), ""};
    const auto from = start->get<std::int64_t>(), until = end->get<std::int64_t>(),
               all = static_cast<std::int64_t>(bytes.size()) - 1;
    if (from < 0 || until <= from || until > all)
        return {text_of("the slot [", from, ", ", until, ") does not lie in the text, which has ",
                        all, " characters"),
                "offsets count characters, and the end is the first one behind the slot"};
    const std::int32_t first = bytes[static_cast<std::size_t>(from)],
                       last = bytes[static_cast<std::size_t>(until)];
    bool inside = false;
    for (std::size_t w = 0; w < spans.size(); ++w) {
        if (spans[w].end <= first || spans[w].begin >= last) continue;
        if (spans[w].begin < first || spans[w].end > last)
            return {
                text_of("the slot [", from, ", ", until, ") cuts the word \"", to.words[w], "\""),
                "slots begin and end where words do"};
        if (to.tags[w] != "O")
            return {text_of("two slots cover the word \"", to.words[w], "\""), ""};
        to.tags[w] = (inside ? "I-" : "B-") + label->get<std::string>();
        inside = true;
    }
    if (!inside) return {text_of("the slot [", from, ", ", until, ") holds no word"), ""};
    return {};
}

Problem take_text_with_spans(const Json& text, const Json* slots, SlotText& to) {
    if (!text.is_string()) return {"\"text\" is no text", ""};
    const std::string whole = repair_utf8(text.get<std::string>());
    const std::vector<TextSpan> spans = word_spans(whole);
    for (const TextSpan& s : spans)
        to.words.push_back(whole.substr(static_cast<std::size_t>(s.begin),
                                        static_cast<std::size_t>(s.end - s.begin)));
    to.tags.assign(to.words.size(), "O");
    if (!slots) return {};
    if (!slots->is_array()) return {"\"slots\" is no list", ""};
    const std::vector<std::int32_t> bytes = character_bytes(whole);
    for (const Json& slot : *slots)
        if (Problem p = take_span(slot, bytes, spans, to); !p.what.empty()) return p;
    return {};
}

Problem take_object(const Json& object, SlotText& to) {
    if (!object.is_object()) return {"is no JSON object", ""};
    const Json* intent = field_of(object, {"intent", "label"});
    if (!intent) return {"there is no \"intent\"", ""};
    if (!intent->is_string()) return {"the intent is no text", ""};
    to.intent = intent->get<std::string>();
    Problem problem;
    const Json* words = field_of(object, {"tokens", "words"});
    const Json* text = field_of(object, {"text"});
    if (!words && text)
        return take_text_with_spans(*text, field_of(object, {"slots", "entities"}), to);
    to.words = list_of_texts(words, "tokens", problem);
    if (problem.what.empty())
        to.tags = list_of_texts(field_of(object, {"tags", "slots"}), "tags", problem);
    return problem;
}

void read_lines(const std::string& path, const SlotFiles& files, BadLines& bad,
                std::vector<SlotText>& to) {
    LineSource lines(path);
    for (std::string line; lines.next(line);) {
        if (files.limit > 0 && static_cast<std::int64_t>(to.size()) >= files.limit) return;
        if (words_of_line(line).empty()) continue;
        SlotText t;
        t.path = path;
        t.line = lines.line_number();
        Problem problem;
        try {
            problem = take_object(parse_json(line, path), t);
        } catch (const Error&) {
            problem = {"is no JSON object", "a line for each text: see docs/tasks.md"};
        }
        if (problem.what.empty()) problem = settle(t);
        if (problem.what.empty())
            to.push_back(std::move(t));
        else
            bad.add(path, t.line, problem.what, problem.hint);
    }
}

void read_folder(const std::string& path, const SlotFiles& files, BadLines& bad,
                 std::vector<SlotText>& to) {
    for (const char* name : {"seq.in", "seq.out", "label"})
        if (!file_exists(join_path(path, name)))
            fail_with(ErrorKind::not_found,
                      "a folder of slots holds seq.in (words), seq.out (tags) and label (intents)",
                      join_path(path, name), ": there is no such file");
    ParallelLines lines(path);
    for (SlotText t; lines.next(t);) {
        if (files.limit > 0 && static_cast<std::int64_t>(to.size()) >= files.limit) return;
        const std::int64_t line = t.line;
        if (const Problem p = settle(t); p.what.empty())
            to.push_back(std::move(t));
        else
            bad.add(t.path, line, p.what, p.hint);
    }
}

}  // namespace

bool is_slot_folder(const std::string& path) {
    return is_folder(path) && file_exists(join_path(path, "seq.in"));
}

std::vector<SlotText> read_slot_texts(const SlotFiles& files, Problems* problems) {
    BadLines bad(files.skip_bad, files.keep_messages);
    std::vector<SlotText> all;
    for (const std::string& path : files.paths) {
        if (is_folder(path))
            read_folder(path, files, bad, all);
        else
            read_lines(path, files, bad, all);
    }
    if (all.empty())
        fail_with(
            ErrorKind::bad_input,
            "a folder with seq.in, seq.out and label, or JSON lines with tokens, tags, intent",
            files.paths.empty() ? "the data" : files.paths[0], ": holds no text with slots");
    if (problems) *problems = std::move(bad.problems);
    return all;
}

}  // namespace fovea
