#pragma once
// What tasks share between their records and the training loop: the batches of an epoch,
// records drawn or held out.
// Not thread-safe: it belongs to one trainer.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/data/batch_plan.h"

namespace fovea {

// The batches of the epoch that was begun last.
class EpochBatches {
public:
    EpochBatches(std::vector<std::int64_t> lengths, const BatchOptions& options)
        : lengths_(std::move(lengths)), options_(options) {}

    std::int64_t begin(std::int64_t epoch) {  // how many there are
        epoch_ = epoch;
        plan_.emplace(lengths_, options_, epoch);
        return plan_->batches();
    }
    std::int64_t per_epoch() const { return BatchPlan(lengths_, options_, 0).batches(); }
    std::int64_t examples() const { return static_cast<std::int64_t>(lengths_.size()); }
    std::int64_t tokens() const {
        return std::accumulate(lengths_.begin(), lengths_.end(), std::int64_t{0});
    }
    std::int64_t max_tokens() const { return options_.max_tokens; }  // of a batch
    std::int64_t epoch() const { return epoch_; }                    // that was begun last
    std::span<const std::int64_t> operator[](std::int64_t b) const { return (*plan_)[b]; }

private:
    std::vector<std::int64_t> lengths_;
    BatchOptions options_;
    std::int64_t epoch_ = 0;
    std::optional<BatchPlan> plan_;
};

// Keeps `count` records, drawn by the seed, in their order; all of them for 0 or where there are no
// more. (A file's first records are no sample of it: files are often sorted.)
template <class Record>
void keep_drawn(std::vector<Record>& records, std::int64_t count, std::uint64_t seed) {
    if (count <= 0 || count >= static_cast<std::int64_t>(records.size())) return;
    Rng rng(seed, 0x64726177);  // a stream of its own
    // Knuth, TAOCP 2, 3.4.2, algorithm S: each record with the probability that is left for it.
    std::int64_t wanted = count, left = static_cast<std::int64_t>(records.size());
    std::vector<Record> kept;
    for (Record& r : records)
        if (rng.below(left--) < wanted) {
            kept.push_back(std::move(r));
            --wanted;
        }
    records = std::move(kept);
}

// Moves the records of these indices (rising) out.
template <class Record>
std::vector<Record> take_out(std::vector<Record>& records, std::span<const std::size_t> indices) {
    std::vector<Record> taken, rest;
    std::size_t next = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool out = next < indices.size() && indices[next] == i;
        next += out;
        (out ? taken : rest).push_back(std::move(records[i]));
    }
    records = std::move(rest);
    return taken;
}

// Moves the records of `dev` out that hold a name (a label, a type of entity) which no training
// record has. `names_of`: the names of a record.
template <class Record, class NamesOf>
std::vector<Record> take_unknown(std::vector<Record>& dev, std::span<const Record> train,
                                 NamesOf names_of) {
    std::set<std::string> known;
    for (const Record& r : train)
        for (const std::string& name : names_of(r)) known.insert(name);
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < dev.size(); ++i) {
        const auto names = names_of(dev[i]);
        if (!std::all_of(names.begin(), names.end(),
                         [&](const std::string& name) { return known.contains(name); }))
            unknown.push_back(i);
    }
    return take_out(dev, unknown);
}

// A hash as 16 digits.
std::string hash_text(std::uint64_t hash);

}  // namespace fovea
