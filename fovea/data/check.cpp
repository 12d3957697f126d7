#include "fovea/data/check.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::size_t lines_to_show = 10;
constexpr std::int64_t odd_ratio = 9;  // a filter that translation corpora are commonly cleaned by

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::int64_t count_words(const std::string& s) {
    std::int64_t n = 0;
    bool inside = false;
    for (const char c : s) {
        n += !is_white(c) && !inside;
        inside = !is_white(c);
    }
    return n;
}

std::int64_t count_characters(const std::string& s) {  // of valid UTF-8
    return std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

bool has_control(const std::string& s) {
    return std::any_of(s.begin(), s.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
    });
}

// The words of the text in lower case (ASCII), anything else between them one space: "Hello,
// World!" and "hello world" are one sentence, "we'll" and "well" are not.
std::string normalised(const std::string& s) {
    std::string out;
    for (const char c : s) {
        if (c >= 'A' && c <= 'Z')
            out.push_back(static_cast<char>(c + 32));
        else if (static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') ||
                 (c >= 'a' && c <= 'z'))
            out.push_back(c);
        else if (!out.empty() && out.back() != ' ')
            out.push_back(' ');
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

using KeySet = std::unordered_set<Key128, Key128::Hash>;

Key128 pair_key(const TextPair& p) {
    return key_of(text_of(p.source.size(), ":", p.source, p.target));
}

void add_length(LengthReport& r, const std::string& text, std::int64_t line, bool first) {
    const std::int64_t words = count_words(text);
    r.words += words;
    r.characters += count_characters(text);
    r.empty += words == 0;
    r.shortest = first ? words : std::min(r.shortest, words);
    if (first || words > r.longest) {
        r.longest = words;
        r.longest_line = line;
    }
    const auto bin = static_cast<std::size_t>(
        words <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(words - 1)));
    if (r.histogram.size() <= bin) r.histogram.resize(bin + 1);
    ++r.histogram[bin];
}

// What must be remembered of the training set to find it in the others.
struct Seen {
    KeySet pairs, sources, targets, nearly;
};

std::vector<std::string> paths_of(const PairFiles& f) {
    if (!f.target_path.empty()) return {f.path, f.target_path};
    if (!is_folder(f.path)) return {f.path};
    std::vector<std::string> paths;
    for (const std::string& name : list_folder(f.path))
        if (name.ends_with(".subject")) paths.push_back(join_path(f.path, name));
    return paths;
}

}  // namespace

std::string fingerprint_of_files(std::span<const std::string> paths) {
    Hash128 all;
    for (const std::string& path : paths) {
        const FileHash file = hash_file(path);
        all.add(text_of(base_name(path), "\n", file.size, "\n", file.hex, "\n"));
    }
    return all.hex();
}

DataCheck check_data(std::span<const NamedFiles> sets) {
    DataCheck check;
    Seen training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        PairFiles files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = lines_to_show;
        FileCheck f;
        f.name = sets[s].name;
        f.path = files.path;
        f.target_path = files.target_path;
        const auto paths = paths_of(files);
        for (const std::string& path : paths) f.bytes += file_size(path);
        f.fingerprint = fingerprint_of_files(paths);
        LeakCheck leak{.training = sets[0].name, .held_out = f.name, .lines = {}};
        KeySet own_pairs, own_sources;

        const PairProblems problems = for_each_pair(files, [&](TextPair&& p) {
            const bool first = f.pairs++ == 0;
            add_length(f.source, p.source, p.line, first);
            add_length(f.target, p.target, p.line, first);
            const std::int64_t a = count_words(p.source), b = count_words(p.target);
            if (std::max(a, b) > odd_ratio * std::min(a, b)) {
                ++f.odd_ratios;
                if (f.odd_lines.size() < lines_to_show) f.odd_lines.push_back(p.line);
            }
            f.copies += p.source == p.target;
            f.control_characters += has_control(p.source) || has_control(p.target);
            f.replacement_characters += p.source.find("\xEF\xBF\xBD") != std::string::npos ||
                                        p.target.find("\xEF\xBF\xBD") != std::string::npos;
            const Key128 whole = pair_key(p), source = key_of(p.source);
            f.repeated_pairs += !own_pairs.insert(whole).second;
            f.repeated_sources += !own_sources.insert(source).second;
            if (s == 0) {
                training.targets.insert(key_of(p.target));
                training.nearly.insert(key_of(normalised(p.source)));
                return;
            }
            const bool source_leaks = training.sources.count(source) > 0;
            leak.pairs += training.pairs.count(whole) > 0;
            leak.sources += source_leaks;
            leak.targets += training.targets.count(key_of(p.target)) > 0;
            const bool nearly = training.nearly.count(key_of(normalised(p.source))) > 0;
            leak.sources_nearly += nearly;
            if (nearly && leak.lines.size() < lines_to_show) leak.lines.push_back(p.line);
        });
        f.bad_lines = problems.skipped;
        f.bad_messages = problems.first;
        if (s == 0) {
            training.pairs = std::move(own_pairs);
            training.sources = std::move(own_sources);
        } else {
            check.leaks.push_back(std::move(leak));
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

bool DataCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const FileCheck& f) {
                           return f.pairs > 0 && f.bad_lines == 0 && f.source.empty == 0 &&
                                  f.target.empty == 0;
                       }) &&
           std::all_of(leaks.begin(), leaks.end(), [](const LeakCheck& l) { return l.pairs == 0; });
}

}  // namespace fovea
