#include "fovea/tasks/tag_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "fovea/base/utf8.h"
#include "fovea/data/word_spans.h"
#include "fovea/metrics/entities.h"

namespace fovea {
namespace {

// Character numbers of rising byte offsets.
class CharacterOffsets {
public:
    explicit CharacterOffsets(std::string_view text) : text_(text) {}
    std::int64_t operator()(std::int32_t byte) {
        const auto to = static_cast<std::size_t>(byte);
        chars_ += static_cast<std::int64_t>(count_chars(text_.substr(at_, to - at_)));
        at_ = to;
        return chars_;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::int64_t chars_ = 0;
};

std::vector<TextEntity> entities_in(const std::string& text, std::span<const TextSpan> spans,
                                    const std::vector<WordTag>& words, bool chunks) {
    std::vector<TagEntity> found;
    if (chunks) {
        TagSequence tags;
        for (const WordTag& w : words) tags.push_back(w.tag);
        found = entities_of(tags);
    } else {
        for (std::size_t i = 0; i < words.size(); ++i)
            if (const auto at = static_cast<std::int64_t>(i); words[i].tag != "O")
                found.push_back({words[i].tag, at, at});
    }
    std::vector<TextEntity> entities;
    for (const TagEntity& e : found) {
        const auto first = static_cast<std::size_t>(e.first),
                   last = static_cast<std::size_t>(e.last);
        double sum = 0;
        for (std::size_t i = first; i <= last; ++i) sum += words[i].probability;
        const auto begin = static_cast<std::size_t>(spans[first].begin);
        entities.push_back({words[first].start, words[last].end, e.type,
                            text.substr(begin, static_cast<std::size_t>(spans[last].end) - begin),
                            sum / static_cast<double>(last - first + 1)});
    }
    return entities;
}

std::string type_of(const std::string& label) { return label.substr(label.find('-') == 1 ? 2 : 0); }

}  // namespace

TaggedText tagged_text(const std::string& text, std::span<const TextSpan> words,
                       const TagLabels& labels, const TagsOfWords& found) {
    TaggedText out;
    CharacterOffsets characters(text);
    const auto columns = static_cast<std::int64_t>(labels.names.size());
    for (std::size_t w = 0; w < found.tags.size(); ++w) {
        WordTag word;
        word.start = characters(words[w].begin);
        word.end = characters(words[w].end);
        word.tag = labels.names[static_cast<std::size_t>(found.tags[w])];
        word.probability =
            found.probabilities[static_cast<std::int64_t>(w) * columns + found.tags[w]];
        out.words.push_back(std::move(word));
    }
    out.entities = entities_in(text, words, out.words, labels.chunks);
    return out;
}

void add_by_rule(const std::string& text, RuleKinds kinds, TaggedText& to) {
    const std::vector<TextSpan> spans = word_spans(text);
    std::vector<std::string> words;
    for (const TextSpan& s : spans)
        words.push_back(text.substr(static_cast<std::size_t>(s.begin),
                                    static_cast<std::size_t>(s.end - s.begin)));
    CharacterOffsets characters(text);
    for (const RuleSpan& r : rule_spans(words, kinds)) {
        TextEntity e;
        e.start = characters(spans[r.first].begin);
        e.end = characters(spans[r.last].end);
        e.label = r.kind;
        const auto begin = static_cast<std::size_t>(spans[r.first].begin);
        e.text = text.substr(begin, static_cast<std::size_t>(spans[r.last].end) - begin);
        e.score = 1;
        e.by_rule = true;
        const auto meets = [&](const TextEntity& o) { return o.start < e.end && e.start < o.end; };
        if (std::none_of(to.entities.begin(), to.entities.end(), meets))
            to.entities.push_back(std::move(e));
    }
    std::stable_sort(to.entities.begin(), to.entities.end(),
                     [](const TextEntity& a, const TextEntity& b) { return a.start < b.start; });
}

Json json_of(const TextEntity& e) {
    Json j{{"start", e.start},
           {"end", e.end},
           {"label", e.label},
           {"text", e.text},
           {"score", e.score}};
    if (e.by_rule) j["by_rule"] = true;
    return j;
}

std::vector<std::string> cells_of(const TextEntity& e, std::size_t line) {
    return {std::to_string(line),
            std::to_string(e.start),
            std::to_string(e.end),
            e.label,
            e.text,
            fmt::format("{:.4f}", e.score)};
}

TextCharacters::TextCharacters(const std::string& text) : text_(text) {
    for (std::size_t at = 0; at < text.size(); at += static_cast<std::size_t>(utf8_size(text[at])))
        bytes_.push_back(at);
    bytes_.push_back(text.size());
}

std::string TextCharacters::between(std::int64_t start, std::int64_t end) const {
    const std::size_t from = bytes_[static_cast<std::size_t>(start)];
    return text_.substr(from, bytes_[static_cast<std::size_t>(end)] - from);
}

TagWriter::TagWriter(const std::vector<std::string>& labels) {
    std::set<std::string> types;
    for (const std::string& label : labels) types.insert(type_of(label));
    types.insert({"date", "number"});
    for (const std::string& type : types) kinds_[type] = static_cast<int>(kinds_.size());
}

void TagWriter::mark(Answer& a, std::size_t from, const std::string& label) const {
    const auto kind = kinds_.find(type_of(label));
    a.marks.push_back({from, a.text.size(), kind == kinds_.end() ? 0 : kind->second});
}

void TagWriter::write_words(const TaggedText& t, const std::string& text, Answer& a) const {
    const TextCharacters characters(text);
    for (const WordTag& w : t.words) {
        if (!a.text.empty()) a.text += " ";
        const std::size_t from = a.text.size();
        a.text += characters.between(w.start, w.end) + "/" + w.tag;
        if (w.tag != "O") mark(a, from, w.tag);
    }
}

void TagWriter::write_entities(const TaggedText& t, const std::string& text, Answer& a) const {
    const TextCharacters characters(text);
    std::int64_t at = 0;
    for (const TextEntity& e : t.entities) {
        a.text += characters.between(at, e.start);
        const std::size_t from = a.text.size();
        a.text += "[" + e.text + "|" + e.label + "]";
        mark(a, from, e.label);
        at = e.end;
    }
    a.text += characters.between(at, characters.count());
}

}  // namespace fovea
