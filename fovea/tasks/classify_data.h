#pragma once
// What a classifier learns from: labelled texts of files, a part of them held out.
// Not thread-safe: it belongs to one trainer.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/split.h"
#include "fovea/tasks/run_settings.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct ClassifyData {
    std::vector<std::string> text_keys;
    std::string label_key, separator;
    bool several = false;           // any number of labels for each text; read() may find so
    std::string unknown = "error";  // labels of dev that training has not
    // What reads the records, and what tells whether two are the same: others for pictures.
    std::function<std::vector<LabelledText>(const LabelledFiles&, Problems*)> reader =
        read_labelled;
    std::function<std::uint64_t(const LabelledText&)> content = [](const LabelledText& t) {
        return record_hash(t.texts);
    };

    std::vector<LabelledText> train, dev;
    std::map<std::string, std::int64_t> counts;  // of the labels of training

    void describe(Settings& settings);
    void read(const RunSettings& run, const Say& say);
    std::vector<std::string> labels() const;
    std::vector<std::string> texts() const;  // of training, for a vocabulary

private:
    void hold_out(const RunSettings& run, const Say& say);
    void count_labels(const RunSettings& run, const Say& say);
};

}  // namespace fovea
