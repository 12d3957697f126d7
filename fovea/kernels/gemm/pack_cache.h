#pragma once
// Packed weights, kept from one call to the next: by tensor id and version, orientation and format.
// Bounded: beyond the limit the entries longest unused are dropped. Thread-safe.
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "fovea/kernels/gemm/pack.h"

namespace fovea::kernels {

struct PackKey {
    std::uint64_t id = 0;       // of the tensor; never reused
    std::uint64_t version = 0;  // changes whenever the optimizer writes it
    Trans trans = Trans::no;
    Format format = Format::f32;
};

class PackCache {
public:
    explicit PackCache(std::size_t limit_bytes = std::size_t{8} << 30) : limit_(limit_bytes) {}

    // The packed form of `w`, made now if it is not there. An entry of the same id, orientation and
    // format but another version is overwritten. The pointer stays valid whatever happens to the
    // cache meanwhile.
    std::shared_ptr<const PackedMatrix> get(const PackKey& key, ConstView w);

    // The same if it is there, else null: for weights that are costly to hand in as f32.
    std::shared_ptr<const PackedMatrix> find_packed(const PackKey& key);

    void drop(std::uint64_t id);  // the tensor is gone
    void clear();
    void set_limit(std::size_t bytes);
    std::size_t bytes() const;
    std::size_t entries() const;

private:
    struct Entry {
        PackKey key;
        std::shared_ptr<PackedMatrix> packed;
    };
    using Entries = std::list<Entry>;  // most recently used first

    Entries::iterator find(const PackKey& key);  // whatever the version
    void trim();

    mutable std::mutex mutex_;
    Entries entries_;
    std::unordered_multimap<std::uint64_t, Entries::iterator> by_id_;
    std::size_t limit_, bytes_ = 0;
};

PackCache& pack_cache();  // the process's

}  // namespace fovea::kernels
