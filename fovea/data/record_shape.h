#pragma once
// What somebody's file holds, by a look at its beginning: so that `fovea train reviews.csv` knows
// what to learn, and `fovea data check` what to check. Thread-safety: pure functions.
#include <optional>
#include <string>

namespace fovea {

enum class RecordShape {
    pairs,      // a text and another: sentences and their translations
    summaries,  // the same, but the second is much shorter: mails and their subjects
    labelled,   // a text and a label
    tagged,     // words and their tags
    texts,      // text alone
    questions,  // questions with contexts that hold the answers
    slots,      // sentences with an intent and tagged words
    pictures,   // pictures and a label
    sounds,     // sounds and what is said in them
    masked,     // pictures with masks: a label for each pixel
    boxed       // pictures with boxes around things
};

struct ShapeGuess {
    RecordShape shape = RecordShape::pairs;
    std::string why;  // "its column 'label' has 5 values": follows the path and a colon
};

// Nothing where the path cannot be looked at (standard input, a pipe, a file that is not there) or
// says too little: whoever reads it then says what is wrong with it.
std::optional<ShapeGuess> guess_shape(const std::string& path);

}  // namespace fovea
