#pragma once
// What is in files of tagged words, before hours are spent on them: sentences, words, entities of
// each type, bad lines, sentences that repeat, and what the held-out sets share with the first one.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/conll.h"
#include "fovea/data/text_stats.h"

namespace fovea {

struct TaggedFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    FilesOnDisk on_disk;
    TagScheme scheme = TagScheme::bio;
    std::int64_t sentences = 0, bad_sentences = 0;
    std::vector<std::string> bad_messages;  // the first of them, with file and line
    std::vector<std::string> notes;         // which columns were taken
    LengthReport lengths;
    std::map<std::string, std::int64_t> counts;  // entities by type; words by tag where plain
    std::int64_t tagged_words = 0;               // whose tag is not O
    std::int64_t repeated = 0;  // sentences that stand for a second, third, … time
};

struct TagLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t sentences = 0;                   // that are in training
    std::map<std::string, std::int64_t> unknown;  // types (or tags) never seen in training
};

struct TagCheck {
    std::vector<TaggedFileCheck> files;
    std::vector<TagLeakCheck> leaks;
    bool clean() const;  // no bad line, nothing unknown; repeated sentences are common and allowed
    std::string text() const;
    std::string json() const;
};

struct NamedTagged {
    std::string name;
    TaggedFiles files;
};

TagCheck check_tagged(std::span<const NamedTagged> sets);

}  // namespace fovea
