#include "fovea/data/record_rows.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/data/column_names.h"
#include "fovea/data/csv.h"
#include "fovea/data/folder_rows.h"
#include "fovea/data/json_elements.h"
#include "fovea/data/label_lines.h"

namespace fovea {
namespace {

NextRow table_rows(std::shared_ptr<LineSource> lines, RecordFormat format, bool keep_raw) {
    const std::string* first = lines->peek();
    const char separator = first ? csv_separator(*first) : ',';
    return [lines = std::move(lines), format, keep_raw, separator](Row& row) {
        row = {};
        row.record.path = lines->path();
        row.record.line = lines->line_number() + 1;
        std::string* raw = keep_raw ? &row.record.raw : nullptr;
        auto& fields = row.record.fields;
        const bool more = format == RecordFormat::tsv
                              ? read_tsv_row(*lines, fields, raw)
                              : read_csv_row(*lines, fields, row.problem, raw, separator);
        if (more && row.problem.empty() && fields.size() == 1 && fields[0].empty())
            row.problem = "the line is empty";
        return more;
    };
}

NextRow line_rows(std::shared_ptr<LineSource> lines, bool keep_raw) {
    return [lines = std::move(lines), keep_raw](Row& row) {
        row = {};
        row.record.fields.resize(1);
        if (!lines->next(row.record.fields[0])) return false;
        row.record.path = lines->path();
        row.record.line = lines->line_number();
        if (keep_raw) row.record.raw = row.record.fields[0];
        return true;
    };
}

NextRow label_line_rows(std::shared_ptr<LineSource> lines, LabelPlace place, Columns& columns,
                        bool keep_raw) {
    columns.names = {"label", "text"};
    return [lines = std::move(lines), place, keep_raw](Row& row) {
        row = {};
        std::string line;
        if (!lines->next(line)) return false;
        row.record.path = lines->path();
        row.record.line = lines->line_number();
        const LabelLine found = split_label_line(place, line);
        if (found.labels.empty())
            row.problem = line.empty() ? "the line is empty" : "the line has no label";
        else if (found.text.empty())
            row.problem = "the line is a label without a text";
        const bool several = found.labels.size() > 1;
        if (!found.labels.empty())
            row.record.fields = {several ? to_text(Json(found.labels)) : found.labels[0],
                                 found.text};
        row.record.kinds = {several ? FieldKind::json : FieldKind::text, FieldKind::text};
        if (keep_raw) row.record.raw = std::move(line);
        return true;
    };
}

// JSON lines, or one list of records. The keys become columns in the order they are first seen.
class JsonRows {
public:
    JsonRows(std::shared_ptr<LineSource> lines, Columns& columns, bool keep_raw)
        : elements_(std::move(lines)), columns_(columns), keep_raw_(keep_raw) {}

    bool operator()(Row& row) {
        row = {};
        std::string text;
        if (!elements_.next(text)) return false;
        row.record.path = elements_.path();
        row.record.line = elements_.line_number();
        try {
            fill(row.record, parse_json(text, "the record"));
        } catch (const Error& e) {
            row.problem = e.what();
        }
        if (keep_raw_) row.record.raw = std::move(text);
        return true;
    }

private:
    // A file in which every line has keys of its own must not make every record a wide one.
    static constexpr std::size_t most_keys = 1000;

    // A list has no keys: its columns are numbered.
    void fill(Record& record, Json value) {
        if (value.is_object() && value.contains("translation")) value = Json(value["translation"]);
        expect_input(value.is_object() || value.is_array(), "the record is not a JSON object");
        if (value.is_object())
            for (const auto& [key, field] : value.items()) put(record, key, field);
        else
            for (std::size_t i = 0; i < value.size(); ++i)
                put(record, std::to_string(i + 1), value[i]);
    }

    void put(Record& record, const std::string& key, const Json& value) {
        auto found = place_.find(key);
        if (found == place_.end()) {
            expect_input(place_.size() < most_keys, "the records have more than ", most_keys,
                         " different keys");
            found = place_.emplace(key, columns_.names.size()).first;
            columns_.names.push_back(key);
        }
        const std::size_t at = found->second;
        if (record.fields.size() <= at) {
            record.fields.resize(at + 1);
            record.kinds.resize(at + 1, FieldKind::missing);
        }
        if (value.is_string()) {
            record.fields[at] = value.get<std::string>();
            record.kinds[at] = FieldKind::text;
        } else if (value.is_null()) {
            record.kinds[at] = FieldKind::null;
        } else {
            record.fields[at] = to_text(value);
            record.kinds[at] = FieldKind::json;
        }
    }

    JsonElements elements_;
    Columns& columns_;
    bool keep_raw_;
    std::unordered_map<std::string, std::size_t> place_;
};

// "en" of "a.en" and "a.en.gz".
std::string ending_of(std::string path) {
    if (path.ends_with(".gz")) path.resize(path.size() - 3);
    const std::string name = base_name(path);
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos ? "" : name.substr(dot + 1);
}

NextRow parallel_rows(const std::vector<std::string>& paths, Columns& columns) {
    std::vector<std::shared_ptr<LineSource>> sides;
    std::vector<std::string> endings;
    for (const std::string& path : paths) {
        sides.push_back(std::make_shared<LineSource>(path));
        const std::string ending = ending_of(path);
        if (!ending.empty() && std::find(endings.begin(), endings.end(), ending) == endings.end())
            endings.push_back(ending);
    }
    columns.files = paths;
    if (endings.size() == paths.size()) columns.names = endings;
    return [sides](Row& row) {
        row = {};
        row.record.fields.resize(sides.size());
        const LineSource *ended = nullptr, *goes_on = nullptr;
        for (std::size_t i = 0; i < sides.size(); ++i)
            (sides[i]->next(row.record.fields[i]) ? goes_on : ended) = sides[i].get();
        if (ended && goes_on)
            fail_with(ErrorKind::bad_input, "the sides need the same number of lines",
                      ended->path(), ": ends after line ", ended->line_number(), ", but ",
                      goes_on->path(), " goes on");
        row.record.path = sides[0]->path();
        row.record.line = sides[0]->line_number();
        return goes_on != nullptr;
    };
}

std::vector<std::string> parts_between_commas(const std::string& line) {
    std::vector<std::string> parts(1);
    for (const char c : line) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back().push_back(c);
    }
    return parts;
}

// A stream has no telling name. Commas make it CSV only where columns are needed and there is no
// other sign of them, or where they part the names of a header: they stand in any text.
RecordFormat format_by_first_line(LineSource& lines, const RecordFiles& files) {
    const std::string* first = lines.peek();
    const bool text_file = lines.path().ends_with(".txt") || lines.path().ends_with(".txt.gz");
    const bool tab = first && first->find('\t') != std::string::npos;
    const bool comma = first && first->find(',') != std::string::npos;
    if (first && (first->starts_with("{") || first->starts_with("[{")) && !text_file)
        return RecordFormat::jsonl;
    if (comma && !tab && !text_file &&
        (files.needs_columns || is_header(parts_between_commas(*first), {})))
        return RecordFormat::csv;
    return tab || files.needs_columns ? RecordFormat::tsv : RecordFormat::lines;
}

}  // namespace

NextRow open_rows(const std::string& path, const RecordFiles& files, Columns& columns) {
    columns.format = files.format == RecordFormat::automatic ? format_by_name(path) : files.format;
    if (columns.format == RecordFormat::parallel)
        return parallel_rows(parallel_paths(path), columns);
    if (columns.format == RecordFormat::mails) return mail_rows(path, columns);
    if (columns.format == RecordFormat::class_folders) return class_folder_rows(path, columns);
    LabelPlace place = LabelPlace::none;
    if (columns.format == RecordFormat::label_lines ||
        (columns.format == RecordFormat::automatic && files.lines_may_have_labels &&
         can_be_read_twice(path)))
        place = label_place(first_lines(path, lines_for_a_guess));
    auto lines = std::make_shared<LineSource>(path);
    if (place != LabelPlace::none) {
        columns.format = RecordFormat::label_lines;
        return label_line_rows(std::move(lines), place, columns, files.keep_raw);
    }
    if (columns.format == RecordFormat::automatic)
        columns.format = format_by_first_line(*lines, files);
    if (columns.format == RecordFormat::jsonl)
        return JsonRows(std::move(lines), columns, files.keep_raw);
    if (columns.format == RecordFormat::lines) return line_rows(std::move(lines), files.keep_raw);
    return table_rows(std::move(lines), columns.format, files.keep_raw);
}

}  // namespace fovea
