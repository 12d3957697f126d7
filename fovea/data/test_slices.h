#pragma once
// Parts of a test file, to see where a model fails: by the length of the input, disjoint parts for
// the spread of a score, and a copy with typing errors. Each is written as a file of its own, so
// that any task measures it as it measures the whole.
// Thread-safety: a call writes its own files; different folders may be written at once.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct TestSlice {
    std::string name;  // "1-5 words", "part 3", "typing errors"
    std::string path;
    std::int64_t records = 0;
};

struct SliceOptions {
    int lengths = 4;         // so many classes of length, with about as many records each
    int parts = 10;          // disjoint parts, record i in part i mod parts
    double noise = 0.2;      // share of the words of the copy in which two letters change places
    std::uint64_t seed = 1;  // of the noise
};

struct TestSlices {
    std::vector<TestSlice> by_length, parts;
    std::vector<TestSlice> noisy;  // one, or none
};

// Of a table, JSON lines or sentences of tagged words (CoNLL, by the name; those have no copy with
// errors); of a table of sounds or pictures the parts alone; of anything else (folders) nothing.
// The input is the source of pairs, the first text of labelled ones, the words of a sentence, else
// the first column.
TestSlices slice_test_file(const std::string& path, const std::string& folder,
                           const SliceOptions& options = {});

// Two neighbouring letters inside some words of four letters or more change places.
std::string with_typing_errors(const std::string& text, double share, std::uint64_t seed);

}  // namespace fovea
