#pragma once
// Files of records made from a file of records, in the same format and with its header: split into
// train, dev and test, or without repeated records. Records are written as they were read, lines
// ended by \n. Files appear whole or not at all. Not thread-safe: one call, one thread.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

// What makes two records the same.
enum class SameBy { record, source };

struct RewriteFiles {
    std::string path;  // a file, "-", or parallel files "a.en,a.de"; no folder
    RecordFormat format = RecordFormat::automatic;
    HeaderRow header = HeaderRow::automatic;
    SameBy by = SameBy::record;
    std::string source_key = {};  // with SameBy::source; empty: the source of pairs, the text of
                                  // labelled texts
    std::int64_t skip_bad = 0;
};

// "5%" or "1000".
struct HeldOutSize {
    double share = 0;
    std::int64_t count = 0;
    std::int64_t of(std::int64_t records) const;
};
HeldOutSize held_out_size(const std::string& text);  // throws usage

struct SplitOptions {
    HeldOutSize dev = {}, test = {};
    std::uint64_t seed = 1;
    std::string out_folder = {};  // train.tsv, dev.tsv, test.tsv; or train.en, train.de, …
    bool force = false;           // overwrite what is there
};

struct SplitReport {
    struct Set {
        std::string name;
        std::vector<std::string> paths;
        std::int64_t records = 0;
    };
    std::vector<Set> sets;  // train, dev, test; without those that were not asked for
    Problems problems;
};

// Reads the file twice; standard input or a pipe once, and keeps its text in memory.
SplitReport split_file(const RewriteFiles& files, const SplitOptions& options);

struct DedupeReport {
    std::int64_t records = 0, kept = 0;
    Problems problems;
};

// `write(side, text)`: the text for that side (0; more with parallel files), line ends included.
// Keeps the first of each; remembers 16 bytes for each record kept.
DedupeReport dedupe_file(const RewriteFiles& files,
                         const std::function<void(std::size_t, std::string_view)>& write);

}  // namespace fovea
