#include "fovea/data/check_tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "fovea/base/json.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

using SeenSentences = std::unordered_set<Key128, Key128::Hash>;

void count_tags(const TaggedWords& s, TaggedFileCheck& f) {
    for (const std::string& tag : s.tags) {
        f.tagged_words += tag != "O";
        const auto t = chunk_tag(tag);
        if (f.scheme == TagScheme::plain)
            ++f.counts[tag];
        else if (t && t->part == 'B')
            ++f.counts[std::string(t->type)];
    }
}

std::string counts_list(const std::map<std::string, std::int64_t>& counts, std::size_t most) {
    std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string out;
    for (std::size_t i = 0; i < std::min(sorted.size(), most); ++i)
        out += fmt::format("{}{} {}", i ? ", " : "", sorted[i].first, grouped(sorted[i].second));
    if (sorted.size() > most) out += fmt::format(", … ({} more)", sorted.size() - most);
    return out;
}

std::string tagged_file_text(const TaggedFileCheck& f) {
    std::string out = f.name + ":";
    for (const std::string& path : f.paths) out += " " + path;
    out += fmt::format("\n  {} sentences, {} words, {} of them tagged, scheme {}{}\n",
                       grouped(f.sentences), grouped(f.lengths.words), grouped(f.tagged_words),
                       name_of(f.scheme), f.on_disk.text());
    for (const std::string& n : f.notes) out += "  " + n + "\n";
    if (f.bad_sentences > 0) {
        out += fmt::format("  BAD SENTENCES: {}\n", grouped(f.bad_sentences));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += f.lengths.text("sentence", f.sentences);
    out += fmt::format("  {}: {}\n", f.scheme == TagScheme::plain ? "tags" : "entities",
                       counts_list(f.counts, 20));
    if (f.repeated > 0)
        out += fmt::format("  sentences that repeat an earlier one: {}\n", grouped(f.repeated));
    return out;
}

Json tagged_file_json(const TaggedFileCheck& f) {
    return {{"name", f.name},
            {"paths", f.paths},
            {"bytes", f.on_disk.bytes < 0 ? Json(nullptr) : Json(f.on_disk.bytes)},
            {"fingerprint", f.on_disk.fingerprint},
            {"scheme", name_of(f.scheme)},
            {"sentences", f.sentences},
            {"bad_sentences", f.bad_sentences},
            {"bad_messages", f.bad_messages},
            {"notes", f.notes},
            {"sentence", f.lengths.json(f.sentences)},
            {f.scheme == TagScheme::plain ? "tags" : "entities", f.counts},
            {"tagged_words", f.tagged_words},
            {"repeated", f.repeated}};
}

}  // namespace

TagCheck check_tagged(std::span<const NamedTagged> sets) {
    TagCheck check;
    SeenSentences training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        TaggedFiles files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = lines_to_show;
        TaggedFileCheck f;
        f.name = sets[s].name;
        f.paths = files.paths;
        f.on_disk = files_on_disk(files.paths);
        TaggedData data = read_tagged(files);
        f.scheme = data.scheme;
        TagLeakCheck leak{.training = sets[0].name, .held_out = f.name, .unknown = {}};
        SeenSentences own;
        for (const TaggedWords& t : data.sentences) {
            ++f.sentences;
            const std::string text = sentence_text(t.words);
            f.lengths.add(text, t.line);
            count_tags(t, f);
            f.repeated += !own.insert(key_of(text)).second;
            leak.sentences += training.count(key_of(text)) > 0;
        }
        f.bad_sentences = data.problems.skipped;
        f.bad_messages = std::move(data.problems.first);
        f.notes = std::move(data.problems.notes);
        if (s == 0) {
            training = std::move(own);
        } else {
            for (const auto& [name, count] : f.counts)
                if (!check.files[0].counts.count(name)) leak.unknown[name] = count;
            check.leaks.push_back(std::move(leak));
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

bool TagCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const TaggedFileCheck& f) { return f.bad_sentences == 0; }) &&
           std::all_of(leaks.begin(), leaks.end(),
                       [](const TagLeakCheck& l) { return l.unknown.empty(); });
}

std::string TagCheck::text() const {
    std::string out;
    for (const TaggedFileCheck& f : files) out += tagged_file_text(f);
    for (const TagLeakCheck& l : leaks) {
        out +=
            fmt::format("{} in {}: {} sentences\n", l.held_out, l.training, grouped(l.sentences));
        if (!l.unknown.empty())
            out +=
                fmt::format("  UNKNOWN (not in {}): {}\n", l.training, counts_list(l.unknown, 20));
    }
    return out + (clean() ? "clean: no bad sentences, nothing unknown\n"
                          : "NOT CLEAN: see bad sentences or what is unknown above\n");
}

std::string TagCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const TaggedFileCheck& f : files) j["files"].push_back(tagged_file_json(f));
    for (const TagLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"sentences", l.sentences},
                              {"unknown", l.unknown}});
    return to_text(j);
}

}  // namespace fovea
