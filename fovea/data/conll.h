#pragma once
// Words with tags, from CoNLL columns (a word and its tags a line, an empty line between sentences)
// or JSON lines ({"tokens": […], "tags": […]}). Columns are parted by tabs where the first line has
// one, else by white space. -DOCSTART- lines, comments ("# text = …") and the ranges of CoNLL-U are
// passed over. Entities come out as BIO2 whatever the file has (tag_scheme.h).
// Thread-safety: a call keeps nothing; different files may be read at once.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/records.h"
#include "fovea/data/tag_scheme.h"

namespace fovea {

struct TaggedWords {  // a sentence
    std::vector<std::string> words, tags;
    std::string path;
    std::int64_t line = 0;  // of the first word
};

struct TaggedFiles {
    std::vector<std::string> paths;
    // Columns by number from 1, or by name where the file has a header (keys of JSON lines). Empty:
    // the first column and the last; FORM and UPOS of CoNLL-U; tokens (words) and tags (ner_tags,
    // labels) of JSON lines.
    std::string word_key = {}, tag_key = {};
    TagScheme scheme = TagScheme::automatic;
    std::int64_t skip_bad = 0;  // so many bad sentences are passed over
    std::int64_t limit = 0;     // only the first so many sentences; 0: all
    int keep_messages = 5;
};

struct TaggedData {
    std::vector<TaggedWords> sentences;
    TagScheme scheme = TagScheme::bio;  // that was found (or asked for): plain, or anything else
    Problems problems;
};

// Throws bad_input at the first bad sentence beyond skip_bad: lines of differing columns, an empty
// tag, a tag that cannot follow, text that is not UTF-8; and where nothing is left.
TaggedData read_tagged(const TaggedFiles& files);

// Words with a space between, as the tokenizer of a tagger reads them.
std::string sentence_text(const std::vector<std::string>& words);

// Whether a path is by its name (.conll, .conllu, .bio, .iob, .iob2 (.gz)) a file of tagged words.
bool is_conll_name(const std::string& path);

}  // namespace fovea
