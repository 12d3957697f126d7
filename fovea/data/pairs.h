#pragma once
// Pairs of texts (source and target of a translation, document and summary) from the files people
// have: two files of lines, TSV, CSV, JSONL, each may be .gz; or a folder of e-mails with subjects
// (see emails.h). Read as a stream; errors name file and line. Not thread-safe: one reader belongs
// to one thread.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fovea {

struct TextPair {
    std::string source, target;
    std::int64_t line = 0;  // in its file, from 1 (JSONL and CSV: of the record's first line)
    std::vector<std::string> also = {};  // further references, where the data has them
};

enum class PairFormat { automatic, tsv, csv, jsonl, two_files, emails };

struct PairFiles {
    std::string path;                           // the file, or the source side of two
    std::string target_path;                    // the other side; empty unless two_files
    PairFormat format = PairFormat::automatic;  // by the name: .tsv .csv .jsonl (.gz), a folder
    // Which columns (TSV, CSV: from 1, or names if the first row is a header) or keys (JSONL).
    // Empty: the first two columns; keys as in the first record (translation, source/target,
    // src/tgt, text/summary, document/summary, article/highlights).
    std::string source_key, target_key;
    bool reverse = false;       // swap the sides
    std::int64_t lead = 0;      // above 0: the target is the source's first words, so many
    std::int64_t skip_bad = 0;  // this many bad lines are passed over instead of ending the run
    std::int64_t limit = 0;     // at most so many pairs; 0: all
    int keep_messages = 5;      // of the bad lines passed over
};

struct PairProblems {
    std::int64_t skipped = 0;
    std::vector<std::string> first;  // messages, up to PairFiles::keep_messages
};

// Calls `take` for every pair, in order. Throws bad_input at the first bad line beyond skip_bad:
// wrong number of columns, broken JSON, text that is not UTF-8, sides of different lengths.
PairProblems for_each_pair(const PairFiles& files, const std::function<void(TextPair&&)>& take);
std::vector<TextPair> read_pairs(const PairFiles& files, PairProblems* problems = nullptr);

// `count` of the pairs, drawn by the seed and in the order of the file (whose pairs are often
// sorted by length, so that the first ones would be no sample). All of them where there are no
// more. Reads the file once and keeps `count` pairs at a time; files.limit holds before the draw.
std::vector<TextPair> draw_pairs(const PairFiles& files, std::int64_t count, std::uint64_t seed,
                                 PairProblems* problems = nullptr);

// "a.tsv" or "a.en,a.de" (two files), as the command line gives it.
PairFiles pair_files_of(const std::string& argument);

bool is_utf8(const std::string& text);

}  // namespace fovea
