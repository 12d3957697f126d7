#include "fovea/text/models/byte_trie.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea::text {

namespace {
constexpr std::uint32_t block = 256;
constexpr std::uint32_t open_blocks = 16;  // older blocks are not searched for room any more
}  // namespace

// Places the nodes of a sorted key list one after the other, each set of children where the first
// free units are that fit it.
class ByteTrieBuilder {
public:
    using Keys = std::vector<std::pair<std::string_view, std::int32_t>>;

    ByteTrieBuilder(ByteTrie& trie, const Keys& keys) : trie_(trie), keys_(keys) {
        trie_.units_.assign(block, {});
        taken_.assign(block, true);  // no node may have its children at units 0-255
        next_.assign(block, 0);
        prev_.assign(block, 0);
        if (keys_.empty()) return;
        std::vector<Job> jobs{{0, keys_.size(), 0, no_parent}};
        while (!jobs.empty()) {
            const Job job = jobs.back();
            jobs.pop_back();
            place(job, jobs);
        }
    }

private:
    static constexpr std::uint32_t no_parent = 0;  // unit 0 is nobody
    struct Job {
        std::size_t begin, end;  // keys that share their first `depth` bytes
        std::uint32_t depth;
        std::uint32_t unit;  // the node itself
    };

    // Places the children of a node and queues theirs.
    void place(const Job& job, std::vector<Job>& jobs) {
        std::size_t begin = job.begin;
        if (keys_[begin].first.size() == job.depth) ++begin;  // the key that ends here
        if (begin == job.end) return;
        labels_.clear();
        starts_.clear();
        for (std::size_t i = begin; i < job.end; ++i) {
            const auto c = static_cast<unsigned char>(keys_[i].first[job.depth]);
            if (labels_.empty() || labels_.back() != c) {
                labels_.push_back(c);
                starts_.push_back(i);
            }
        }
        starts_.push_back(job.end);
        const std::uint32_t base = find_base();
        taken_[base] = true;
        if (job.unit == no_parent)
            trie_.root_ = base;
        else
            trie_.units_[job.unit].word |= base << 9;
        for (std::size_t k = 0; k < labels_.size(); ++k) {
            const std::uint32_t unit = base ^ labels_[k];
            occupy(unit);
            auto& u = trie_.units_[unit];
            u.word = ByteTrie::used | labels_[k];
            const auto& first = keys_[starts_[k]];
            if (first.first.size() == job.depth + 1) u.value = first.second;
            jobs.push_back({starts_[k], starts_[k + 1], job.depth + 1, unit});
        }
    }

    std::uint32_t find_base() {
        for (std::uint32_t unit = first_free_; unit != 0; unit = next_[unit]) {
            const std::uint32_t base = unit ^ labels_[0];
            if (taken_[base]) continue;
            bool fits = true;
            for (std::size_t k = 1; k < labels_.size() && fits; ++k)
                fits = !(trie_.units_[base ^ labels_[k]].word & ByteTrie::used);
            if (fits) return base;
        }
        grow();
        return static_cast<std::uint32_t>(trie_.units_.size()) - block;
    }

    // One more block of free units; the oldest open one is closed.
    void grow() {
        const auto begin = static_cast<std::uint32_t>(trie_.units_.size());
        expect_input(begin < (1u << 23) - block, "vocabulary: too many pieces for one trie");
        trie_.units_.resize(begin + block);
        taken_.resize(begin + block, false);
        next_.resize(begin + block, 0);
        prev_.resize(begin + block, 0);
        for (std::uint32_t unit = begin; unit < begin + block; ++unit) {
            prev_[unit] = last_free_;
            if (last_free_ != 0)
                next_[last_free_] = unit;
            else
                first_free_ = unit;
            last_free_ = unit;
        }
        if (begin >= (open_blocks + 1) * block) {
            const std::uint32_t old = begin - open_blocks * block;
            for (std::uint32_t unit = old; unit < old + block; ++unit)
                if (!(trie_.units_[unit].word & ByteTrie::used)) unlink(unit);
        }
    }

    void occupy(std::uint32_t unit) {
        trie_.units_[unit].word |= ByteTrie::used;
        unlink(unit);
    }
    void unlink(std::uint32_t unit) {
        const bool linked = prev_[unit] != 0 || next_[unit] != 0 || first_free_ == unit;
        if (!linked) return;
        (prev_[unit] != 0 ? next_[prev_[unit]] : first_free_) = next_[unit];
        (next_[unit] != 0 ? prev_[next_[unit]] : last_free_) = prev_[unit];
        prev_[unit] = next_[unit] = 0;
    }

    ByteTrie& trie_;
    const Keys& keys_;
    std::vector<bool> taken_;                 // as a base
    std::vector<std::uint32_t> next_, prev_;  // list of free units, 0 = end
    std::uint32_t first_free_ = 0, last_free_ = 0;
    std::vector<std::uint32_t> labels_;
    std::vector<std::size_t> starts_;
};

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> keys) {
    keys.erase(
        std::remove_if(keys.begin(), keys.end(), [](const auto& k) { return k.first.empty(); }),
        keys.end());
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    // of equal keys keep the last
    std::size_t n = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (n > 0 && keys[n - 1].first == keys[i].first)
            keys[n - 1] = keys[i];
        else
            keys[n++] = keys[i];
    }
    keys.resize(n);
    ByteTrieBuilder(*this, keys);
}

}  // namespace fovea::text
