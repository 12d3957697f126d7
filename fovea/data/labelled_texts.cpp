#include "fovea/data/labelled_texts.h"

#include <algorithm>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/data/column_names.h"
#include "fovea/data/label_columns.h"
#include "fovea/data/pairs.h"

namespace fovea {
namespace {

// What is wrong with the fields that are to be read, or nothing.
std::string problem_with_texts(const Columns& columns, const Record& record,
                               const LabelColumns& chosen) {
    for (const std::size_t column : chosen.texts) {
        const FieldKind kind = record.kind(column);
        if (columns.format == RecordFormat::jsonl && kind != FieldKind::text)
            return "no text under \"" + columns.names[column] + "\"";
        if (kind == FieldKind::missing)
            return text_of(record.fields.size(), record.fields.size() == 1 ? " column" : " columns",
                           ", but ", std::max(column + 1, columns.names.size()), " are wanted");
        if (!is_utf8(record.fields[column])) return "the text is not valid UTF-8";
    }
    return "";
}

// Of a field that is not UTF-8: what it looks like, and how to convert the file.
std::string hint_for(const Record& record) {
    for (const std::string& field : record.fields)
        if (!is_utf8(field)) return encoding_hint(field, record.path);
    return "";
}

std::vector<std::string> texts_of(const Record& record, const LabelColumns& chosen) {
    std::vector<std::string> texts;
    for (const std::size_t column : chosen.texts) texts.push_back(record.fields[column]);
    return texts;
}

std::string trimmed_label(const std::string& text) {
    const std::size_t from = text.find_first_not_of(" \t\r\n");
    if (from == std::string::npos) return "";
    return text.substr(from, text.find_last_not_of(" \t\r\n") + 1 - from);
}

// The labels of a field: a JSON list, or text between separators.
std::vector<std::string> labels_of(const std::string& field, FieldKind kind,
                                   const std::string& separator) {
    std::vector<std::string> labels;
    if (kind == FieldKind::json && field.starts_with("[")) {
        for (const Json& item : parse_json(field, "the label"))
            labels.push_back(item.is_string() ? trimmed_label(item.get<std::string>())
                                              : to_text(item));
        return labels;
    }
    for (std::size_t from = 0; from <= field.size();) {
        const std::size_t end =
            separator.empty() ? field.size() : std::min(field.find(separator, from), field.size());
        labels.push_back(trimmed_label(field.substr(from, end - from)));
        from = end + std::max<std::size_t>(separator.size(), 1);
    }
    return labels;
}

// In JSON lines: what a label is.
std::string type_of_label(const std::string& field, FieldKind kind) {
    if (kind == FieldKind::text) return "text";
    if (field.starts_with("[")) return "a list";
    if (field.starts_with("{")) return "an object";
    return field == "true" || field == "false" ? "true or false" : "a number";
}

class LabelMapping {
public:
    LabelMapping(const LabelledFiles& files, BadLines& bad, const TakeLabelled& take)
        : files_(files), bad_(bad), take_(take) {}

    bool operator()(const Columns& columns, Record&& record) {
        if (columns.file != file_) {
            file_ = columns.file;
            type_.clear();
            chosen_ = choose_label_columns(columns, record.path,
                                           {.texts = files_.text_keys, .label = files_.label_key});
            if (!chosen_.note.empty()) bad_.problems.notes.push_back(chosen_.note);
        }
        std::vector<std::string> labels;
        if (const std::string problem = problem_of(columns, record, labels); !problem.empty()) {
            bad_.add(record.path, record.line, problem, hint_for(record));
            return true;
        }
        const bool more = take_(
            {texts_of(record, chosen_), std::move(labels), std::move(record.path), record.line});
        return more && (files_.limit == 0 || ++given_ < files_.limit);
    }

private:
    // Labels of two types (1 and "1") are a mistake somewhere.
    std::string problem_with_type(const Record& record, FieldKind kind) {
        const std::string type = type_of_label(record.fields[chosen_.label], kind);
        if (type == "an object") return "the label is an object, but text or a list is wanted";
        if (type == "a list") return "";  // of one or more, beside single ones
        if (type_.empty()) type_ = type, type_line_ = record.line;
        if (type == type_) return "";
        return text_of("the label is ", type, ", but ", type_, " in line ", type_line_);
    }

    std::string problem_of(const Columns& columns, const Record& record,
                           std::vector<std::string>& labels) {
        if (std::string p = problem_with_texts(columns, record, chosen_); !p.empty()) return p;
        const FieldKind kind = record.kind(chosen_.label);
        if (kind == FieldKind::missing && columns.format != RecordFormat::jsonl)
            return problem_with_texts(columns, record, {.texts = {chosen_.label}});
        if (kind == FieldKind::missing || kind == FieldKind::null)
            return "no label under \"" + columns.names[chosen_.label] + "\"";
        if (!is_utf8(record.fields[chosen_.label])) return "the label is not valid UTF-8";
        if (columns.format == RecordFormat::jsonl)
            if (std::string p = problem_with_type(record, kind); !p.empty()) return p;
        labels = labels_of(record.fields[chosen_.label], kind, files_.label_separator);
        if (files_.allow_none && labels == std::vector<std::string>{""}) labels.clear();
        if (files_.allow_none && labels.empty()) return "";
        const bool bad = labels.empty() || std::count(labels.begin(), labels.end(), "") > 0;
        return bad ? "the label is empty" : "";
    }

    const LabelledFiles& files_;
    BadLines& bad_;
    const TakeLabelled& take_;
    std::int64_t file_ = -1;  // the one the columns were chosen for
    LabelColumns chosen_;
    std::string type_;  // of the file's first label, in JSON lines
    std::int64_t type_line_ = 0;
    std::int64_t given_ = 0;
};

// "target" beside "source" is no label, nor is "topic" beside "english" and "german".
bool has_names_of_pairs(const Columns& columns) {
    std::int64_t languages = 0;
    for (const std::string& name : columns.names) {
        const std::string plain = plain_name(name);
        if (plain == "source" || plain == "src") return true;
        languages += is_language_name(plain);
    }
    return languages >= 2;
}

RecordFiles record_files_of_labelled(const LabelledFiles& files) {
    RecordFiles r;
    r.paths = files.paths;
    r.format = files.format;
    r.header = files.header;
    r.keys = files.text_keys;
    r.keys.push_back(files.label_key);
    r.needs_columns = true;
    r.lines_may_have_labels = true;
    r.skip_bad = files.skip_bad;
    r.keep_messages = files.keep_messages;
    return r;
}

}  // namespace

Problems for_each_labelled(const LabelledFiles& files, const TakeLabelled& take) {
    BadLines bad(files.skip_bad, files.keep_messages);
    LabelMapping mapping(files, bad, take);
    for_each_record(record_files_of_labelled(files), bad, std::ref(mapping));
    return std::move(bad.problems);
}

std::vector<LabelledText> read_labelled(const LabelledFiles& files, Problems* problems) {
    std::vector<LabelledText> all;
    Problems p = for_each_labelled(files, [&](LabelledText&& text) {
        all.push_back(std::move(text));
        return true;
    });
    if (problems) *problems = std::move(p);
    if (all.empty())
        throw Error((files.paths.empty() ? "the data" : files.paths.front()) + ": holds no text",
                    ErrorKind::bad_input);
    return all;
}

Problems for_each_text(const RecordFiles& files, const std::vector<std::string>& text_keys,
                       const TakeText& take) {
    RecordFiles records = files;
    records.keys.insert(records.keys.end(), text_keys.begin(), text_keys.end());
    records.limit = 0;  // counted here: a bad line is none
    BadLines bad(files.skip_bad, files.keep_messages);
    std::int64_t file = -1, given = 0;
    LabelColumns chosen;
    for_each_record(records, bad, [&](const Columns& columns, Record&& record) {
        if (columns.file != file) {
            file = columns.file;
            chosen = choose_label_columns(columns, record.path,
                                          {.texts = text_keys, .label = {}, .wants_label = false});
            if (!chosen.note.empty()) bad.problems.notes.push_back(chosen.note);
        }
        if (const auto problem = problem_with_texts(columns, record, chosen); !problem.empty()) {
            bad.add(record.path, record.line, problem, hint_for(record));
            return true;
        }
        TextRecord text{texts_of(record, chosen), std::move(record)};
        return take(columns, std::move(text)) && (files.limit == 0 || ++given < files.limit);
    });
    return std::move(bad.problems);
}

bool looks_labelled(const Columns& columns) {
    if (columns.format == RecordFormat::class_folders ||
        columns.format == RecordFormat::label_lines)
        return true;
    if (columns.format == RecordFormat::mails || columns.format == RecordFormat::parallel)
        return false;
    const bool numbered = !columns.names.empty() && columns.names[0] == "1";  // lists, no keys
    if (columns.header || (columns.format == RecordFormat::jsonl && !numbered)) {
        const auto label = named_label_column(columns);
        if (has_names_of_pairs(columns)) return false;
        if (!label) return telling_label_column(columns).has_value();
        const auto values = different_short_values(columns, *label);
        return values && (columns.sample.size() < 20 || *values * 2 <= columns.sample.size());
    }
    if (columns.sample.size() < 50 || columns.names.size() < 2) return false;
    for (std::size_t i = 0; i < columns.names.size(); ++i)
        if (const auto v = different_short_values(columns, i);
            v && *v * 10 <= columns.sample.size())
            return true;
    return telling_label_column(columns).has_value();
}

}  // namespace fovea
