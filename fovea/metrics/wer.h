#pragma once
// Word and character error rates of transcripts: the least number of words (characters) that must
// be put in place of others, left out and put in to make the reference of the hypothesis, over the
// number in the reference. Equal to jiwer 4.0, split into kinds included.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

struct EditCounts {
    std::int64_t hits = 0, substitutions = 0;
    std::int64_t deletions = 0;   // in the reference, not in the hypothesis
    std::int64_t insertions = 0;  // in the hypothesis, not in the reference

    std::int64_t errors() const { return substitutions + deletions + insertions; }
    std::int64_t reference() const { return hits + substitutions + deletions; }
    // Errors over the reference's length; over 1 where it is empty.
    double rate() const;
    EditCounts& operator+=(const EditCounts& o);
};

// Words are what stands between white space; characters are code points, without white space at
// both ends.
EditCounts word_edits(std::string_view reference, std::string_view hypothesis);
EditCounts character_edits(std::string_view reference, std::string_view hypothesis);

// WER in percent over all pairs (lower is better); figures: CER, exact (whole transcripts that
// agree word by word, in percent), and the counts.
MetricScore word_error_rate(std::span<const std::string> references,
                            std::span<const std::string> hypotheses);

}  // namespace fovea
