#pragma once
// The text that a tokenizer is trained on: files (.gz too) or standard input, line by line, and
// the words counted from it in bounded memory.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/steps/word_splitter.h"
#include "fovea/text/train/train_progress.h"
#include "fovea/text/train/train_word_counts.h"

namespace fovea {

// Lines of a text file; "-" is standard input, .gz is decompressed. A byte-order mark at the start
// is dropped. Text that is not UTF-8, and binary files, are errors that name the line and guess the
// encoding: a vocabulary learnt from them would be quietly useless. A line longer than
// `longest_line` comes in parts, cut after white space where there is some, never inside a UTF-8
// character: memory stays bounded whatever the file.
class CorpusReader {
public:
    static constexpr std::size_t usual_longest_line = std::size_t{1} << 20;

    // keep_newlines: a line keeps its "\n" (or "\r\n"); else both are removed.
    CorpusReader(const std::string& path, bool keep_newlines,
                 std::size_t longest_line = usual_longest_line);
    ~CorpusReader();
    CorpusReader(const CorpusReader&) = delete;
    CorpusReader& operator=(const CorpusReader&) = delete;

    bool next(std::string& line);  // appends the line to `line`; false at the end
    std::int64_t bytes_read() const { return bytes_read_; }  // of text, decompressed

private:
    bool fill();
    void check_first_block() const;
    void check_utf8(std::string_view text) const;
    std::string hint() const;  // for bytes that are no UTF-8 text

    std::string path_;  // as errors name it
    std::string name_;  // as it was given
    bool keep_newlines_;
    std::size_t longest_line_;
    void* file_ = nullptr;  // gzFile
    std::string buffer_;
    std::size_t at_ = 0;
    bool end_ = false;
    std::int64_t bytes_read_ = 0;
    std::int64_t line_ = 1;  // the one that next() reads
};

struct CorpusOptions {
    bool keep_newlines = false;
    std::int64_t table_limit = WordCounts::no_limit;  // of the table of words
    TrainingCost cost = {};
    std::size_t longest_line = CorpusReader::usual_longest_line;
    // Texts of this size are counted by one thread into a table of their own, four at once; the
    // tables are then added up in order. Each takes up to ten times its size.
    std::size_t share_bytes = std::size_t{1} << 20;
    TrainProgressCallback progress = {};
};

// Counts the words of all files, on all threads; the result does not depend on their number.
WordCounts count_words(const std::vector<std::string>& files, const WordSplitter& splitter,
                       const CorpusOptions& options);

}  // namespace fovea
