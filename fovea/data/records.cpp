#include "fovea/data/records.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"
#include "fovea/data/folder_rows.h"
#include "fovea/data/label_lines.h"
#include "fovea/data/line_source.h"
#include "fovea/data/record_rows.h"

namespace fovea {
namespace {

constexpr std::size_t sample_bytes = std::size_t{4} << 20;  // looked at in advance, at most
constexpr std::size_t sample_cell = 200;                    // of one field

bool is_stream(const std::string& path) {
    if (path == "-") return true;
    struct stat s {};
    return ::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

// Of a file whose name says nothing ("train_5500.label", "SMSSpamCollection"): nothing where its
// lines are not all alike.
std::optional<RecordFormat> format_by_lines(const std::string& path) {
    if (!file_exists(path)) return {};
    const std::vector<std::string> lines = first_lines(path, lines_for_a_guess);
    if (label_place(lines) != LabelPlace::none) return RecordFormat::label_lines;
    constexpr std::size_t enough = 10;
    if (lines.size() < enough) return {};
    const auto tabs = [](const std::string& line) {
        return std::count(line.begin(), line.end(), '\t');
    };
    const auto all = [&](const auto& fits) {
        return std::all_of(lines.begin(), lines.end(), fits);
    };
    if (all([&](const std::string& line) { return line.starts_with('{'); }))
        return RecordFormat::jsonl;
    if (tabs(lines[0]) > 0 && all([&](const std::string& l) { return tabs(l) == tabs(lines[0]); }))
        return RecordFormat::tsv;
    return {};
}

bool is_table(RecordFormat f) { return f == RecordFormat::tsv || f == RecordFormat::csv; }

// One file: its rows, some of them read in advance.
class OneFile {
public:
    OneFile(const RecordFiles& files, std::size_t number, BadLines& bad)
        : path_(files.paths[number]), files_(files), bad_(bad) {
        columns_.file = static_cast<std::int64_t>(number);
        next_ = open_rows(path_, files, columns_);
        read_ahead();
        settle_columns();
    }

    // False where `take` wants no more.
    bool give(const TakeRecord& take) {
        for (Row row; next(row);) {
            if (!row.problem.empty()) {
                bad_.add(row.record.path, row.record.line, row.problem);
                continue;
            }
            if (columns_.names.empty()) settle_names(row.record);  // nothing was read ahead
            if (columns_.header && row.record.fields == header_) continue;
            if (columns_.format == RecordFormat::jsonl) {  // later records may have more keys
                row.record.fields.resize(columns_.names.size());
                row.record.kinds.resize(columns_.names.size(), FieldKind::missing);
            }
            if (!take(columns_, std::move(row.record))) return false;
        }
        return true;
    }

private:
    // What goes wrong while rows are read in advance is told when its turn comes.
    void read_ahead() {
        const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(files_.look_ahead, 1));
        std::size_t bytes = 0;
        try {
            for (Row row; ahead_.size() < rows && bytes < sample_bytes && next_(row);) {
                for (const std::string& f : row.record.fields) bytes += f.size() + 32;
                bytes += row.record.raw.size();
                ahead_.push_back(std::move(row));
            }
        } catch (const Error&) {
            failure_ = std::current_exception();
        }
    }

    bool next(Row& row) {
        if (!ahead_.empty()) {
            row = std::move(ahead_.front());
            ahead_.pop_front();
            return true;
        }
        if (failure_) std::rethrow_exception(failure_);
        return next_(row);
    }

    void settle_columns() {
        const Record* first = nullptr;
        for (const Row& row : ahead_) {
            if (!row.problem.empty()) continue;
            if (!first) {
                first = &row.record;
                continue;
            }
            add_to_sample(row.record);
        }
        if (!first) return;
        if (is_table(columns_.format) && is_header_row(*first)) {
            columns_.header = true;
            columns_.header_raw = first->raw;
            columns_.header_line = first->line;
            header_ = first->fields;
            std::erase(columns_.sample, header_);
        } else {
            add_to_sample(*first);
            std::rotate(columns_.sample.begin(), columns_.sample.end() - 1, columns_.sample.end());
        }
        settle_names(*first);
    }

    bool is_header_row(const Record& first) const {
        if (files_.header != HeaderRow::automatic) return files_.header == HeaderRow::yes;
        for (const std::string& key : files_.keys)
            for (const std::string& cell : first.fields)
                if (!key.empty() && !number_of_column(key) && plain_name(cell) == plain_name(key))
                    return true;
        // A single column whose file is not named as a table is text: "Title" may be its first
        // line.
        if (first.fields.size() == 1 && files_.format == RecordFormat::automatic &&
            format_by_name(path_) == RecordFormat::automatic)
            return false;
        return is_header(first.fields, columns_.sample);
    }

    void settle_names(const Record& first) {
        if (!columns_.names.empty()) return;
        for (std::size_t i = 0; i < first.fields.size(); ++i) {
            if (!columns_.header) {
                columns_.names.push_back(std::to_string(i + 1));
                continue;
            }
            const std::string& cell = first.fields[i];
            const std::size_t from = cell.find_first_not_of(" \t");
            columns_.names.push_back(
                from == std::string::npos
                    ? ""
                    : cell.substr(from, cell.find_last_not_of(" \t") + 1 - from));
        }
    }

    void add_to_sample(const Record& record) {
        std::vector<std::string> cut;
        for (const std::string& f : record.fields) cut.push_back(f.substr(0, sample_cell));
        columns_.sample.push_back(std::move(cut));
    }

    const std::string& path_;
    const RecordFiles& files_;
    BadLines& bad_;
    Columns columns_;
    NextRow next_;
    std::deque<Row> ahead_;
    std::exception_ptr failure_;
    std::vector<std::string> header_;
};

}  // namespace

void BadLines::add(const std::string& path, std::int64_t line, const std::string& what,
                   const std::string& hint) {
    const std::string message = text_of(path, ":", line, ": ", what);
    if (problems.skipped >= skip_bad_)
        throw Error(message, ErrorKind::bad_input,
                    skip_bad_ > 0   ? ""
                    : !hint.empty() ? hint
                                    : "mend the line, or pass over some with --skip-bad N");
    ++problems.skipped;
    if (static_cast<int>(problems.first.size()) < keep_messages_) problems.first.push_back(message);
}

std::vector<std::string> parallel_paths(const std::string& path) {
    if (path.find(',') == std::string::npos || file_exists(path)) return {path};
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= path.size();) {
        const std::size_t end = std::min(path.find(',', from), path.size());
        parts.push_back(path.substr(from, end - from));
        from = end + 1;
    }
    return parts;
}

RecordFormat format_by_name(const std::string& path) {
    if (parallel_paths(path).size() > 1) return RecordFormat::parallel;
    if (is_folder(path)) return format_of_folder(path);
    std::string name = path;
    if (name.ends_with(".gz")) name.resize(name.size() - 3);
    if (name.ends_with(".jsonl") || name.ends_with(".json")) return RecordFormat::jsonl;
    if (name.ends_with(".csv")) return RecordFormat::csv;
    if (name.ends_with(".tsv")) return RecordFormat::tsv;
    if (name.ends_with(".txt") || is_stream(path)) return RecordFormat::automatic;
    if (const auto format = format_by_lines(path)) return *format;
    fail_with(ErrorKind::usage,
              "name it .tsv, .csv, .jsonl or .txt (.gz), or give two files: "
              "source.txt,target.txt, or a folder of .subject files or of one folder per class",
              path, ": cannot tell what kind of file this is by its name");
}

bool can_be_read_twice(const std::string& path) {
    const auto parts = parallel_paths(path);
    return std::none_of(parts.begin(), parts.end(), is_stream);
}

void for_each_record(const RecordFiles& files, BadLines& bad, const TakeRecord& take) {
    std::int64_t given = 0;
    const TakeRecord counted = [&](const Columns& columns, Record&& record) {
        return take(columns, std::move(record)) && (files.limit == 0 || ++given < files.limit);
    };
    for (std::size_t i = 0; i < files.paths.size(); ++i)
        if (!OneFile(files, i, bad).give(counted)) return;
}

Problems for_each_record(const RecordFiles& files, const TakeRecord& take) {
    BadLines bad(files.skip_bad, files.keep_messages);
    for_each_record(files, bad, take);
    return std::move(bad.problems);
}

}  // namespace fovea
