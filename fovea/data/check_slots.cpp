#include "fovea/data/check_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "fovea/base/json.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr int messages_to_show = 10;
using IntentOfText = std::unordered_map<Key128, std::string, Key128::Hash>;

std::string frequent_first(const std::map<std::string, std::int64_t>& counts) {
    std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    constexpr std::size_t most = 20;
    std::string out;
    for (std::size_t i = 0; i < std::min(sorted.size(), most); ++i)
        out += fmt::format("{}{} {}", i ? ", " : "", sorted[i].first, grouped(sorted[i].second));
    if (sorted.size() > most) out += fmt::format(", … ({} more)", sorted.size() - most);
    return out;
}

std::string slot_file_text(const SlotFileCheck& f) {
    std::string out = f.name + ":";
    for (const std::string& path : f.paths) out += " " + path;
    out += fmt::format("\n  {} texts, {} words, {} intents, {} slots\n", grouped(f.texts),
                       grouped(f.lengths.words), f.intents.size(), f.slots.size());
    if (f.bad_texts > 0) {
        out += fmt::format("  BAD TEXTS: {}\n", grouped(f.bad_texts));
        for (const std::string& m : f.bad_messages) out += "    " + m + "\n";
    }
    out += f.lengths.text("text", f.texts);
    out += "  intents: " + frequent_first(f.intents) + "\n";
    out += "  slots: " + frequent_first(f.slots) + "\n";
    if (f.repeated > 0)
        out += fmt::format("  texts that repeat an earlier one: {}, with another intent: {}\n",
                           grouped(f.repeated), grouped(f.two_intents));
    return out;
}

void count_text(const SlotText& t, SlotFileCheck& f, IntentOfText& own) {
    ++f.texts;
    ++f.intents[t.intent];
    for (const std::string& tag : t.tags)
        if (const auto c = chunk_tag(tag); c && c->part == 'B') ++f.slots[std::string(c->type)];
    const std::string text = sentence_text(t.words);
    f.lengths.add(text, t.line);
    const auto [at, is_new] = own.emplace(key_of(text), t.intent);
    f.repeated += !is_new;
    f.two_intents += !is_new && at->second != t.intent;
}

}  // namespace

SlotCheck check_slot_texts(std::span<const NamedSlotFiles> sets) {
    SlotCheck check;
    IntentOfText training;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        SlotFiles files = sets[s].files;
        files.skip_bad = INT64_MAX;  // all of them are to be counted
        files.keep_messages = messages_to_show;
        SlotFileCheck f;
        f.name = sets[s].name;
        f.paths = files.paths;
        Problems problems;
        IntentOfText own;
        SlotLeakCheck leak{.training = sets[0].name, .held_out = f.name, .unknown = {}};
        for (const SlotText& t : read_slot_texts(files, &problems)) {
            count_text(t, f, own);
            leak.texts += training.count(key_of(sentence_text(t.words))) > 0;
        }
        f.bad_texts = problems.skipped;
        f.bad_messages = std::move(problems.first);
        if (s == 0) {
            training = std::move(own);
        } else {
            for (const auto& [name, count] : f.intents)
                if (!check.files[0].intents.count(name)) leak.unknown[name] = count;
            for (const auto& [name, count] : f.slots)
                if (!check.files[0].slots.count(name)) leak.unknown[name] = count;
            check.leaks.push_back(std::move(leak));
        }
        check.files.push_back(std::move(f));
    }
    return check;
}

bool SlotCheck::clean() const {
    return std::all_of(files.begin(), files.end(),
                       [](const SlotFileCheck& f) { return f.bad_texts == 0; }) &&
           std::all_of(leaks.begin(), leaks.end(),
                       [](const SlotLeakCheck& l) { return l.unknown.empty(); });
}

std::string SlotCheck::text() const {
    std::string out;
    for (const SlotFileCheck& f : files) out += slot_file_text(f);
    for (const SlotLeakCheck& l : leaks) {
        out += fmt::format("{} in {}: {} texts\n", l.held_out, l.training, grouped(l.texts));
        if (!l.unknown.empty())
            out +=
                fmt::format("  UNKNOWN (not in {}): {}\n", l.training, frequent_first(l.unknown));
    }
    return out + (clean() ? "clean: no bad texts, nothing unknown\n"
                          : "NOT CLEAN: see bad texts or what is unknown above\n");
}

std::string SlotCheck::json() const {
    Json j{{"clean", clean()}, {"files", Json::array()}, {"leaks", Json::array()}};
    for (const SlotFileCheck& f : files)
        j["files"].push_back({{"name", f.name},
                              {"paths", f.paths},
                              {"texts", f.texts},
                              {"bad_texts", f.bad_texts},
                              {"bad_messages", f.bad_messages},
                              {"text", f.lengths.json(f.texts)},
                              {"intents", f.intents},
                              {"slots", f.slots},
                              {"repeated", f.repeated},
                              {"two_intents", f.two_intents}});
    for (const SlotLeakCheck& l : leaks)
        j["leaks"].push_back({{"training", l.training},
                              {"held_out", l.held_out},
                              {"texts", l.texts},
                              {"unknown", l.unknown}});
    return to_text(j);
}

}  // namespace fovea
