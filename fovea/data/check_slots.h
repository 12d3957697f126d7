#pragma once
// What is in texts with intents and slots, before hours are spent on them: texts, words, intents
// and slots, bad lines, texts that repeat, and what the held-out sets share with the first one.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/slot_texts.h"
#include "fovea/data/text_stats.h"

namespace fovea {

struct SlotFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    std::int64_t texts = 0, bad_texts = 0;
    std::vector<std::string> bad_messages;  // the first of them, with file and line
    LengthReport lengths;
    std::map<std::string, std::int64_t> intents, slots;
    std::int64_t repeated = 0;     // texts that stand for a second, third, … time
    std::int64_t two_intents = 0;  // of these: with another intent than before
};

struct SlotLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t texts = 0;                       // that are in training
    std::map<std::string, std::int64_t> unknown;  // intents and slots never seen in training
};

struct SlotCheck {
    std::vector<SlotFileCheck> files;
    std::vector<SlotLeakCheck> leaks;
    bool clean() const;  // no bad line, nothing unknown; repeated texts are common and allowed
    std::string text() const;
    std::string json() const;
};

struct NamedSlotFiles {
    std::string name;
    SlotFiles files;
};

SlotCheck check_slot_texts(std::span<const NamedSlotFiles> sets);

}  // namespace fovea
