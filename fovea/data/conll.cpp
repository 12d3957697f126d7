#include "fovea/data/conll.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/data/column_names.h"
#include "fovea/data/conll_columns.h"
#include "fovea/data/line_source.h"

namespace fovea {
namespace {

struct FoundSentence {
    TaggedWords sentence;
    std::vector<std::int64_t> lines;  // of each word
};

std::string name_without_gz(std::string path) {
    if (path.ends_with(".gz")) path.resize(path.size() - 3);
    return path;
}

bool is_json_name(const std::string& path) {
    const std::string name = name_without_gz(path);
    return name.ends_with(".jsonl") || name.ends_with(".json");
}

std::string problem_of_cells(const std::string& word, const std::string& tag) {
    if (word.empty()) return "the word is empty";
    if (tag.empty()) return "the tag is empty";
    if (!is_utf8(word)) return "the word is not valid UTF-8";
    if (!is_utf8(tag)) return "the tag is not valid UTF-8";
    return "";
}

// The sentences of one CoNLL file. A bad line makes its sentence a bad one, told once.
class ConllReader {
public:
    ConllReader(const std::string& path, const TaggedFiles& files, BadLines& bad)
        : lines_(path), columns_(path, files.word_key, files.tag_key), bad_(bad) {}

    bool next(FoundSentence& found) {
        found = {};
        found.sentence.path = lines_.path();
        bool is_bad = false;
        for (std::string line; lines_.next(line);) {
            const ConllLine cells = columns_.read(line, found.lines.empty() && !is_bad);
            if (cells.kind == ConllLine::Kind::ends && (is_bad || !found.lines.empty())) {
                if (!is_bad) return true;
                found.lines.clear(), found.sentence.words.clear(), found.sentence.tags.clear();
                is_bad = false;
            }
            if (cells.kind != ConllLine::Kind::word || is_bad) continue;
            is_bad = !take(cells, found);
        }
        return !is_bad && !found.lines.empty();
    }

    const ConllColumns& columns() const { return columns_; }

private:
    bool take(const ConllLine& cells, FoundSentence& found) {
        const std::string problem =
            cells.problem.empty() ? problem_of_cells(cells.word, cells.tag) : cells.problem;
        if (!problem.empty()) {
            const std::string both = cells.word + cells.tag;
            bad_.add(lines_.path(), lines_.line_number(), problem,
                     !cells.hint.empty() ? cells.hint
                     : is_utf8(both)     ? ""
                                         : encoding_hint(both, lines_.path()));
            return false;
        }
        if (found.lines.empty()) found.sentence.line = lines_.line_number();
        found.lines.push_back(lines_.line_number());
        found.sentence.words.push_back(cells.word);
        found.sentence.tags.push_back(cells.tag);
        return true;
    }

    LineSource lines_;
    ConllColumns columns_;
    BadLines& bad_;
};

// A field of JSON lines as a list of texts; `problem` where it is none.
std::vector<std::string> list_of(const Record& record, const Columns& columns, std::size_t at,
                                 std::string& problem) {
    std::vector<std::string> all;
    const bool list = record.kind(at) == FieldKind::json && record.fields[at].starts_with("[");
    if (!list) {
        problem = text_of("no list under \"", columns.names[at], "\"");
        return all;
    }
    for (const Json& item : parse_json(record.fields[at], columns.names[at])) {
        if (!item.is_string() && !item.is_number_integer())
            problem = text_of("the list \"", columns.names[at], "\" holds ", to_text(item),
                              ", which is no text");
        all.push_back(item.is_string() ? item.get<std::string>() : to_text(item));
    }
    return all;
}

std::size_t key_of_list(const Columns& columns, const std::string& path, const std::string& key,
                        std::initializer_list<const char*> known) {
    if (!key.empty()) return column_of(columns, path, key);
    for (const char* name : known)
        for (std::size_t i = 0; i < columns.names.size(); ++i)
            if (columns.names[i] == name) return i;
    fail_with(ErrorKind::bad_input, "name it: --words KEY, --tags KEY", path,
              ": there is no list of ", *known.begin(), "; the keys are ",
              list_of_columns(columns));
}

void read_json_sentences(const std::string& path, const TaggedFiles& files, BadLines& bad,
                         std::vector<FoundSentence>& to) {
    RecordFiles records;
    records.paths = {path};
    for_each_record(records, bad, [&](const Columns& columns, Record&& record) {
        const std::size_t words =
            key_of_list(columns, path, files.word_key, {"tokens", "words", "text"});
        const std::size_t tags =
            key_of_list(columns, path, files.tag_key, {"tags", "ner_tags", "labels", "pos_tags"});
        FoundSentence s;
        s.sentence.path = record.path;
        s.sentence.line = record.line;
        std::string problem;
        s.sentence.words = list_of(record, columns, words, problem);
        if (problem.empty()) s.sentence.tags = list_of(record, columns, tags, problem);
        const std::size_t n = s.sentence.words.size();
        if (problem.empty() && n != s.sentence.tags.size())
            problem = text_of(n, " words but ", s.sentence.tags.size(), " tags");
        if (problem.empty() && n == 0) problem = "there are no words";
        for (std::size_t i = 0; i < n && problem.empty(); ++i)
            problem = problem_of_cells(s.sentence.words[i], s.sentence.tags[i]);
        if (problem.empty()) {
            s.lines.assign(n, record.line);
            to.push_back(std::move(s));
        } else {
            bad.add(record.path, record.line, problem);
        }
        return files.limit == 0 || static_cast<std::int64_t>(to.size()) < files.limit;
    });
}

std::vector<FoundSentence> read_sentences(const TaggedFiles& files, BadLines& bad) {
    std::vector<FoundSentence> all;
    for (const std::string& path : files.paths) {
        if (is_json_name(path)) {
            read_json_sentences(path, files, bad, all);
        } else {
            ConllReader reader(path, files, bad);
            const std::size_t before = all.size();
            for (FoundSentence s;
                 (files.limit == 0 || static_cast<std::int64_t>(all.size()) < files.limit) &&
                 reader.next(s);)
                all.push_back(std::move(s));
            if (all.size() > before) bad.problems.notes.push_back(reader.columns().note());
        }
    }
    return all;
}

}  // namespace

TaggedData read_tagged(const TaggedFiles& files) {
    BadLines bad(files.skip_bad, files.keep_messages);
    std::vector<FoundSentence> found = read_sentences(files, bad);
    const std::string& first = files.paths.empty() ? "the data" : files.paths.front();
    if (found.empty())
        fail_with(ErrorKind::bad_input,
                  "a word and its tag a line, an empty line between sentences", first,
                  ": holds no sentence");
    TaggedData data;
    data.scheme = files.scheme;
    if (data.scheme == TagScheme::automatic) {
        std::vector<std::vector<std::string>> tags;
        for (const FoundSentence& s : found) tags.push_back(s.sentence.tags);
        if (name_bare_tags(tags)) {
            for (std::size_t i = 0; i < found.size(); ++i) found[i].sentence.tags = tags[i];
            bad.problems.notes.push_back(first +
                                         ": the tags have no type; they are read as "
                                         "B-entity, I-entity and O");
        }
        data.scheme = recognised_scheme(tags);
    }
    for (FoundSentence& s : found) {
        if (const auto b = turn_into_bio(data.scheme, s.sentence.tags))
            bad.add(s.sentence.path, s.lines[b->word], b->problem, b->hint);
        else
            data.sentences.push_back(std::move(s.sentence));
    }
    if (data.sentences.empty())
        fail_with(ErrorKind::bad_input, "the messages above say why", first,
                  ": no sentence is left of ", found.size());
    if (data.scheme == TagScheme::iob1 || data.scheme == TagScheme::bioes)
        bad.problems.notes.push_back(text_of(first, ": the tags are ",
                                             data.scheme == TagScheme::iob1 ? "IOB1" : "BIOES",
                                             "; they are read as BIO"));
    data.problems = std::move(bad.problems);
    return data;
}

std::string sentence_text(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
    return text;
}

bool is_conll_name(const std::string& path) {
    const std::string name = name_without_gz(path);
    for (const char* ending : {".conll", ".conllu", ".bio", ".iob", ".iob2", ".conll03"})
        if (name.ends_with(ending)) return true;
    return false;
}

}  // namespace fovea
