#include "fovea/data/pairs.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/data/csv.h"
#include "fovea/data/emails.h"

namespace fovea {
namespace {

bool ends_with(const std::string& s, const std::string& end) {
    return s.size() >= end.size() && s.compare(s.size() - end.size(), end.size(), end) == 0;
}

PairFormat format_of(const PairFiles& f) {
    if (f.format != PairFormat::automatic) return f.format;
    if (!f.target_path.empty()) return PairFormat::two_files;
    if (is_folder(f.path)) return PairFormat::emails;
    std::string name = f.path;
    if (ends_with(name, ".gz")) name.resize(name.size() - 3);
    if (ends_with(name, ".jsonl") || ends_with(name, ".json")) return PairFormat::jsonl;
    if (ends_with(name, ".csv")) return PairFormat::csv;
    if (ends_with(name, ".tsv") || ends_with(name, ".txt") || f.path == "-") return PairFormat::tsv;
    throw Error(
        f.path + ": cannot tell what kind of file this is by its name", ErrorKind::usage,
        "name it .tsv, .csv or .jsonl (.gz), or give two files: source.txt,target.txt, or a "
        "folder of .subject files");
}

// Bad lines: counted and passed over up to the limit, then an error.
class Watch {
public:
    Watch(const PairFiles& f, PairProblems& p) : files_(f), problems_(p) {}

    void bad(const std::string& path, std::int64_t line, const std::string& what) {
        const std::string message = text_of(path, ":", line, ": ", what);
        if (problems_.skipped >= files_.skip_bad)
            throw Error(
                message, ErrorKind::bad_input,
                files_.skip_bad > 0 ? "" : "mend the line, or pass over some with --skip-bad N");
        ++problems_.skipped;
        if (static_cast<int>(problems_.first.size()) < files_.keep_messages)
            problems_.first.push_back(message);
    }

private:
    const PairFiles& files_;
    PairProblems& problems_;
};

std::string first_words(const std::string& text, std::int64_t count) {
    std::istringstream in(text);
    std::string all;
    for (std::string word; count > 0 && in >> word; --count) all += (all.empty() ? "" : " ") + word;
    return all;
}

class Sink {
public:
    Sink(const PairFiles& f, Watch& w, const std::function<void(TextPair&&)>& take)
        : files_(f), watch_(w), take_(take) {}

    // False once the limit is reached.
    bool give(std::string source, std::string target, std::int64_t line,
              std::vector<std::string> also = {}) {
        const bool source_fits = is_utf8(source);
        if (!source_fits || !is_utf8(target)) {
            const bool other = source_fits && !files_.target_path.empty();
            watch_.bad(other ? files_.target_path : files_.path, line,
                       "the text is not valid UTF-8");
            return true;
        }
        if (files_.reverse) std::swap(source, target);
        if (files_.lead > 0) target = first_words(source, files_.lead);
        take_({std::move(source), std::move(target), line, std::move(also)});
        return files_.limit == 0 || ++given_ < files_.limit;
    }

private:
    const PairFiles& files_;
    Watch& watch_;
    const std::function<void(TextPair&&)>& take_;
    std::int64_t given_ = 0;
};

void read_two_files(const PairFiles& f, Sink& sink) {
    LineReader a(f.path), b(f.target_path);
    std::string x, y;
    for (;;) {
        const bool more_a = a.next(x), more_b = b.next(y);
        if (more_a != more_b)
            throw Error(text_of((more_a ? b : a).path(), ": ends after line ",
                                (more_a ? b : a).line_number(), ", but ", (more_a ? a : b).path(),
                                " goes on"),
                        ErrorKind::bad_input, "the two sides need the same number of lines");
        if (!more_a || !sink.give(x, y, a.line_number())) return;
    }
}

// A column by number ("2") or by name in the header row.
std::optional<std::size_t> number_of(const std::string& key) {
    char* end = nullptr;
    const long n = std::strtol(key.c_str(), &end, 10);
    if (key.empty() || *end != '\0' || n < 1) return std::nullopt;
    return static_cast<std::size_t>(n - 1);
}

struct Columns {
    std::size_t source = 0, target = 1;
    bool header = false;  // the first row names the columns
};

Columns columns_of(const PairFiles& f, const std::vector<std::string>& first) {
    Columns c;
    const auto find = [&](const std::string& key, std::size_t otherwise) {
        if (key.empty()) return otherwise;
        if (const auto n = number_of(key)) return *n;
        for (std::size_t i = 0; i < first.size(); ++i)
            if (first[i] == key) {
                c.header = true;
                return i;
            }
        std::string names;
        for (const std::string& n : first) names += " \"" + n + "\"";
        throw Error(f.path + ":1: there is no column \"" + key + "\"", ErrorKind::bad_input,
                    "the first row has:" + names);
    };
    c.source = find(f.source_key, 0);
    c.target = find(f.target_key, 1);
    return c;
}

void read_table(const PairFiles& f, Watch& watch, Sink& sink, char separator) {
    LineReader lines(f.path);
    std::vector<std::string> row;
    std::optional<Columns> columns;
    std::size_t width = 0;
    for (;;) {
        const std::int64_t line = lines.line_number() + 1;
        std::string problem;
        const bool more =
            separator == '\t' ? read_tsv_row(lines, row) : read_csv_row(lines, row, problem);
        if (!more) return;
        if (!problem.empty()) {
            watch.bad(f.path, line, problem);
            continue;
        }
        if (row.size() == 1 && row[0].empty()) {
            watch.bad(f.path, line, "the line is empty");
            continue;
        }
        if (!columns) {
            columns = columns_of(f, row);
            width = row.size();
            if (columns->header) continue;
        }
        const std::size_t need = std::max(columns->source, columns->target) + 1;
        if (row.size() < need) {
            watch.bad(f.path, line,
                      text_of(row.size(), row.size() == 1 ? " column" : " columns", ", but ",
                              std::max(need, width), " are wanted"));
            continue;
        }
        if (!sink.give(row[columns->source], row[columns->target], line)) return;
    }
}

void read_emails(const PairFiles& f, Watch& watch, Sink& sink) {
    constexpr std::int64_t longest = std::int64_t{16} << 20;
    std::int64_t number = 0;  // of the file, in the order of their names
    for (const std::string& name : list_folder(f.path)) {
        if (!ends_with(name, ".subject")) continue;
        const std::string path = join_path(f.path, name), text = read_file(path, longest);
        Email mail;
        std::int64_t line = 1;
        std::string problem = "the text is not valid UTF-8";
        ++number;
        if (!is_utf8(text) || !parse_email(text, mail, line, problem))
            watch.bad(path, line, problem);
        else if (!sink.give(std::move(mail.body), std::move(mail.subject), number,
                            std::move(mail.annotations)))
            return;
    }
}

using Keys = std::pair<std::string, std::string>;

std::optional<Keys> guessed_keys(const Json& record) {
    static const std::array<Keys, 6> known = {{{"source", "target"},
                                               {"src", "tgt"},
                                               {"text", "summary"},
                                               {"document", "summary"},
                                               {"article", "highlights"},
                                               {"body", "subject"}}};
    for (const Keys& k : known)
        if (record.contains(k.first) && record.contains(k.second)) return k;
    if (record.size() == 2)
        return Keys{record.items().begin().key(), (++record.items().begin()).key()};
    return std::nullopt;
}

void read_jsonl(const PairFiles& f, Watch& watch, Sink& sink) {
    LineReader lines(f.path);
    std::string line;
    std::optional<Keys> keys;
    if (!f.source_key.empty()) keys = Keys{f.source_key, f.target_key};
    while (lines.next(line)) {
        const std::int64_t at = lines.line_number();
        Json record;
        try {
            record = parse_json(line, "the record");
            if (record.is_object() && record.contains("translation"))
                record = Json(record["translation"]);
            expect_input(record.is_object(), "the record is not a JSON object");
        } catch (const Error& e) {
            watch.bad(f.path, at, e.what());
            continue;
        }
        if (!keys) keys = guessed_keys(record);
        if (!keys)
            throw Error(text_of(f.path, ":", at, ": cannot tell which keys hold source and target"),
                        ErrorKind::bad_input, "name them with --source-key and --target-key");
        const auto has = [&](const std::string& k) {
            return record.contains(k) && record[k].is_string();
        };
        if (!has(keys->first) || !has(keys->second)) {
            watch.bad(f.path, at,
                      "no text under \"" + (has(keys->first) ? keys->second : keys->first) + "\"");
            continue;
        }
        if (!sink.give(record[keys->first], record[keys->second], at)) return;
    }
}

}  // namespace

bool is_utf8(const std::string& s) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    for (std::size_t i = 0; i < s.size();) {
        const unsigned char c = byte(i);
        if (c < 0x80) {
            ++i;
            continue;
        }
        const int extra = c >= 0xc2 && c < 0xe0   ? 1
                          : c >= 0xe0 && c < 0xf0 ? 2
                          : c >= 0xf0 && c < 0xf5 ? 3
                                                  : 0;
        if (extra == 0 || i + static_cast<std::size_t>(extra) >= s.size()) return false;
        for (int k = 1; k <= extra; ++k)
            if ((byte(i + static_cast<std::size_t>(k)) & 0xc0u) != 0x80u) return false;
        const unsigned char d = byte(i + 1);
        if ((c == 0xe0 && d < 0xa0) || (c == 0xed && d >= 0xa0) || (c == 0xf0 && d < 0x90) ||
            (c == 0xf4 && d >= 0x90))
            return false;
        i += static_cast<std::size_t>(extra) + 1;
    }
    return true;
}

PairProblems for_each_pair(const PairFiles& files, const std::function<void(TextPair&&)>& take) {
    PairProblems problems;
    Watch watch(files, problems);
    Sink sink(files, watch, take);
    switch (format_of(files)) {
        case PairFormat::two_files:
            read_two_files(files, sink);
            break;
        case PairFormat::csv:
            read_table(files, watch, sink, ',');
            break;
        case PairFormat::jsonl:
            read_jsonl(files, watch, sink);
            break;
        case PairFormat::emails:
            read_emails(files, watch, sink);
            break;
        default:
            read_table(files, watch, sink, '\t');
    }
    return problems;
}

std::vector<TextPair> read_pairs(const PairFiles& files, PairProblems* problems) {
    std::vector<TextPair> pairs;
    const PairProblems p =
        for_each_pair(files, [&](TextPair&& pair) { pairs.push_back(std::move(pair)); });
    if (problems) *problems = p;
    if (pairs.empty()) throw Error(files.path + ": holds no pair", ErrorKind::bad_input);
    return pairs;
}

// Vitter 1985, algorithm R: the i-th pair replaces one of those kept with probability count / i.
std::vector<TextPair> draw_pairs(const PairFiles& files, std::int64_t count, std::uint64_t seed,
                                 PairProblems* problems) {
    expect(count > 0, "draw_pairs: ", count, " pairs are asked for");
    struct Kept {
        std::int64_t index;
        TextPair pair;
    };
    std::vector<Kept> kept;
    std::int64_t seen = 0;
    Rng rng(seed, 0x64726177);  // a stream of its own
    const PairProblems p = for_each_pair(files, [&](TextPair&& pair) {
        const std::int64_t index = seen++;
        if (index < count) {
            kept.push_back({index, std::move(pair)});
        } else if (const std::int64_t at = rng.below(seen); at < count) {
            kept[static_cast<std::size_t>(at)] = {index, std::move(pair)};
        }
    });
    if (problems) *problems = p;
    if (kept.empty()) throw Error(files.path + ": holds no pair", ErrorKind::bad_input);
    std::sort(kept.begin(), kept.end(),
              [](const Kept& a, const Kept& b) { return a.index < b.index; });
    std::vector<TextPair> pairs;
    for (Kept& k : kept) pairs.push_back(std::move(k.pair));
    return pairs;
}

PairFiles pair_files_of(const std::string& argument) {
    PairFiles f;
    const std::size_t comma = argument.find(',');
    f.path = argument.substr(0, comma);
    if (comma != std::string::npos) f.target_path = argument.substr(comma + 1);
    return f;
}

}  // namespace fovea
