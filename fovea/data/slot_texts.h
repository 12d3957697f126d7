#pragma once
// Texts with an intent and slots. From a folder with three files of parallel lines (seq.in: words,
// seq.out: their BIO tags, label: the intent), or from JSON lines: words and tags as lists,
//
//   {"tokens": ["play", "jazz"], "tags": ["O", "B-genre"], "intent": "PlayMusic"}
//
// or a text and spans in characters, as `fovea slots` writes them:
//
//   {"text": "play jazz", "intent": "PlayMusic",
//    "slots": [{"start": 5, "end": 9, "label": "genre"}]}
//
// Thread-safety: a call keeps nothing; different files may be read at once.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/conll.h"

namespace fovea {

struct SlotText : TaggedWords {
    std::string intent;
};

struct SlotFiles {
    std::vector<std::string> paths;  // folders, or files of JSON lines
    std::int64_t skip_bad = 0;       // so many bad texts are passed over
    std::int64_t limit = 0;          // only the first so many texts; 0: all
    int keep_messages = 5;
};

// Throws bad_input at the first bad text beyond skip_bad: files of different lengths, other numbers
// of words and tags, a tag that cannot follow, a span that cuts a word; and where nothing is left.
std::vector<SlotText> read_slot_texts(const SlotFiles& files, Problems* problems = nullptr);

// A folder with seq.in, seq.out and label.
bool is_slot_folder(const std::string& path);

}  // namespace fovea
