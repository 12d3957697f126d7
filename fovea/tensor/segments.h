#pragma once
// Packed sequences: row offsets 0 = o₀ ≤ o₁ ≤ … ≤ o_B = total of sequences laid end to end.
// There is no padding anywhere in Fovea. A cheap handle; immutable after construction.
//
// Each sequence also has a sample id (its index in the batch unless the data says otherwise):
// random masks are functions of (sample, row in the sequence), never of the packed row.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/base/checked.h"

namespace fovea {

using Ids = std::vector<std::int32_t>;  // token ids, one per packed row

class Segments {
public:
    Segments() : Segments(std::vector<std::int64_t>{0}, {}) {}

    static Segments of_lengths(std::span<const std::int64_t> lengths,
                               std::vector<std::uint64_t> samples = {}) {
        std::vector<std::int64_t> offsets{0};
        offsets.reserve(lengths.size() + 1);
        for (const std::int64_t n : lengths) offsets.push_back(checked_add(offsets.back(), n));
        return Segments(std::move(offsets), std::move(samples));
    }
    static Segments of_lengths(std::initializer_list<std::int64_t> lengths) {
        return of_lengths(std::span<const std::int64_t>(lengths.begin(), lengths.size()));
    }
    static Segments uniform(std::int64_t count, std::int64_t length) {
        return of_lengths(std::vector<std::int64_t>(static_cast<std::size_t>(count), length));
    }
    static Segments of_offsets(std::vector<std::int64_t> offsets,
                               std::vector<std::uint64_t> samples = {}) {
        return Segments(std::move(offsets), std::move(samples));
    }

    std::int64_t count() const { return static_cast<std::int64_t>(data_->offsets.size()) - 1; }
    std::int64_t total() const { return data_->offsets.back(); }
    std::int64_t begin(std::int64_t i) const { return data_->offsets[static_cast<std::size_t>(i)]; }
    std::int64_t end(std::int64_t i) const {
        return data_->offsets[static_cast<std::size_t>(i) + 1];
    }
    std::int64_t length(std::int64_t i) const { return end(i) - begin(i); }
    std::uint64_t sample(std::int64_t i) const {
        return data_->samples.empty() ? static_cast<std::uint64_t>(i)
                                      : data_->samples[static_cast<std::size_t>(i)];
    }
    std::span<const std::int64_t> offsets() const { return data_->offsets; }
    std::span<const std::uint64_t> samples() const { return data_->samples; }  // empty: the index

    bool operator==(const Segments& o) const {
        return data_ == o.data_ || data_->offsets == o.data_->offsets;
    }

private:
    struct Data {
        std::vector<std::int64_t> offsets;
        std::vector<std::uint64_t> samples;
    };

    Segments(std::vector<std::int64_t> offsets, std::vector<std::uint64_t> samples) {
        expect(!offsets.empty() && offsets.front() == 0, "segments: offsets must begin with 0");
        for (std::size_t i = 1; i < offsets.size(); ++i)
            expect(offsets[i] >= offsets[i - 1], "segments: offset ", i, " is ", offsets[i],
                   " but the one before is ", offsets[i - 1]);
        expect(samples.empty() || samples.size() + 1 == offsets.size(),
               "segments: ", samples.size(), " sample ids for ", offsets.size() - 1, " sequences");
        data_ = std::make_shared<const Data>(Data{std::move(offsets), std::move(samples)});
    }

    std::shared_ptr<const Data> data_;
};

}  // namespace fovea
