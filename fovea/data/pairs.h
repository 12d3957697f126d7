#pragma once
// Pairs of texts (source and target of a translation, document and summary) from the records of
// somebody's files (records.h): TSV, CSV, JSON lines, two files of lines, a folder of mails with
// subjects. Read as a stream; errors name file and line. Not thread-safe: one reader belongs to
// one thread.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct TextPair {
    std::string source, target;
    std::int64_t line = 0;  // as Record::line
    // Further references for this source, where the data has them (the subjects that people wrote
    // for a mail). Empty with PairFiles::reverse or lead: they belong to the file's own target.
    std::vector<std::string> also = {};
};

struct PairFiles {
    std::string path;                     // the file, or the source side of two
    std::string target_path;              // the other side; empty where one file has both
    std::vector<std::string> more_paths;  // read after it, each "a.tsv" or "a.en,a.de"
    RecordFormat format = RecordFormat::automatic;
    HeaderRow header = HeaderRow::automatic;
    // Which columns (names of the header row, or numbers from 1) or keys (JSON lines). Empty: by
    // names and form, see pair_columns.h; Problems::notes says what was chosen.
    std::string source_key, target_key;
    bool reverse = false;       // swap the sides
    std::int64_t lead = 0;      // above 0: the target is the source's first words, so many
    std::int64_t skip_bad = 0;  // this many bad lines are passed over instead of ending the run
    std::int64_t limit = 0;     // only the first so many pairs; 0: all
    int keep_messages = 5;      // of the bad lines passed over
};

using PairProblems = Problems;

// Calls `take` for every pair, in order. Throws bad_input at the first bad line beyond skip_bad:
// wrong number of columns, broken JSON, text that is not UTF-8; and where sides differ in length.
Problems for_each_pair(const PairFiles& files, const std::function<void(TextPair&&)>& take);
std::vector<TextPair> read_pairs(const PairFiles& files, Problems* problems = nullptr);

// `count` of the pairs, drawn by the seed and in the order of the file (whose pairs are often
// sorted by length, so that the first ones would be no sample). All of them where there are no
// more. Reads the file once and keeps `count` pairs at a time; files.limit holds before the draw.
std::vector<TextPair> draw_pairs(const PairFiles& files, std::int64_t count, std::uint64_t seed,
                                 Problems* problems = nullptr);

// "a.tsv" or "a.en,a.de" (two files), as the command line gives it.
PairFiles pair_files_of(const std::string& argument);
// The records that the pairs are made of.
RecordFiles record_files_of(const PairFiles& files);

}  // namespace fovea
