#pragma once
// Tags of words as parts of a text: spans in characters, and how a person reads them.
// Thread-safety: pure functions and plain values, safe from any thread.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/rule_spans.h"
#include "fovea/tasks/task.h"
#include "fovea/text/encoding.h"

namespace fovea {

struct WordTag {
    std::int64_t start = 0, end = 0;  // characters of the text
    std::string tag;
    float probability = 0;  // of this tag, whatever those of the other words
};

struct TextEntity {
    std::int64_t start = 0, end = 0;  // characters of the text
    std::string label, text;
    double score = 0;      // mean probability of its words' tags
    bool by_rule = false;  // not learned: a date or a number (data/rule_spans.h)
};

struct TaggedText {
    std::vector<WordTag> words;
    // Of a model without B- and I- labels: every word whose tag is not O.
    std::vector<TextEntity> entities;
    std::int64_t windows = 0;  // more than one: the text was longer than the model takes
};

// What the labels of a model are.
struct TagLabels {
    const std::vector<std::string>& names;
    bool chunks = true;  // B-X, I-X and O
};
struct TagsOfWords {
    std::span<const std::int32_t> tags;
    const float* probabilities;  // [words, labels]
};
// `words` are bytes of the text, in order.
TaggedText tagged_text(const std::string& text, std::span<const TextSpan> words,
                       const TagLabels& labels, const TagsOfWords& found);

// Dates and numbers by rule, where no learned entity stands: among the entities, in order, with a
// score of 1.
void add_by_rule(const std::string& text, RuleKinds kinds, TaggedText& to);

Json json_of(const TextEntity& entity);
// {line, start, end, label, text, score}, as cells of a table.
std::vector<std::string> cells_of(const TextEntity& entity, std::size_t line);

// Writes tagged texts for people, a colour for each type.
class TagWriter {
public:
    TagWriter() = default;
    explicit TagWriter(const std::vector<std::string>& labels);
    // The text as it was, its entities in brackets: [Anna Kova|person] lives in [Oslo|place].
    void write_entities(const TaggedText& t, const std::string& text, Answer& to) const;
    void write_words(const TaggedText& t, const std::string& text, Answer& to) const;  // word/TAG …

private:
    void mark(Answer& a, std::size_t from, const std::string& label) const;
    std::map<std::string, int> kinds_;
};

// The characters [start, end) of a text.
class TextCharacters {
public:
    explicit TextCharacters(const std::string& text);
    std::string between(std::int64_t start, std::int64_t end) const;
    std::int64_t count() const { return static_cast<std::int64_t>(bytes_.size()) - 1; }

private:
    const std::string& text_;
    std::vector<std::size_t> bytes_;  // where characters begin
};

}  // namespace fovea
