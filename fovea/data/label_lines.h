#pragma once
// Lines of text that carry their label themselves: "__label__weather is it cold" (fastText),
// "DESC:manner How do bees fly ?" (TREC), "1 a fine film", "i am glad;joy". Found by a look at many
// of them, because a line of plain text may begin with anything.
// Thread-safety: pure functions, safe from any thread.
#include <span>
#include <string>
#include <vector>

namespace fovea {

enum class LabelPlace {
    none,        // plain text
    marked,      // words __label__x in front, one or more
    first_word,  // a number, or a word with a colon inside
    behind       // the last semicolon
};

LabelPlace label_place(std::span<const std::string> lines);

struct LabelLine {
    std::vector<std::string> labels;
    std::string text;
};
LabelLine split_label_line(LabelPlace place, const std::string& line);

}  // namespace fovea
