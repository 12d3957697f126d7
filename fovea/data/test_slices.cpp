#include "fovea/data/test_slices.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"
#include "fovea/data/conll.h"
#include "fovea/data/label_columns.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/pair_columns.h"
#include "fovea/data/records.h"
#include "fovea/data/text_stats.h"

namespace fovea {
namespace {

struct TestFile {
    Columns columns;
    std::vector<Record> records;  // with their raw text
    std::size_t input = 0;        // column
    std::string sentences = {};   // of tagged words: the ending of such files
    bool names_files = false;     // the input is a sound or a picture, not a text
};

std::size_t input_column(const Columns& columns, const Record& first) {
    try {
        if (looks_labelled(columns))
            return choose_label_columns(columns, first.path, {.texts = {}, .label = {}}).texts[0];
        if (columns.names.size() > 1) return choose_pair_columns(columns, first, {}, {}).source;
    } catch (const Error&) {
    }
    return 0;
}

// Lines up to an empty one are a record; its input is the words of its first column.
TestFile sentences_in(const std::string& path) {
    TestFile file;
    file.sentences = path.find(".conllu") != std::string::npos ? ".conllu" : ".conll";
    Record sentence;
    sentence.fields = {""};
    LineReader lines(path);
    const auto end = [&] {
        if (!sentence.fields[0].empty()) file.records.push_back(sentence);
        sentence.raw = sentence.fields[0] = "";
    };
    for (std::string line; lines.next(line);) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            end();
            continue;
        }
        sentence.raw += line + "\n";
        if (line[0] != '#') sentence.fields[0] += line.substr(0, line.find_first_of(" \t")) + " ";
    }
    end();
    return file;
}

std::string plain_cell(std::string text) {
    for (char& c : text)
        if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    return text;
}

// A record as a line: named columns as JSON, others between tabs.
std::string line_of(const Columns& columns, const Record& record, bool named) {
    std::string text;
    Json object = Json::object();
    for (std::size_t k = 0; k < record.fields.size(); ++k) {
        if (!named)
            text += (k ? "\t" : "") + plain_cell(record.fields[k]);
        else if (record.kind(k) == FieldKind::json)
            object[columns.names[k]] = parse_json(record.fields[k], "the record");
        else if (record.kind(k) == FieldKind::text)
            object[columns.names[k]] = record.fields[k];
    }
    return named ? to_text(object) : text;
}

// Files that a table names lie relative to it, and a slice lies elsewhere: there they are absolute.
void name_files_in_full(TestFile& file, const std::string& path) {
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    const auto is_there = [&](const std::string& name) {
        std::error_code none;
        return !name.empty() && name.size() < 4096 &&
               std::filesystem::is_regular_file(folder / name, none);
    };
    const std::vector<std::string> first = file.records[0].fields;
    for (std::size_t k = 0; k < first.size(); ++k) {
        if (!is_there(first[k])) continue;
        file.names_files = file.names_files || k == file.input;
        for (Record& r : file.records)
            if (k < r.fields.size() && is_there(r.fields[k]))
                r.fields[k] = (folder / r.fields[k]).lexically_normal().string();
    }
    if (!file.names_files) return;
    const bool named = file.columns.header || file.columns.format == RecordFormat::jsonl;
    for (Record& r : file.records) r.raw = line_of(file.columns, r, named);
    file.columns.header = false;
    file.columns.format = named ? RecordFormat::jsonl : RecordFormat::tsv;
}

std::optional<TestFile> read_test_file(const std::string& path) {
    if (is_folder(path) || !can_be_read_twice(path) || parallel_paths(path).size() > 1) return {};
    TestFile file;
    if (is_conll_name(path)) {
        file = sentences_in(path);
        if (file.records.size() < 2) return {};
        return file;
    }
    RecordFiles files;
    files.paths = {path};
    files.keep_raw = true;
    files.skip_bad = INT64_MAX;
    try {
        for_each_record(files, [&](const Columns& columns, Record&& record) {
            if (file.records.empty()) file.input = input_column(columns, record);
            file.columns = columns;
            file.records.push_back(std::move(record));
            return true;
        });
    } catch (const Error& e) {  // no records at all (pictures in one file): the task can read it
        if (e.kind() != ErrorKind::usage) throw;
        return {};
    }
    const RecordFormat format = file.columns.format;
    const bool table =
        format == RecordFormat::tsv || format == RecordFormat::csv || format == RecordFormat::jsonl;
    if (!table || file.records.size() < 2) return {};
    name_files_in_full(file, path);
    return file;
}

std::string ending_of(const TestFile& file) {
    if (!file.sentences.empty()) return file.sentences;
    return file.columns.format == RecordFormat::tsv   ? ".tsv"
           : file.columns.format == RecordFormat::csv ? ".csv"
                                                      : ".jsonl";
}

TestSlice write_slice(const TestFile& file, const std::vector<std::size_t>& chosen,
                      const std::string& name, const std::string& path) {
    std::string text;
    if (file.columns.header) text = file.columns.header_raw + "\n";
    for (const std::size_t i : chosen) text += file.records[i].raw + "\n";
    write_file_atomically(path + ending_of(file), text);
    return {name, path + ending_of(file), static_cast<std::int64_t>(chosen.size())};
}

const std::string& input_of(const TestFile& file, std::size_t i) {
    static const std::string nothing;
    const auto& fields = file.records[i].fields;
    return file.input < fields.size() ? fields[file.input] : nothing;
}

std::string words_text(std::int64_t from, std::int64_t to) {
    if (from < to) return fmt::format("{}-{} words", from, to);
    return fmt::format("{} word{}", from, from == 1 ? "" : "s");
}

// Records of one length stay together, so that the classes can be named.
std::vector<TestSlice> length_slices(const TestFile& file, const std::string& folder, int classes) {
    std::vector<std::size_t> order(file.records.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto words = [&](std::size_t i) {
        if (file.records[i].kind(file.input) != FieldKind::json)
            return count_words(input_of(file, i));
        return static_cast<std::int64_t>(parse_json(input_of(file, i), "the record").size());
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return words(a) < words(b); });
    std::vector<TestSlice> slices;
    std::size_t begin = 0;
    for (int c = 1; c <= classes && begin < order.size(); ++c) {
        std::size_t end = std::max(begin + 1, order.size() * static_cast<std::size_t>(c) /
                                                  static_cast<std::size_t>(classes));
        while (end < order.size() && words(order[end]) == words(order[end - 1])) ++end;
        const std::vector<std::size_t> chosen(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                              order.begin() + static_cast<std::ptrdiff_t>(end));
        slices.push_back(write_slice(file, chosen,
                                     words_text(words(chosen.front()), words(chosen.back())),
                                     join_path(folder, fmt::format("length-{}", c))));
        begin = end;
    }
    return slices;
}

std::vector<TestSlice> part_slices(const TestFile& file, const std::string& folder, int parts) {
    std::vector<std::vector<std::size_t>> chosen(static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < file.records.size(); ++i) chosen[i % chosen.size()].push_back(i);
    std::vector<TestSlice> slices;
    for (std::size_t p = 0; p < chosen.size(); ++p)
        if (!chosen[p].empty())
            slices.push_back(write_slice(file, chosen[p], fmt::format("part {}", p + 1),
                                         join_path(folder, fmt::format("part-{}", p + 1))));
    return slices;
}

// Named columns become JSON lines, others a table between tabs.
TestSlice noisy_slice(const TestFile& file, const std::string& folder, const SliceOptions& o) {
    const bool named = file.columns.header || file.columns.format == RecordFormat::jsonl;
    std::string text;
    for (std::size_t i = 0; i < file.records.size(); ++i) {
        Record noisy = file.records[i];
        if (file.input < noisy.fields.size())
            noisy.fields[file.input] =
                with_typing_errors(noisy.fields[file.input], o.noise, o.seed + i);
        text += line_of(file.columns, noisy, named) + "\n";
    }
    const std::string path = join_path(folder, named ? "noisy.jsonl" : "noisy.tsv");
    write_file_atomically(path, text);
    return {"typing errors", path, static_cast<std::int64_t>(file.records.size())};
}

bool is_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0xC0; }

}  // namespace

std::string with_typing_errors(const std::string& text, double share, std::uint64_t seed) {
    Rng rng(seed, 0x701505);
    std::u32string letters = decode_utf8(text);
    for (std::size_t begin = 0; begin < letters.size();) {
        std::size_t end = begin;
        while (end < letters.size() && is_letter(letters[end])) ++end;
        if (end - begin >= 4 && rng.uniform() < share) {
            const std::size_t at = begin + 1 +
                                   static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(
                                       end - begin - 3)));  // not the first or last
            std::swap(letters[at], letters[at + 1]);
        }
        begin = std::max(end, begin + 1);
    }
    std::string out;
    for (const char32_t c : letters) append_utf8(out, c);
    return out;
}

TestSlices slice_test_file(const std::string& path, const std::string& folder,
                           const SliceOptions& options) {
    const auto file = read_test_file(path);
    if (!file) return {};
    make_folders(folder);
    TestSlices slices;
    if (!file->names_files) slices.by_length = length_slices(*file, folder, options.lengths);
    slices.parts = part_slices(*file, folder, options.parts);
    if (options.noise > 0 && file->sentences.empty() && !file->names_files)
        slices.noisy = {noisy_slice(*file, folder, options)};
    return slices;
}

}  // namespace fovea
