#include "fovea/data/check.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::int64_t odd_ratio = 9;  // a filter that translation corpora are commonly cleaned by

using KeySet = std::unordered_set<Key128, Key128::Hash>;

Key128 pair_key(const TextPair& p) {
    return key_of(text_of(p.source.size(), ":", p.source, p.target));
}

// What must be remembered of the training set to find it in the others.
struct Seen {
    KeySet pairs, sources, targets, nearly;
};

}  // namespace

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
        f.on_disk = files_on_disk(record_files_of(files).paths);
        LeakCheck leak{.training = sets[0].name, .held_out = f.name, .lines = {}};
        KeySet own_pairs, own_sources;

        Problems problems = for_each_pair(files, [&](TextPair&& p) {
            ++f.pairs;
            f.source.add(p.source, p.line);
            f.target.add(p.target, p.line);
            const std::int64_t a = count_words(p.source), b = count_words(p.target);
            if (std::max(a, b) > odd_ratio * std::min(a, b)) {
                ++f.odd_ratios;
                if (f.odd_lines.size() < lines_to_show) f.odd_lines.push_back(p.line);
            }
            f.copies += p.source == p.target;
            f.control_characters +=
                has_control_characters(p.source) || has_control_characters(p.target);
            f.replacement_characters += p.source.find("\xEF\xBF\xBD") != std::string::npos ||
                                        p.target.find("\xEF\xBF\xBD") != std::string::npos;
            const Key128 whole = pair_key(p), source = key_of(p.source);
            f.repeated_pairs += !own_pairs.insert(whole).second;
            f.repeated_sources += !own_sources.insert(source).second;
            if (s == 0) {
                training.targets.insert(key_of(p.target));
                training.nearly.insert(key_of(without_punctuation(p.source)));
                return;
            }
            const bool source_leaks = training.sources.count(source) > 0;
            leak.pairs += training.pairs.count(whole) > 0;
            leak.sources += source_leaks;
            leak.targets += training.targets.count(key_of(p.target)) > 0;
            const bool nearly = training.nearly.count(key_of(without_punctuation(p.source))) > 0;
            leak.sources_nearly += nearly;
            if (nearly && leak.lines.size() < lines_to_show) leak.lines.push_back(p.line);
        });
        f.bad_lines = problems.skipped;
        f.bad_messages = std::move(problems.first);
        f.notes = std::move(problems.notes);
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
