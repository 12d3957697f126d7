#pragma once
// Strings of words, joined from sounds of single words with pauses between them and noise below:
// to see whether a recogniser can follow running speech. A string has one speaker where the clips'
// table names speakers. Clips of one split make strings of that split alone.
// Thread-safety: calls for different folders may run at once.
#include <cstdint>
#include <string>

namespace fovea {

struct MadeStrings {
    std::string clips;  // a table of paths and words (data/waves.h); "": the tones of a telephone
    std::string out;    // a folder: 00000.wav …, strings.tsv
    std::int64_t count = 1000;
    std::int64_t shortest = 3, longest = 7;  // words
    std::uint64_t seed = 1;
};

// Pauses are drawn from 0 to 0.4 s; white noise lies 20 to 40 dB below the words.
void write_strings(const MadeStrings& made);

}  // namespace fovea
