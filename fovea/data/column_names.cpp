#include "fovea/data/column_names.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using NameSet = std::set<std::string, std::less<>>;

// Best first: the order decides between two columns that could both be it.
constexpr std::array text_names = {
    "text",     "sentence", "utterance", "review", "query",   "question", "document",
    "content",  "body",     "message",   "tweet",  "comment", "article",  "passage",
    "headline", "title",    "source",    "input",  "post",    "email",    "description"};
constexpr std::array label_names = {
    "label",   "labels", "class",    "category", "intent",     "sentiment",   "gold_label",
    "emotion", "topic",  "polarity", "genre",    "categories", "classes",     "tag",
    "tags",    "target", "rating",   "stars",    "score",      "coarse_label"};

const NameSet& other_names() {
    static const NameSet names{
        "src",     "tgt",      "trg",       "summary",    "highlights", "subject", "context",
        "answer",  "answers",  "response",  "output",     "prompt",     "premise", "hypothesis",
        "lang",    "language", "split",     "date",       "author",     "url",     "name",
        "license", "licence",  "reference", "dialogue",   "completion", "domain",  "translation",
        "notes",   "abstract", "keywords",  "annotations"};
    return names;
}

const NameSet& language_words() {
    static const NameSet names{
        "english",   "german",   "french",  "spanish",   "italian",    "portuguese", "dutch",
        "polish",    "czech",    "russian", "ukrainian", "chinese",    "japanese",   "korean",
        "arabic",    "turkish",  "finnish", "swedish",   "norwegian",  "danish",     "hungarian",
        "romanian",  "greek",    "hebrew",  "hindi",     "vietnamese", "thai",       "indonesian",
        "bulgarian", "croatian", "serbian", "slovak",    "slovenian",  "estonian",   "latvian",
        "latin",     "catalan",  "persian", "lithuanian"};
    return names;
}

// ISO 639 codes that are hardly a whole text themselves …
const NameSet& language_codes() {
    static const NameSet names{"en",  "de",  "fr",  "ru",  "zh",  "ja",  "ko",  "pt",  "nl",  "pl",
                               "cs",  "sv",  "fi",  "hu",  "tr",  "ar",  "uk",  "ro",  "bg",  "vi",
                               "th",  "eng", "deu", "ger", "fra", "fre", "spa", "ita", "por", "nld",
                               "pol", "ces", "rus", "zho", "jpn", "kor", "ara", "tur", "fin", "swe",
                               "hun", "ron", "ukr", "lat", "epo", "heb", "hin"};
    return names;
}
// … and those that are short words of some language ("it", "es"): not enough for a header alone.
const NameSet& codes_like_words() {
    static const NameSet names{"es", "it", "da", "no", "el", "he", "hi", "id", "is", "la", "et"};
    return names;
}

template <class List>
int rank_in(const List& list, const std::string& plain) {
    for (std::size_t i = 0; i < list.size(); ++i)
        if (plain == list[i]) return static_cast<int>(i) + 1;
    return 0;
}

// A name of the list, or one that ends with it: airline_sentiment. Whole names come first.
template <class List>
int rank_by_ending(const List& list, const std::string& plain) {
    if (const int whole = rank_in(list, plain)) return whole;
    const std::size_t cut = plain.rfind('_');
    const int ending = cut == std::string::npos ? 0 : rank_in(list, plain.substr(cut + 1));
    return ending ? static_cast<int>(list.size()) + ending : 0;
}

bool is_known_word(const std::string& word) {
    return rank_in(text_names, word) || rank_in(label_names, word) || is_id_name(word) ||
           other_names().count(word) || is_language_name(word);
}

std::string without_number(std::string word) {  // sentence1 → sentence
    while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
    return word;
}

// A known word, or made of such: source_text, text_a, sentence1, target_lang.
bool is_known_name(const std::string& plain) {
    if (is_known_word(plain)) return true;
    if (plain.empty()) return false;
    for (std::size_t from = 0; from <= plain.size();) {
        const std::size_t end = std::min(plain.find('_', from), plain.size());
        const std::string word = without_number(plain.substr(from, end - from));
        const bool letter = from > 0 && (word == "a" || word == "b");
        if (!letter && (word.empty() || !is_known_word(word))) return false;
        from = end + 1;
    }
    return true;
}

bool is_identifier(const std::string& plain) {
    if (plain.empty() || plain.size() > 40 || (plain[0] >= '0' && plain[0] <= '9')) return false;
    return std::all_of(plain.begin(), plain.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == ':' || c == '#';
    });
}

bool is_whole_number(const std::string& cell) {
    return !cell.empty() && cell.size() < 20 &&
           std::all_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool all_numbers(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
    return std::all_of(rows.begin(), rows.end(), [&](const std::vector<std::string>& row) {
        return column < row.size() && is_whole_number(row[column]);
    });
}

bool is_hardly_used(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
    const auto used = std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
        return column < row.size() && !row[column].empty();
    });
    return !rows.empty() && used * 20 <= static_cast<std::ptrdiff_t>(rows.size());
}

bool all_single_words(const std::vector<std::string>& row) {
    return std::all_of(row.begin(), row.end(),
                       [](const std::string& cell) { return cell.find(' ') == std::string::npos; });
}

bool comes_again(const std::vector<std::string>& first,
                 const std::vector<std::vector<std::string>>& later) {
    for (const auto& row : later) {
        if (row == first) continue;  // the header once more, where files were put end to end
        for (std::size_t i = 0; i < std::min(row.size(), first.size()); ++i)
            if (!row[i].empty() && row[i] == first[i]) return true;
    }
    return false;
}

bool is_header_by_name(const std::vector<std::string>& names) {
    const auto known = std::count_if(names.begin(), names.end(), is_known_name);
    const auto certain = std::count_if(names.begin(), names.end(), [](const std::string& n) {
        return !n.empty() && !codes_like_words().count(n) && is_known_name(n);
    });
    if (certain == 0) return false;
    return known == static_cast<std::ptrdiff_t>(names.size()) || (names.size() >= 3 && known >= 2);
}

bool is_header_by_form(const std::vector<std::string>& first,
                       const std::vector<std::vector<std::string>>& later) {
    if (first.size() < 2 || later.size() < 3) return false;
    if (!all_single_words(first) || comes_again(first, later)) return false;
    for (std::size_t i = 0; i < first.size(); ++i)
        if (all_numbers(later, i)) return true;
    const auto single = std::count_if(later.begin(), later.end(), all_single_words);
    return later.size() >= 10 && single * 10 <= static_cast<std::ptrdiff_t>(later.size());
}

}  // namespace

std::string plain_name(std::string_view cell) {
    std::string out;
    for (const char c : cell) {
        if (c >= 'A' && c <= 'Z')
            out.push_back(static_cast<char>(c + 32));
        else
            out.push_back(c == '-' || c == ' ' || c == '\t' ? '_' : c);
    }
    const std::size_t from = out.find_first_not_of('_');
    if (from == std::string::npos) return "";
    return out.substr(from, out.find_last_not_of('_') + 1 - from);
}

bool is_language_name(const std::string& plain) {
    return language_words().count(plain) || language_codes().count(plain) ||
           (plain != "id" && codes_like_words().count(plain));
}

bool is_id_name(const std::string& plain) {
    static const NameSet names{"",   "id",  "ids",  "index",  "idx",  "#",       "no",
                               "nr", "uid", "guid", "number", "uuid", "unnamed", "unnamed:_0"};
    return names.count(plain) || plain.ends_with("_id") || plain.ends_with("_index");
}

int rank_as_text(const std::string& plain) { return rank_by_ending(text_names, plain); }
int rank_as_label(const std::string& plain) { return rank_by_ending(label_names, plain); }

bool is_header(const std::vector<std::string>& first,
               const std::vector<std::vector<std::string>>& later) {
    std::vector<std::string> names;
    NameSet unique;
    for (std::size_t i = 0; i < first.size(); ++i) {
        names.push_back(plain_name(first[i]));
        const bool unnamed_index = i == 0 && names[i].empty() && first.size() > 1;  // of pandas
        if (names[i].empty() && i > 0 && is_hardly_used(later, i)) continue;  // of spreadsheets
        if (!unnamed_index && !is_identifier(names[i])) return false;
        if (!unique.insert(names[i]).second) return false;
    }
    return is_header_by_name(names) || is_header_by_form(first, later);
}

bool is_id_column(const Columns& columns, std::size_t column) {
    const bool named = columns.header || columns.format == RecordFormat::jsonl;
    if (named && column < columns.names.size() && is_id_name(plain_name(columns.names[column])))
        return true;
    return columns.sample.size() >= 2 && all_numbers(columns.sample, column);
}

std::optional<std::size_t> number_of_column(const std::string& key) {
    char* end = nullptr;
    const long n = std::strtol(key.c_str(), &end, 10);
    if (key.empty() || *end != '\0' || n < 1) return std::nullopt;
    return static_cast<std::size_t>(n - 1);
}

std::string list_of_columns(const Columns& columns) {
    const bool unnamed_table =
        !columns.header && columns.format != RecordFormat::jsonl && !columns.sample.empty();
    std::string list;
    for (const std::string& name : unnamed_table ? columns.sample.front() : columns.names)
        list.append(list.empty() ? "\"" : ", \"").append(name).append("\"");
    return list;
}

std::string describe_column(const Columns& columns, std::size_t column) {
    const bool json = columns.format == RecordFormat::jsonl;
    if (column >= columns.names.size() || columns.names[column] == std::to_string(column + 1))
        return text_of("column ", column + 1);
    return text_of(json ? "key '" : "column '", columns.names[column], "'");
}

std::size_t column_of(const Columns& columns, const std::string& path, const std::string& key) {
    const auto& names = columns.names;
    if (const auto exact = std::find(names.begin(), names.end(), key); exact != names.end())
        return static_cast<std::size_t>(exact - names.begin());
    const std::string plain = plain_name(key);
    const auto alike = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return plain_name(name) == plain;
    });
    if (alike != names.end()) return static_cast<std::size_t>(alike - names.begin());
    const bool json = columns.format == RecordFormat::jsonl;
    if (const auto number = number_of_column(key); number && !json) return *number;
    fail_with(ErrorKind::bad_input, "the first row has: " + list_of_columns(columns), path,
              ":1: ", "there is no ", json ? "key" : "column", " \"", key, "\"");
}

}  // namespace fovea
