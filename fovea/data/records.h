#pragma once
// Records: the rows of somebody's file, with their place in it. Read from TSV, CSV, JSON lines,
// plain lines, parallel files ("a.en,a.de"), folders of mails (see emails.h) and folders with one
// sub-folder per class. Pairs and labelled texts are mappings of records. A path may be "-"
// (standard input) and any file may be gzipped. Files are read as a stream; only the first rows
// are looked at in advance, to tell a header from a record. Errors name file and line.
// Not thread-safe: one reader belongs to one thread.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fovea {

enum class RecordFormat {
    automatic,     // by the name: .tsv .csv .jsonl .json .txt (.gz), a comma, a folder; a stream
                   // (standard input, a pipe) by its first line, another name by many lines
    tsv,           // columns between tabs, no quoting
    csv,           // RFC 4180; semicolons or tabs where the first line has no comma
    jsonl,         // one JSON object (or list) per line, or a list of them
    lines,         // each line is one text
    label_lines,   // each line has its label in it (label_lines.h); columns label, text
    parallel,      // "a.en,a.de": line i of each file
    mails,         // a folder of *.subject files; columns body, subject, annotations
    class_folders  // FOLDER/label/*.txt; columns text, label
};

// What a field was in its file. In JSON lines a number, a list or an object is kept as its JSON
// text (so the list of tags ["a","b"] is the field `["a","b"]`); everywhere else a field is text.
enum class FieldKind : std::uint8_t { text, json, null, missing };

struct Record {
    std::vector<std::string> fields;  // in the order of Columns::names; a short row has fewer
    std::string path;                 // the file (the first of parallel ones; the mail)
    std::int64_t line = 0;  // from 1, of the record's first line; in a folder: which file it is
    std::vector<FieldKind> kinds = {};  // JSON lines only: one for each field
    std::string raw = {};               // with RecordFiles::keep_raw: the lines it was read from

    FieldKind kind(std::size_t column) const {
        if (column >= fields.size()) return FieldKind::missing;
        return column < kinds.size() ? kinds[column] : FieldKind::text;
    }
};

struct Columns {  // of one file
    // Of the header row, the JSON keys (in the order they are first seen), the endings of parallel
    // files where they differ, or "1", "2", …
    std::vector<std::string> names;
    std::int64_t file = 0;         // which of RecordFiles::paths, from 0
    bool header = false;           // the first row names the columns; it is not a record
    std::string header_raw = {};   // that row's text, with RecordFiles::keep_raw
    std::int64_t header_line = 0;  // and its line
    RecordFormat format = RecordFormat::automatic;  // what it was found to be
    std::vector<std::string> files = {};            // parallel: the file of each column
    // The first records (RecordFiles::look_ahead), for guesses about columns. Long fields are cut.
    std::vector<std::vector<std::string>> sample = {};
};

enum class HeaderRow { automatic, yes, no };

struct RecordFiles {
    std::vector<std::string> paths;  // read one after the other
    RecordFormat format = RecordFormat::automatic;
    HeaderRow header = HeaderRow::automatic;  // of TSV and CSV
    std::vector<std::string> keys = {};  // columns the caller will ask for: a row with one of these
                                         // names is a header
    bool needs_columns = false;  // a stream or .txt is TSV even if its first line has no tab
    bool lines_may_have_labels = false;  // a .txt may be label_lines
    bool keep_raw = false;               // fill Record::raw
    std::int64_t look_ahead = 1000;  // rows read before the first is handed on; 0 when typed input
                                     // is to be answered line by line
    std::int64_t skip_bad = 0;       // so many bad lines are passed over instead of ending the run
    std::int64_t limit = 0;          // only the first so many records; 0: all
    int keep_messages = 5;           // of the bad lines passed over
};

struct Problems {
    std::int64_t skipped = 0;
    std::vector<std::string> first;  // messages of bad lines, up to keep_messages
    std::vector<std::string> notes;  // what was guessed: "a.csv: source from column 'english', …"
};

// Counts bad lines: passed over up to the limit, then an error. A mapping of records shares one
// with the reader, so that --skip-bad counts a bad row wherever it was found to be bad.
class BadLines {
public:
    explicit BadLines(std::int64_t skip_bad, int keep_messages = 5)
        : skip_bad_(skip_bad), keep_messages_(keep_messages) {}
    void add(const std::string& path, std::int64_t line, const std::string& what,
             const std::string& hint = {});
    Problems problems;

private:
    std::int64_t skip_bad_;
    int keep_messages_;
};

using TakeRecord = std::function<bool(const Columns&, Record&&)>;  // false: stop

// Calls `take` for every record, in order. Throws bad_input at the first bad line beyond skip_bad:
// broken JSON or quoting, an empty line in a table; and where parallel files differ in length.
Problems for_each_record(const RecordFiles& files, const TakeRecord& take);
// The same with the caller's count of bad lines (skip_bad and keep_messages are its own).
void for_each_record(const RecordFiles& files, BadLines& bad, const TakeRecord& take);

// The format of one path. `.txt` and streams: automatic, which only their first line can settle.
// A file with another name is looked at: its first lines must all be of one form.
RecordFormat format_by_name(const std::string& path);
// A regular file, parallel ones or a folder: not standard input or a pipe, which can be read once.
bool can_be_read_twice(const std::string& path);
// "a.en,a.de" as two; a path without a comma, or a file that exists by that very name, as one.
std::vector<std::string> parallel_paths(const std::string& path);

}  // namespace fovea
