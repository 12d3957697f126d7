#include "fovea/data/conll_columns.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/column_names.h"
#include "fovea/data/tag_scheme.h"

namespace fovea {
namespace {

const std::vector<std::string> conllu_names = {"id",    "form", "lemma",  "upos", "xpos",
                                               "feats", "head", "deprel", "deps", "misc"};

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}
bool names_words(const std::string& plain) {
    return is_one_of(plain, {"word", "words", "token", "tokens", "form", "text"});
}
bool names_tags(const std::string& plain) {
    return is_one_of(plain, {"ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "slot",
                             "slots", "entity", "chunk", "pos", "upos"});
}

std::string trimmed_cell(const std::string& text) {
    const std::size_t from = text.find_first_not_of(" \t");
    if (from == std::string::npos) return "";
    return text.substr(from, text.find_last_not_of(" \t") + 1 - from);
}

}  // namespace

ConllColumns::ConllColumns(std::string path, std::string word_key, std::string tag_key)
    : path_(std::move(path)), word_key_(std::move(word_key)), tag_key_(std::move(tag_key)) {}

std::vector<std::string> ConllColumns::cells_of(const std::string& line) const {
    std::vector<std::string> cells;
    std::istringstream in(line);
    if (tabs_)
        for (std::size_t from = 0; from <= line.size();) {
            const std::size_t end = std::min(line.find('\t', from), line.size());
            cells.push_back(trimmed_cell(line.substr(from, end - from)));
            from = end + 1;
        }
    else
        for (std::string cell; in >> cell;) cells.push_back(cell);
    return cells;
}

// "#" and "#hashtag" are words too: a comment has another number of columns, and no tag at its end.
bool ConllColumns::is_comment(const std::string& line) const {
    if (!line.starts_with("#")) return false;
    if (line.find('\t') != std::string::npos) return false;
    if (conllu_ || line.find(" = ") != std::string::npos) return true;
    const std::vector<std::string> cells = cells_of(line);
    if (count_ > 0) return cells.size() != count_;
    return cells.size() < 2 || !chunk_tag(cells.back());
}

bool ConllColumns::is_header(const std::vector<std::string>& cells) const {
    bool words = false, tags = false;
    for (const std::string& cell : cells) {
        const std::string plain = plain_name(cell);
        for (const std::string& key : {word_key_, tag_key_})
            if (!key.empty() && !number_of_column(key) && plain == plain_name(key)) return true;
        words = words || names_words(plain);
        tags = tags || names_tags(plain);
    }
    return words && tags;
}

std::size_t ConllColumns::column(const std::string& key, const char* what) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (plain_name(names_[i]) == plain_name(key)) return i;
    if (const auto number = number_of_column(key)) {
        if (*number < count_) return *number;
        fail_with(ErrorKind::bad_input, text_of("give a number from 1 to ", count_), path_,
                  ": there is no column ", key, " for the ", what, ": it has ", count_, " columns");
    }
    std::string known;
    for (const std::string& name : names_) known += (known.empty() ? "" : ", ") + name;
    fail_with(ErrorKind::bad_input, text_of("give a number from 1 to ", count_), path_,
              ": there is no column \"", key, "\" for the ", what, ": ",
              names_.empty() ? "its columns have no names" : "it has " + known);
}

std::size_t ConllColumns::guessed_tags() const {
    for (const char* name :
         {"ner", "ner_tag", "ner_tags", "tag", "tags", "label", "labels", "slot", "slots", "upos"})
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (plain_name(names_[i]) == name) return i;
    return count_ - 1;
}

// By the first line that holds a word, or the names of the columns.
void ConllColumns::settle(const std::vector<std::string>& cells) {
    count_ = cells.size();
    if (names_.empty() && count_ == 10 &&
        cells[0].find_first_not_of("0123456789-.") == std::string::npos) {
        names_ = conllu_names;
        conllu_ = true;
    }
    if (!names_.empty()) {
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_words(plain_name(names_[i]))) {
                word_ = i;
                break;
            }
    }
    if (count_ < 2)
        fail_with(ErrorKind::bad_input,
                  "a word and its tag a line, parted by a tab or a space; an empty line between "
                  "sentences",
                  path_, ": the lines have one column, but words and tags are wanted");
    if (!word_key_.empty()) word_ = column(word_key_, "words");
    tag_ = tag_key_.empty() ? guessed_tags() : column(tag_key_, "tags");
    if (word_ == tag_)
        fail_with(ErrorKind::usage, "choose others with --words and --tags", path_, ": column ",
                  word_ + 1, " cannot hold both the words and the tags");
}

ConllLine ConllColumns::read(const std::string& line, bool begins) {
    ConllLine out;
    if (line.find_first_not_of(" \t") == std::string::npos) {
        out.kind = ConllLine::Kind::ends;
        return out;
    }
    if (count_ == 0 && line.starts_with("# global.columns = ")) names_ = cells_of(line.substr(19));
    if (begins && is_comment(line)) {
        out.kind = ConllLine::Kind::passed_over;
        return out;
    }
    if (count_ == 0) tabs_ = line.find('\t') != std::string::npos;
    const std::vector<std::string> cells = cells_of(line);
    if (count_ == 0) {
        const bool header = names_.empty() && is_header(cells);
        if (header) names_ = cells;
        settle(cells);
        if (header) {
            out.kind = ConllLine::Kind::passed_over;
            return out;
        }
    }
    if (cells[0] == "-DOCSTART-") {
        out.kind = ConllLine::Kind::ends;
        return out;
    }
    if (cells.size() != count_) {
        out.problem = text_of(cells.size(), cells.size() == 1 ? " column" : " columns",
                              ", but the lines before have ", count_);
        out.hint = "an empty line parts sentences; --skip-bad N passes over so many bad ones";
        return out;
    }
    // "3-4" (a range of words that were parted) and "5.1" (a word that is not there) of CoNLL-U.
    if (conllu_ && cells[0].find_first_of("-.") != std::string::npos) {
        out.kind = ConllLine::Kind::passed_over;
        return out;
    }
    out.word = cells[word_];
    out.tag = cells[tag_];
    return out;
}

std::string ConllColumns::note() const {
    const auto named = [&](std::size_t i) {
        return names_.empty() ? text_of(i + 1) : text_of(i + 1, " (", names_[i], ")");
    };
    return text_of(path_, ": words from column ", named(word_), ", tags from column ", named(tag_),
                   " of ", count_);
}

}  // namespace fovea
