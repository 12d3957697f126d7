#include "fovea/data/folder_rows.h"

#include <memory>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/data/emails.h"
#include "fovea/data/pairs.h"

namespace fovea {
namespace {

constexpr std::int64_t longest_text = std::int64_t{16} << 20;

bool has_ending(const std::string& name, const std::string& ending) {
    return name.ends_with(ending) || name.ends_with(ending + ".gz");
}

std::vector<std::string> mails_of(const std::string& folder) {
    std::vector<std::string> paths;
    for (const std::string& name : list_folder(folder))
        if (has_ending(name, ".subject")) paths.push_back(join_path(folder, name));
    return paths;
}

std::vector<std::string> texts_by_class(const std::string& folder) {
    std::vector<std::string> paths;
    for (const std::string& label : list_folder(folder)) {
        const std::string inner = join_path(folder, label);
        if (!is_folder(inner)) continue;
        for (const std::string& name : list_folder(inner))
            if (has_ending(name, ".txt")) paths.push_back(join_path(inner, name));
    }
    return paths;
}

// A sub-folder without a text is a class nobody can learn, or a folder that does not belong here.
void refuse_empty_classes(const std::string& folder) {
    for (const std::string& label : list_folder(folder)) {
        const std::string inner = join_path(folder, label);
        if (label.starts_with(".") || !is_folder(inner)) continue;
        bool some = false;
        for (const std::string& name : list_folder(inner)) some = some || has_ending(name, ".txt");
        if (!some)
            fail_with(ErrorKind::bad_input,
                      "each sub-folder is a class: put texts into it, or take it away", inner,
                      ": holds no .txt file");
    }
}

// Calls `fill` for each file in turn with its number, from 1.
NextRow file_rows(std::vector<std::string> paths,
                  const std::function<void(const std::string& text, Row&)>& fill) {
    auto all = std::make_shared<const std::vector<std::string>>(std::move(paths));
    return [all, fill, at = std::size_t{0}](Row& row) mutable {
        if (at == all->size()) return false;
        row = {};
        row.record.path = (*all)[at++];
        row.record.line = static_cast<std::int64_t>(at);
        const std::string text = read_file_or_gzip(row.record.path, longest_text);
        if (is_utf8(text)) {
            fill(text, row);
        } else {
            row.record.line = 1;
            row.problem = "the text is not valid UTF-8";
        }
        return true;
    };
}

}  // namespace

NextRow mail_rows(const std::string& folder, Columns& columns) {
    columns.names = {"body", "subject", "annotations"};
    return file_rows(mails_of(folder), [](const std::string& text, Row& row) {
        Email mail;
        std::int64_t line = 1;
        if (!parse_email(text, mail, line, row.problem)) {
            row.record.line = line;
            return;
        }
        row.record.fields = {std::move(mail.body), std::move(mail.subject),
                             to_text(Json(mail.annotations))};
        row.record.kinds = {FieldKind::text, FieldKind::text, FieldKind::json};
    });
}

NextRow class_folder_rows(const std::string& folder, Columns& columns) {
    refuse_empty_classes(folder);
    columns.names = {"text", "label"};
    return file_rows(texts_by_class(folder), [](const std::string& text, Row& row) {
        const std::size_t end = text.find_last_not_of("\r\n");
        row.record.fields = {text.substr(0, end == std::string::npos ? 0 : end + 1),
                             base_name(parent_path(row.record.path))};
    });
}

RecordFormat format_of_folder(const std::string& folder) {
    if (!mails_of(folder).empty()) return RecordFormat::mails;
    if (!texts_by_class(folder).empty()) return RecordFormat::class_folders;
    fail_with(ErrorKind::bad_input,
              "a folder holds .subject files, or a sub-folder of .txt files for each class", folder,
              ": holds no record");
}

std::vector<std::string> files_of_folder(const std::string& folder) {
    return format_of_folder(folder) == RecordFormat::mails ? mails_of(folder)
                                                           : texts_by_class(folder);
}

}  // namespace fovea
