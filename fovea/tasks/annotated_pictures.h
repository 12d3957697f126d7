#pragma once
// What the trainers of annotated pictures (masks, boxes) share: which settings have no effect for
// them, what is learned from and what is held out, how a batch is filled.
// Thread-safety: pure functions over their arguments.
#include <functional>
#include <string>
#include <vector>

#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/tasks/bad_records.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/training_data.h"

namespace fovea {

void leave_out_settings_of_texts(Settings& s);

// `records` to a batch, unless --max-records says otherwise, and the usual rates.
void settle_pictures(RunSettings& run, const Settings* settings, std::int64_t records,
                     std::int64_t epochs);

template <class Record>
struct PictureSplit {
    std::vector<Record> train, dev;
    std::vector<std::string> contents;  // hashes of the pictures learned from and held out
    std::size_t held_out = 0;           // before --dev-limit

    std::string more() const {
        return held_out ? text_of(", ", held_out, " more to measure on") : std::string();
    }
};

// How a kind of records is read.
template <class Record>
struct PictureRecords {
    std::string Record::*picture;  // where one has the path of its picture
    std::function<std::vector<Record>(const std::string& file)> of_file;  // --dev's
    std::function<void(const Record&)> load;  // throws where picture, mask or boxes are bad
};

template <class Record>
PictureSplit<Record> split_pictures(std::vector<Record> all, const PictureRecords<Record>& how,
                                    const RunSettings& run, const Say& say) {
    PictureSplit<Record> s{.train = std::move(all), .dev = {}, .contents = {}};
    const auto leave_bad_out = [&](std::vector<Record>& records) {
        const auto look = [&](std::size_t i) { how.load(records[i]); };
        keep_only(records, readable(records.size(), look, PassOver(run.skip_bad, say)));
    };
    keep_drawn(s.train, run.limit, run.options.seed);
    leave_bad_out(s.train);
    expect_input(!s.train.empty(), run.train[0], ": no picture of it can be learned from");
    std::vector<std::uint64_t> hashes;
    for (const Record& r : s.train) hashes.push_back(record_hash({read_file(r.*how.picture)}));
    for (const std::uint64_t h : hashes) s.contents.push_back(hash_text(h));
    if (run.has_dev_file())
        s.dev = how.of_file(run.dev);
    else if (run.measures())
        s.dev = take_out(s.train, dev_split(hashes));
    s.held_out = s.dev.size();
    keep_drawn(s.dev, run.dev_limit, run.options.seed);
    if (run.has_dev_file()) {  // else they were looked at among the others
        const std::size_t drawn = s.dev.size();
        leave_bad_out(s.dev);
        s.held_out -= drawn - s.dev.size();
    }
    return s;
}

// fovea.json's "data" and "train_file"; `size`: of what was shown.
void note_pictures(ModelFolder& folder, const std::vector<std::string>& contents,
                   std::size_t records, const RunSettings& run, const Json& size);

}  // namespace fovea
