#pragma once
// Records that cannot be read, passed over as --skip-bad allows. A file is looked at before
// anything is learned: a damaged one is told at the start of a run, not in its middle.
#include <cstdint>
#include <functional>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tasks/task.h"

namespace fovea {

// One for each run over records. Not thread-safe.
class PassOver {
public:
    PassOver(std::int64_t most, Say say) : most_(most), say_(std::move(say)) {}
    // From a catch block: the error is thrown on where there were more than allowed, else told.
    void operator()(const Error& error);

private:
    std::int64_t most_, bad_ = 0;
    Say say_;
};

// Which of `count` records can be read: `look` is called for each, on many threads at once, and
// throws where one cannot. Too many, and the first one's error is thrown whichever thread met it.
std::vector<bool> readable(std::size_t count, const std::function<void(std::size_t)>& look,
                           PassOver pass_over);

template <class Record>
void keep_only(std::vector<Record>& records, const std::vector<bool>& kept) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < records.size(); ++i)
        if (kept[i]) std::swap(records[to++], records[i]);
    records.resize(to);
}

}  // namespace fovea
