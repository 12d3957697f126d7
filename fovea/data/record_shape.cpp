#include "fovea/data/record_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/boxes.h"
#include "fovea/data/column_names.h"
#include "fovea/data/conll.h"
#include "fovea/data/folder_rows.h"
#include "fovea/data/label_columns.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/line_source.h"
#include "fovea/data/masks.h"
#include "fovea/data/pair_columns.h"
#include "fovea/data/pictures.h"
#include "fovea/data/records.h"
#include "fovea/data/waves.h"

namespace fovea {
namespace {

struct FirstRecord {
    Columns columns;  // with a sample of the records behind it
    Record record;
};

std::optional<FirstRecord> first_record(const std::string& path) {
    RecordFiles files;
    files.paths = {path};
    files.skip_bad = INT64_MAX;
    files.lines_may_have_labels = true;
    std::optional<FirstRecord> first;
    for_each_record(files, [&](const Columns& columns, Record&& record) {
        first = FirstRecord{columns, std::move(record)};
        return false;
    });
    return first;
}

bool is_entity_tag(const std::string& tag) {
    if (tag.size() == 1) return std::string("OBIES").find(tag[0]) != std::string::npos;
    return tag.size() > 2 && tag[1] == '-' &&
           std::string("BIESLUM").find(tag[0]) != std::string::npos;
}

// "Anna B-person", a word and its tag a line, with blank lines between sentences.
bool is_tagged_words(const std::vector<std::string>& lines) {
    bool blank = false;
    std::size_t words = 0;
    for (const std::string& line : lines) {
        const std::size_t cut = line.find_last_of(" \t");
        if (line.find_first_not_of(" \t\r") == std::string::npos)
            blank = true;
        else if (line.starts_with("-DOCSTART-") || line.starts_with("# ") ||
                 line.starts_with("###"))
            continue;
        else if (cut == std::string::npos || !is_entity_tag(line.substr(cut + 1)))
            return false;
        else
            ++words;
    }
    return blank && words > 0;
}

bool has_column(const Columns& columns, std::initializer_list<const char*> names) {
    return std::any_of(columns.names.begin(), columns.names.end(), [&](const std::string& name) {
        return std::find(names.begin(), names.end(), plain_name(name)) != names.end();
    });
}

bool is_list(const FirstRecord& first, std::initializer_list<const char*> names) {
    for (std::size_t i = 0; i < first.record.fields.size(); ++i)
        if (first.record.kind(i) == FieldKind::json && first.record.fields[i].starts_with('[') &&
            std::find(names.begin(), names.end(), plain_name(first.columns.names[i])) !=
                names.end())
            return true;
    return false;
}

std::string why_labelled(const Columns& columns) {
    if (columns.format == RecordFormat::class_folders) return "it has a folder for each label";
    if (columns.format == RecordFormat::label_lines) return "each line has its label in it";
    if (const auto named = named_label_column(columns))
        if (const auto values = different_short_values(columns, *named))
            return fmt::format("its {} has {} values", describe_column(columns, *named), *values);
    return "few different values in a column";
}

double words_in(const std::string& text) {
    return 1.0 + static_cast<double>(std::count(text.begin(), text.end(), ' '));
}

// Pairs whose first text is long and whose second is short.
ShapeGuess pairs_or_summaries(const FirstRecord& first) {
    const auto [source, target, note] = choose_pair_columns(first.columns, first.record, {}, {});
    double long_words = 0, short_words = 0, rows = 0;
    for (const auto& row : first.columns.sample) {
        if (row.size() <= std::max(source, target)) continue;
        long_words += words_in(row[source]);
        short_words += words_in(row[target]);
        ++rows;
    }
    if (rows > 0 && long_words > 30 * rows && long_words > 4 * short_words)
        return {RecordShape::summaries,
                fmt::format("a text of {:.0f} words on average, then one of {:.0f}",
                            long_words / rows, short_words / rows)};
    return {RecordShape::pairs, "two texts a record"};
}

// Before class folders: images/ and masks/ are no labels.
std::optional<ShapeGuess> guess_masked(const std::string& path) {
    if (is_masked_folder(path))
        return ShapeGuess{RecordShape::masked, "it holds a folder of pictures and one of masks"};
    if (path.ends_with(".txt") && is_masked_folder(parent_path(path)))
        return ShapeGuess{RecordShape::masked, "names of pictures that lie beside it, with masks"};
    return {};
}

// Before masks and class folders: Annotations/ and images/ are neither.
std::optional<ShapeGuess> guess_boxed(const std::string& path) {
    const std::string why = holds_boxes(path);
    if (why.empty()) return {};
    return ShapeGuess{RecordShape::boxed, why};
}

std::optional<ShapeGuess> guess_folder(const std::string& path) {
    if (const std::string table = wave_table_in(path); !table.empty())
        return ShapeGuess{RecordShape::sounds, base_name(table) + " in it names sounds"};
    if (is_wave_folder(path))
        return ShapeGuess{RecordShape::sounds, "it has a folder of sounds for each label"};
    if (file_exists(join_path(path, "seq.in")) && file_exists(join_path(path, "seq.out")))
        return ShapeGuess{RecordShape::slots, "it holds seq.in and seq.out"};
    if (format_of_folder(path) == RecordFormat::mails)
        return ShapeGuess{RecordShape::summaries, "it holds mails and their subjects"};
    return ShapeGuess{RecordShape::labelled, "it has a folder for each label"};
}

std::optional<ShapeGuess> guess_records(const std::string& path) {
    const auto first = first_record(path);
    if (!first) return {};
    const Columns& columns = first->columns;
    if (const auto column = wave_column(columns))
        return ShapeGuess{RecordShape::sounds,
                          "its " + describe_column(columns, *column) + " names sounds"};
    if (is_list(*first, {"tokens", "words"}) &&
        is_list(*first, {"tags", "ner_tags", "pos_tags", "labels", "slots"}))
        return has_column(columns, {"intent"})
                   ? ShapeGuess{RecordShape::slots, "words, their tags and an intent a line"}
                   : ShapeGuess{RecordShape::tagged, "words and their tags a line"};
    if (is_list(*first, {"slots"}) && has_column(columns, {"intent"}))
        return ShapeGuess{RecordShape::slots, "a text, its slots and an intent a line"};
    if (has_column(columns, {"question"}) && has_column(columns, {"context"}))
        return ShapeGuess{RecordShape::questions, "questions and contexts"};
    if (looks_labelled(columns)) return ShapeGuess{RecordShape::labelled, why_labelled(columns)};
    if (columns.format == RecordFormat::lines)
        return ShapeGuess{RecordShape::texts, "text without columns"};
    if (columns.names.size() < 2) return {};
    return pairs_or_summaries(*first);
}

std::optional<ShapeGuess> guess_pictures(const std::string& path) {
    const std::string why = holds_labelled_pictures(path);
    if (why.empty()) return {};
    return ShapeGuess{RecordShape::pictures, why};
}

std::optional<ShapeGuess> guess_file(const std::string& path) {
    if (is_conll_name(path)) return ShapeGuess{RecordShape::tagged, "by its name"};
    if (parallel_paths(path).size() > 1) return guess_records(path);
    const std::vector<std::string> lines = first_lines(path, 2000);
    const auto anywhere = [&](const char* key) {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(key) != std::string::npos;
        });
    };
    if (!lines.empty() && lines[0].starts_with('{') && anywhere("\"paragraphs\""))
        return anywhere("\"qas\"") ? ShapeGuess{RecordShape::questions, "questions in SQuAD's form"}
                                   : ShapeGuess{RecordShape::texts, "contexts in SQuAD's form"};
    if (is_tagged_words(lines)) return ShapeGuess{RecordShape::tagged, "a word and its tag a line"};
    return guess_records(path);
}

}  // namespace

std::optional<ShapeGuess> guess_shape(const std::string& path) {
    // Each look may fail on a file that another one knows.
    const auto guess = [&](const auto& look) -> std::optional<ShapeGuess> {
        try {
            return look(path);
        } catch (const Error&) {
            return {};
        }
    };
    if (const auto boxed = guess(guess_boxed)) return boxed;
    if (const auto masked = guess(guess_masked)) return masked;
    if (!can_be_read_twice(path)) return {};
    if (const auto pictures = guess(guess_pictures)) return pictures;
    return guess(is_folder(path) ? guess_folder : guess_file);
}

}  // namespace fovea
