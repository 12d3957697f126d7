#pragma once
// A text as the numbers of its words, for word vectors: words stand between white space, as in
// word2vec and fastText, and each line ends with the word "</s>". Words seen less often than
// min_count are passed over. Read once; the numbers stay in memory, four bytes a word.
// Thread-safety: a corpus does not change after it was read.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/documents.h"

namespace fovea {

struct WordCorpusOptions {
    std::int64_t min_count = 5;
    bool lowercase = false;
    std::int64_t longest_line = 1024;  // words; longer ones are cut
};

struct WordCorpus {
    std::vector<std::string> words;    // most frequent first, then as they came
    std::vector<std::int64_t> counts;  // of each
    std::vector<std::int32_t> tokens;  // the text
    std::vector<std::int64_t> lines;   // where each begins in it, and the end
    std::int64_t read = 0;             // words of the files, rare ones too
    std::int64_t different = 0;        // of them

    std::int64_t line_count() const { return static_cast<std::int64_t>(lines.size()) - 1; }
};

WordCorpus read_word_corpus(const DocumentFiles& files, const WordCorpusOptions& options,
                            std::vector<std::string>* notes = nullptr);

// Calls take(word) for each word of a text.
template <class Take>
void for_each_word(std::string_view text, const Take& take) {
    constexpr std::string_view white(" \n\r\t\v\f\0", 7);
    for (std::size_t at = 0;;) {
        at = text.find_first_not_of(white, at);
        if (at == std::string_view::npos) return;
        const std::size_t end = std::min(text.find_first_of(white, at), text.size());
        take(text.substr(at, end - at));
        at = end;
    }
}

std::string lowercased(std::string_view text);

}  // namespace fovea
