#include "fovea/data/label_columns.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/column_names.h"

namespace fovea {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 6> two_texts = {
    {{"premise", "hypothesis"},
     {"sentence1", "sentence2"},
     {"question1", "question2"},
     {"text_a", "text_b"},
     {"text1", "text2"},
     {"question", "sentence"}}};

bool has_names(const Columns& c) {
    return c.header || c.format == RecordFormat::jsonl || c.format == RecordFormat::class_folders ||
           c.format == RecordFormat::mails || c.format == RecordFormat::label_lines;
}

std::string name_of(const Columns& c, std::size_t column) { return plain_name(c.names[column]); }

std::optional<std::size_t> named(const Columns& c, const std::string& name) {
    for (std::size_t i = 0; i < c.names.size(); ++i)
        if (name_of(c, i) == name) return i;
    return std::nullopt;
}

// The best name by its rank; 0 is no name at all.
template <class Rank>
std::optional<std::size_t> best_named(const Columns& c, Rank rank) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; has_names(c) && i < c.names.size(); ++i) {
        const int r = rank(name_of(c, i));
        if (r > 0 && (!best || r < rank(name_of(c, *best)))) best = i;
    }
    return best;
}

double mean_length(const Columns& c, std::size_t column) {
    double sum = 0;
    for (const auto& row : c.sample)
        sum += column < row.size() ? static_cast<double>(row[column].size()) : 0;
    return c.sample.empty() ? 0 : sum / static_cast<double>(c.sample.size());
}

double mean_words(const Columns& c, std::size_t column) {
    double sum = 0;
    for (const auto& row : c.sample)
        if (column < row.size() && !row[column].empty())
            sum +=
                1.0 + static_cast<double>(std::count(row[column].begin(), row[column].end(), ' '));
    return c.sample.empty() ? 0 : sum / static_cast<double>(c.sample.size());
}

[[noreturn]] void cannot_tell(const Columns& c, const std::string& path, const char* what) {
    fail_with(
        ErrorKind::bad_input,
        text_of("name it: --", what, " NAME or NUMBER (`fovea data check`: --", what, "-key)"),
        path, ":", std::max<std::int64_t>(c.header_line, 1),
        ": cannot tell which column holds the ", what, " among ", list_of_columns(c));
}

bool has_empty_cells(const Columns& c, std::size_t column) {
    return std::any_of(c.sample.begin(), c.sample.end(), [&](const auto& row) {
        return column >= row.size() || row[column].empty();
    });
}

// The column with the fewest different short values, where values repeat at all; of two with as
// many the one with the shorter values. A column that says nothing (one value for all, or empty
// here and there) only where there is no other.
std::optional<std::size_t> column_of_few_values(const Columns& c,
                                                const std::vector<std::size_t>& texts,
                                                bool says_something = true) {
    std::optional<std::size_t> best;
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < c.names.size(); ++i) {
        const auto values = different_short_values(c, i);
        if (!values || std::find(texts.begin(), texts.end(), i) != texts.end()) continue;
        if (says_something && (*values < 2 || has_empty_cells(c, i))) continue;
        if (has_names(c) && is_id_name(name_of(c, i))) continue;
        if (*values * 2 > c.sample.size()) continue;
        if (!best || *values < fewest ||
            (*values == fewest && mean_length(c, i) < mean_length(c, *best))) {
            best = i;
            fewest = *values;
        }
    }
    return best || !says_something ? best : column_of_few_values(c, texts, false);
}

// Without a hint by name: the longest on average.
std::optional<std::size_t> longest_column(const Columns& c, std::optional<std::size_t> not_this) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < c.names.size(); ++i)
        if (i != not_this && (!best || mean_length(c, i) > mean_length(c, *best))) best = i;
    return best;
}

std::vector<std::size_t> guess_texts(const Columns& c, std::optional<std::size_t> label) {
    if (has_names(c)) {
        for (const auto& [first, second] : two_texts) {
            const auto a = named(c, first), b = named(c, second);
            if (a && b && a != label && b != label) return {*a, *b};
        }
        const auto rank = [&](const std::string& plain) {
            return label && plain == name_of(c, *label) ? 0 : rank_as_text(plain);
        };
        if (const auto text = best_named(c, rank)) return {*text};
    }
    const auto longest = longest_column(c, label);
    return longest ? std::vector{*longest} : std::vector<std::size_t>{};
}

}  // namespace

std::optional<std::size_t> named_label_column(const Columns& columns) {
    return best_named(columns, rank_as_label);
}

std::optional<std::size_t> different_short_values(const Columns& columns, std::size_t column) {
    constexpr std::size_t short_value = 64;  // bytes
    std::set<std::string> values;
    for (const auto& row : columns.sample) {
        if (column >= row.size()) continue;
        if (row[column].size() > short_value) return std::nullopt;
        values.insert(row[column]);
    }
    return values.size();
}

std::optional<std::size_t> telling_label_column(const Columns& columns) {
    constexpr std::size_t enough = 50;
    const auto label = column_of_few_values(columns, {});
    if (!label || columns.sample.size() < enough) return {};
    const auto values = different_short_values(columns, *label);
    std::size_t texts = 0;
    for (std::size_t i = 0; i < columns.names.size(); ++i) texts += mean_words(columns, i) >= 3;
    const double words = mean_words(columns, *label);
    // Names without a space (intents) may be many, as long as they come again.
    const bool few = *values >= 2 && (*values * 10 <= columns.sample.size() || words < 1.05);
    return few && texts == 1 && words < 3 ? label : std::nullopt;
}

LabelColumns choose_label_columns(const Columns& columns, const std::string& path,
                                  const LabelKeys& keys) {
    LabelColumns chosen;
    for (const std::string& key : keys.texts) chosen.texts.push_back(column_of(columns, path, key));
    std::optional<std::size_t> label;
    if (keys.wants_label) {
        label =
            keys.label.empty() ? named_label_column(columns) : column_of(columns, path, keys.label);
        if (!label) label = column_of_few_values(columns, chosen.texts);
        if (!label) cannot_tell(columns, path, "label");
        chosen.label = *label;
    } else {
        label = named_label_column(columns);  // a file with labels may be predicted too
    }
    if (chosen.texts.empty()) chosen.texts = guess_texts(columns, label);
    if (chosen.texts.empty()) cannot_tell(columns, path, "text");
    const bool guessed = keys.texts.empty() || (keys.wants_label && keys.label.empty());
    const bool obvious = columns.format == RecordFormat::class_folders ||
                         columns.format == RecordFormat::label_lines ||
                         (!keys.wants_label && columns.names.size() == 1);
    if (!guessed || obvious) return chosen;
    chosen.note = text_of(path, ": text from ", describe_column(columns, chosen.texts[0]));
    if (chosen.texts.size() > 1) chosen.note += " and " + describe_column(columns, chosen.texts[1]);
    if (keys.wants_label) chosen.note += ", label from " + describe_column(columns, chosen.label);
    return chosen;
}

}  // namespace fovea
