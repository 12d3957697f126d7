#pragma once
// What a transcriber learns from: clips of files, a part of them held out.
// Not thread-safe: it belongs to one trainer.
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/data/waves.h"
#include "fovea/tasks/run_settings.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct SpeechData {
    std::string path_key, text_key;
    std::string kind = "auto";  // transcripts, classes

    std::vector<SpokenClip> train, dev;
    bool classes = false;

    void describe(Settings& settings);
    void read(const RunSettings& run, const Say& say);
    std::vector<std::string> texts() const;         // of training
    std::vector<std::string> class_labels() const;  // in order
};

}  // namespace fovea
