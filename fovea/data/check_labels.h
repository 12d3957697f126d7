#pragma once
// What is in a set of labelled texts, before hours are spent on it: labels and how often, classes
// seen once, bad lines, lengths, texts that repeat or contradict themselves, and what the held-out
// sets share with the first one. Reads each file once, as a stream; keeps hashes of the texts.
// Thread-safety: a check keeps nothing; checks of different files may run at once.
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/labelled_texts.h"
#include "fovea/data/text_stats.h"

namespace fovea {

struct LabelledFileCheck {
    std::string name;  // as the caller calls it: "train", "held-out"
    std::vector<std::string> paths;
    FilesOnDisk on_disk;
    std::int64_t texts = 0;
    std::int64_t bad_lines = 0;
    std::vector<std::string> bad_messages;  // the first of them, with file and line
    std::vector<std::string> notes;         // which columns were taken
    LengthReport lengths;                   // of both texts together, where there are two
    std::vector<std::pair<std::string, std::int64_t>> labels;  // the most frequent first
    std::int64_t with_many_labels = 0;
    std::int64_t repeated = 0;        // records that stand for a second, third, … time
    std::int64_t contradictions = 0;  // texts that came before with other labels
    std::vector<std::int64_t> contradiction_lines;  // the first of them
    std::int64_t classes_seen_once() const;
};

struct LabelLeakCheck {  // a held-out set against the first one
    std::string training, held_out;
    std::int64_t records = 0, texts = 0;  // that are in training: with their labels; at all
    std::vector<std::pair<std::string, std::int64_t>> unknown_labels;  // never seen in training
    std::int64_t labels_not_seen = 0;  // classes of training that it does not have
};

struct LabelCheck {
    std::vector<LabelledFileCheck> files;
    std::vector<LabelLeakCheck> leaks;
    bool clean() const;  // no bad line, no empty text, no unknown label, no leaked record
    std::string text() const;
    std::string json() const;
};

struct NamedLabelled {
    std::string name;
    LabelledFiles files;
};

LabelCheck check_labelled(std::span<const NamedLabelled> sets);

}  // namespace fovea
