#pragma once
// Which task a command line is about, before it is parsed: the flags of `train`, `eval` and
// `predict` are those of the task, so the parser must know it first.
#include <string>
#include <vector>

namespace fovea {

struct TaskOfWords {
    std::string name;      // "" where nothing says so
    std::string why = {};  // of a guess: "reviews.csv: its column 'label' has 5 values"
};

// Of `fovea train`: --task NAME, else the task of --config FILE or of the run that is resumed
// (--out RUN --resume), else the one that learns from such files (a guess), else the first task. Of
// `fovea eval|predict MODEL`: what the model was trained for.
TaskOfWords task_of_words(const std::vector<std::string>& words);

}  // namespace fovea
