#include "fovea/data/rewrite.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "fovea/base/atomic_file.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"
#include "fovea/data/label_columns.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/pair_columns.h"
#include "fovea/data/split.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

RecordFiles records_to_rewrite(const RewriteFiles& files) {
    RecordFiles r;
    r.paths = {files.path};
    r.format = files.format;
    r.header = files.header;
    r.keys = {files.source_key};
    r.keep_raw = true;
    r.skip_bad = files.skip_bad;
    if (is_folder(files.path))
        fail_with(ErrorKind::usage, "give a .tsv, .csv, .jsonl or .txt, or parallel files",
                  files.path, ": is a folder, but files of records are wanted here");
    return r;
}

// What a record says, in a form in which different records differ.
class Content {
public:
    explicit Content(const RewriteFiles& files) : files_(files) {}

    std::string operator()(const Columns& columns, const Record& record) {
        if (files_.by == SameBy::source) {
            if (!source_) source_ = source_column(columns, record);
            return *source_ < record.fields.size() ? record.fields[*source_] : "";
        }
        std::string all;
        for (std::size_t i = 0; i < record.fields.size(); ++i) {
            if (record.kind(i) == FieldKind::missing) continue;
            if (columns.format == RecordFormat::jsonl) all.append(std::to_string(i)).append("=");
            all.append(std::to_string(record.fields[i].size())).append(":");
            all.append(record.fields[i]);
        }
        return all;
    }

private:
    std::size_t source_column(const Columns& columns, const Record& record) const {
        if (!files_.source_key.empty()) return column_of(columns, record.path, files_.source_key);
        if (columns.names.size() == 1) return 0;
        if (looks_labelled(columns))
            return choose_label_columns(columns, record.path, {}).texts.front();
        return choose_pair_columns(columns, record, "", "").source;
    }

    const RewriteFiles& files_;
    std::optional<std::size_t> source_;
};

// The text of a record for one side, with its line end.
std::string text_of_side(const Columns& columns, const Record& record, std::size_t side) {
    return (columns.files.empty() ? record.raw : record.fields[side]) + "\n";
}

std::size_t sides_of(const Columns& columns) {
    return std::max<std::size_t>(columns.files.size(), 1);
}

// ".tsv"; of parallel files ".en" and ".de".
std::vector<std::string> endings_of(const RewriteFiles& files, RecordFormat format) {
    const auto parts = parallel_paths(files.path);
    std::vector<std::string> endings;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string name = base_name(parts[i]);
        if (name.ends_with(".gz")) name.resize(name.size() - 3);
        const std::size_t dot = name.rfind('.');
        std::string ending = dot == std::string::npos ? "" : name.substr(dot);
        if (ending.empty() && parts.size() == 1)
            ending = format == RecordFormat::jsonl ? ".jsonl"
                     : format == RecordFormat::csv ? ".csv"
                     : format == RecordFormat::lines || format == RecordFormat::label_lines
                         ? ".txt"
                         : ".tsv";
        if (ending.empty() || std::count(endings.begin(), endings.end(), ending) > 0)
            ending = text_of(".", i + 1, ending.empty() ? ".txt" : ending);
        endings.push_back(std::move(ending));
    }
    return endings;
}

// The files of all sets in the making.
class SetWriters {
public:
    SetWriters(const RewriteFiles& files, const SplitOptions& options, RecordFormat format) {
        const std::vector<std::string> endings = endings_of(files, format);
        const auto add = [&](const char* name) {
            report.sets.push_back({name, {}, 0});
            for (const std::string& ending : endings)
                report.sets.back().paths.push_back(join_path(options.out_folder, name + ending));
        };
        add("train");
        for (const auto& [name, size] : {std::pair{"dev", options.dev}, {"test", options.test}})
            if (size.share > 0 || size.count > 0) add(name);
        for (const auto& set : report.sets)
            for (const std::string& path : set.paths)
                if (!options.force && file_exists(path))
                    fail_with(ErrorKind::usage, "choose another --out-dir, or add --force", path,
                              ": is there already");
        make_folders(options.out_folder);
        for (const auto& set : report.sets)
            for (const std::string& path : set.paths)
                writers_.push_back(std::make_unique<AtomicFile>(path));
    }

    void header(const Columns& columns) {
        if (!columns.header) return;
        for (const auto& writer : writers_) writer->write(columns.header_raw + "\n");
    }

    void write(std::size_t set, std::size_t side, std::string_view text) {
        const std::size_t sides = report.sets[0].paths.size();
        writers_[set * sides + side]->write(text);
    }

    void publish() {
        for (const auto& writer : writers_) writer->finish();   // all of them are whole …
        for (const auto& writer : writers_) writer->publish();  // … before the first has its name
    }

    SplitReport report;

private:
    std::vector<std::unique_ptr<AtomicFile>> writers_;
};

// What the first reading leaves.
struct FirstReading {
    std::vector<std::uint64_t> hashes;
    Columns columns;
    std::vector<std::vector<std::string>> kept;  // the texts, where there is no second reading
    Problems problems;
};

FirstReading read_first(const RewriteFiles& files) {
    FirstReading first;
    const bool keep = !can_be_read_twice(files.path);
    Content content(files);
    first.problems =
        for_each_record(records_to_rewrite(files), [&](const Columns& columns, Record&& record) {
            if (first.hashes.empty()) first.columns = columns;
            first.hashes.push_back(key_of(content(columns, record)).low);
            if (!keep) return true;
            first.kept.emplace_back();
            for (std::size_t side = 0; side < sides_of(columns); ++side)
                first.kept.back().push_back(text_of_side(columns, record, side));
            return true;
        });
    expect_input(!first.hashes.empty(), files.path, ": holds no record");
    return first;
}

}  // namespace

std::int64_t HeldOutSize::of(std::int64_t records) const {
    if (count > 0) return count;
    return static_cast<std::int64_t>(std::floor(share * static_cast<double>(records) + 1e-9));
}

HeldOutSize held_out_size(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const std::string rest = end;
    const bool percent = rest == "%" || rest == " %";
    if (percent && value > 0 && value < 100) return {.share = value / 100};
    if (rest.empty() && value >= 1 && value < 1e15 && value == std::floor(value))
        return {.count = static_cast<std::int64_t>(value)};
    fail_with(ErrorKind::usage, "write a share such as 5% or a number of records such as 1000", "`",
              text, "` is no size of a held-out set");
}

SplitReport split_file(const RewriteFiles& files, const SplitOptions& options) {
    const FirstReading first = read_first(files);
    const auto records = static_cast<std::int64_t>(first.hashes.size());
    std::vector<std::int64_t> sizes;
    for (const HeldOutSize& size : {options.dev, options.test})
        if (size.share > 0 || size.count > 0) sizes.push_back(size.of(records));
    std::int64_t held_out = 0;
    for (const std::int64_t size : sizes) held_out += std::min(size, records);
    if (held_out >= records)
        fail_with(ErrorKind::usage, "hold out fewer", files.path, ": has ", records,
                  " records; nothing would be left to train on");
    SetWriters writers(files, options, first.columns.format);
    const std::vector<std::uint8_t> sets = split_into(first.hashes, sizes, options.seed);
    writers.header(first.columns);
    std::size_t at = 0;
    const auto take = [&](const Columns& columns, Record&& record) {
        expect(at < sets.size(), files.path, ": has changed while it was split");
        for (std::size_t side = 0; side < sides_of(columns); ++side)
            writers.write(sets[at], side, text_of_side(columns, record, side));
        ++at;
        return true;
    };
    if (first.kept.empty()) {
        for_each_record(records_to_rewrite(files), take);
    } else {
        for (; at < first.kept.size(); ++at)
            for (std::size_t side = 0; side < first.kept[at].size(); ++side)
                writers.write(sets[at], side, first.kept[at][side]);
    }
    expect(at == sets.size(), files.path, ": has changed while it was split");
    for (const std::uint8_t set : sets) ++writers.report.sets[set].records;
    writers.publish();
    writers.report.problems = first.problems;
    return std::move(writers.report);
}

DedupeReport dedupe_file(const RewriteFiles& files,
                         const std::function<void(std::size_t, std::string_view)>& write) {
    DedupeReport report;
    Content content(files);
    std::unordered_set<Key128, Key128::Hash> seen;
    report.problems =
        for_each_record(records_to_rewrite(files), [&](const Columns& columns, Record&& record) {
            if (report.records++ == 0 && columns.header) write(0, columns.header_raw + "\n");
            if (!seen.insert(key_of(content(columns, record))).second) return true;
            ++report.kept;
            for (std::size_t side = 0; side < sides_of(columns); ++side)
                write(side, text_of_side(columns, record, side));
            return true;
        });
    return report;
}

}  // namespace fovea
