#include "fovea/data/pair_columns.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/data/column_names.h"

namespace fovea {
namespace {

using Keys = std::pair<const char*, const char*>;
using Choice = std::optional<std::pair<std::size_t, std::size_t>>;

constexpr std::array<Keys, 6> common_pairs = {{{"source", "target"},
                                               {"src", "tgt"},
                                               {"text", "summary"},
                                               {"document", "summary"},
                                               {"article", "highlights"},
                                               {"body", "subject"}}};
constexpr std::array<Keys, 9> further_pairs = {{{"src", "trg"},
                                                {"source_text", "target_text"},
                                                {"article", "summary"},
                                                {"dialogue", "summary"},
                                                {"body", "summary"},
                                                {"question", "answer"},
                                                {"input", "output"},
                                                {"prompt", "completion"},
                                                {"prompt", "response"}}};

class Chooser {
public:
    Chooser(const Columns& columns, const Record& record) : columns_(columns), record_(record) {
        const bool json = columns.format == RecordFormat::jsonl;
        for (std::size_t i = 0; i < columns.names.size(); ++i)
            if (!json || record.kind(i) != FieldKind::missing) present_.push_back(i);
        for (const std::size_t i : present_)
            if (!is_id_column(columns, i)) texts_.push_back(i);
        if (texts_.size() < 2) texts_ = present_;  // numbers may be what is to be learned
    }

    bool named() const { return columns_.header || columns_.format == RecordFormat::jsonl; }

    template <class List>
    Choice known(const List& list) const {
        for (const Keys& k : list) {
            const auto a = find(k.first), b = find(k.second);
            if (a && b) return {{*a, *b}};
        }
        return std::nullopt;
    }

    Choice languages() const {
        std::vector<std::size_t> found;
        for (const std::size_t i : present_)
            if (is_language_name(plain_name(columns_.names[i]))) found.push_back(i);
        if (found.size() != 2) return std::nullopt;
        return {{found[0], found[1]}};
    }

    Choice first_texts(bool only) const {
        if (texts_.size() < 2 || (only && texts_.size() != 2)) return std::nullopt;
        return {{texts_[0], texts_[1]}};
    }

    Choice guess() const {
        if (columns_.format == RecordFormat::mails) return {{0, 1}};
        if (!named()) return first_texts(false);
        for (const Choice& c :
             {known(common_pairs), first_texts(true), languages(), known(further_pairs)})
            if (c) return c;
        return std::nullopt;
    }

    // The partner of a column that the user named.
    std::optional<std::size_t> other(std::size_t given, bool want_target) const {
        if (const Choice c = guess(); c && (want_target ? c->first : c->second) == given)
            return want_target ? c->second : c->first;
        if (const Choice c = guess(); c && (want_target ? c->second : c->first) == given)
            return want_target ? c->first : c->second;
        if (!named()) return want_target ? 1 : 0;
        std::vector<std::size_t> left;
        for (const std::size_t i : texts_)
            if (i != given) left.push_back(i);
        if (left.size() != 1) return std::nullopt;
        return left[0];
    }

    [[noreturn]] void cannot_tell() const {
        std::string a = "A", b = "B";
        if (texts_.size() >= 2) a = columns_.names[texts_[0]], b = columns_.names[texts_[1]];
        const bool json = columns_.format == RecordFormat::jsonl;
        fail_with(ErrorKind::bad_input,
                  text_of("name them, e.g. --source-key ", a, " --target-key ", b), record_.path,
                  ":", columns_.header ? columns_.header_line : record_.line,
                  ": cannot tell which ", json ? "keys" : "columns",
                  " hold source and target among ", list_of_columns(columns_));
    }

    std::string note(std::size_t source, std::size_t target) const {
        const bool as_expected = !named() && source == 0 && target == 1;
        if (as_expected || columns_.format == RecordFormat::mails) return "";
        std::string over;
        for (const std::size_t i : present_)
            if (i != source && i != target)
                over.append(over.empty() ? "; not used: " : ", ")
                    .append(describe_column(columns_, i));
        return text_of(record_.path, ": source from ", describe_column(columns_, source),
                       ", target from ", describe_column(columns_, target), over);
    }

private:
    std::optional<std::size_t> find(const char* name) const {
        for (const std::size_t i : present_)
            if (plain_name(columns_.names[i]) == name) return i;
        return std::nullopt;
    }

    const Columns& columns_;
    const Record& record_;
    std::vector<std::size_t> present_;  // columns of the first record
    std::vector<std::size_t> texts_;    // of them those that do not just number the records
};

}  // namespace

PairColumns choose_pair_columns(const Columns& columns, const Record& record,
                                const std::string& source_key, const std::string& target_key) {
    const Chooser chooser(columns, record);
    PairColumns chosen;
    if (!source_key.empty() && !target_key.empty()) {
        chosen.source = column_of(columns, record.path, source_key);
        chosen.target = column_of(columns, record.path, target_key);
        return chosen;
    }
    if (!source_key.empty() || !target_key.empty()) {
        const bool want_target = target_key.empty();
        const std::size_t given =
            column_of(columns, record.path, want_target ? source_key : target_key);
        const auto other = chooser.other(given, want_target);
        if (!other) chooser.cannot_tell();
        (want_target ? chosen.source : chosen.target) = given;
        (want_target ? chosen.target : chosen.source) = *other;
    } else if (const Choice guess = chooser.guess()) {
        chosen.source = guess->first;
        chosen.target = guess->second;
    } else if (chooser.named()) {
        chooser.cannot_tell();
    } else {
        return chosen;  // fewer than two columns: the first row is a bad one
    }
    chosen.note = chooser.note(chosen.source, chosen.target);
    return chosen;
}

}  // namespace fovea
