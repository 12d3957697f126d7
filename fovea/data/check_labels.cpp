#include "fovea/data/check_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/data/split.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

using LabelCounts = std::vector<std::pair<std::string, std::int64_t>>;
using LabelMap = std::map<std::string, std::int64_t>;

Key128 key_of_texts(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& t : texts) all.append(std::to_string(t.size())).append(":").append(t);
    return key_of(all);
}

LabelCounts by_count(const LabelMap& counts) {
    LabelCounts sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

// The texts of one set, and the labels each came with.
struct SeenTexts {
    std::unordered_map<Key128, std::unordered_set<std::uint64_t>, Key128::Hash> labels_of_text;
    LabelMap labels;
};

void add_record(const LabelledText& t, LabelledFileCheck& f, SeenTexts& own) {
    ++f.texts;
    std::string whole;
    for (const std::string& text : t.texts) whole += (whole.empty() ? "" : " ") + text;
    f.lengths.add(whole, t.line);
    std::vector<std::string> sorted = t.labels;
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& label : t.labels) ++own.labels[label];
    f.with_many_labels += t.labels.size() > 1;
    auto& before = own.labels_of_text[key_of_texts(t.texts)];
    const bool known_text = !before.empty();
    if (!before.insert(record_hash(sorted)).second) {
        ++f.repeated;
    } else if (known_text) {
        ++f.contradictions;
        if (f.contradiction_lines.size() < lines_to_show) f.contradiction_lines.push_back(t.line);
    }
}

void add_leak(const LabelledText& t, const SeenTexts& training, LabelLeakCheck& leak) {
    const auto found = training.labels_of_text.find(key_of_texts(t.texts));
    if (found == training.labels_of_text.end()) return;
    std::vector<std::string> sorted = t.labels;
    std::sort(sorted.begin(), sorted.end());
    ++leak.texts;
    leak.records += found->second.count(record_hash(sorted)) > 0;
}

void compare_labels(const LabelMap& training, const LabelMap& own, LabelLeakCheck& leak) {
    LabelMap unknown;
    for (const auto& [label, count] : own)
        if (!training.count(label)) unknown[label] = count;
    leak.unknown_labels = by_count(unknown);
    for (const auto& [label, count] : training) leak.labels_not_seen += own.count(label) == 0;
}

}  // namespace

LabelCheck check_labelled(std::span<const NamedLabelled> sets) {
    LabelCheck check;
    SeenTexts training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        LabelledFiles files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = lines_to_show;
        LabelledFileCheck f;
        f.name = sets[s].name;
        f.paths = files.paths;
        f.on_disk = files_on_disk(files.paths);
        LabelLeakCheck leak{.training = sets[0].name, .held_out = f.name, .unknown_labels = {}};
        SeenTexts own;
        Problems problems = for_each_labelled(files, [&](LabelledText&& t) {
            add_record(t, f, own);
            if (s > 0) add_leak(t, training, leak);
            return true;
        });
        f.bad_lines = problems.skipped;
        f.bad_messages = std::move(problems.first);
        f.notes = std::move(problems.notes);
        f.labels = by_count(own.labels);
        if (s == 0) {
            training = std::move(own);
        } else {
            compare_labels(training.labels, own.labels, leak);
            check.leaks.push_back(std::move(leak));
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

std::int64_t LabelledFileCheck::classes_seen_once() const {
    return std::count_if(labels.begin(), labels.end(), [](const auto& l) { return l.second == 1; });
}

bool LabelCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const LabelledFileCheck& f) {
                           return f.texts > 0 && f.bad_lines == 0 && f.lengths.empty == 0;
                       }) &&
           std::all_of(leaks.begin(), leaks.end(), [](const LabelLeakCheck& l) {
               return l.records == 0 && l.unknown_labels.empty();
           });
}

}  // namespace fovea
