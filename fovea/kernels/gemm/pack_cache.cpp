#include "fovea/kernels/gemm/pack_cache.h"

#include <utility>

namespace fovea::kernels {

PackCache::Entries::iterator PackCache::find(const PackKey& key) {
    const auto [first, last] = by_id_.equal_range(key.id);
    for (auto i = first; i != last; ++i) {
        const PackKey& k = i->second->key;
        if (k.trans == key.trans && k.format == key.format) return i->second;
    }
    return entries_.end();
}

// Packing happens under the lock: a second thread that wants the same weight waits for it instead
// of packing it again.
std::shared_ptr<const PackedMatrix> PackCache::get(const PackKey& key, ConstView w) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto at = find(key);
    if (at != entries_.end() && at->key.version == key.version) {
        entries_.splice(entries_.begin(), entries_, at);
        return at->packed;
    }
    std::shared_ptr<PackedMatrix> packed;
    if (at != entries_.end() && at->packed.use_count() == 1) {
        bytes_ -= at->packed->bytes();
        packed = at->packed;
    } else {
        if (at != entries_.end()) bytes_ -= at->packed->bytes();
        packed = std::make_shared<PackedMatrix>();
    }
    if (at == entries_.end()) {
        entries_.push_front({key, packed});
        at = entries_.begin();
        by_id_.emplace(key.id, at);
    } else {
        at->packed = packed;
        entries_.splice(entries_.begin(), entries_, at);
    }
    at->key = key;
    packed->assign(w, key.trans, key.format);
    bytes_ += packed->bytes();
    trim();
    return packed;
}

std::shared_ptr<const PackedMatrix> PackCache::find_packed(const PackKey& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = find(key);
    if (at == entries_.end() || at->key.version != key.version) return nullptr;
    entries_.splice(entries_.begin(), entries_, at);
    return at->packed;
}

void PackCache::trim() {
    while (bytes_ > limit_ && entries_.size() > 1) {  // the newest stays, however large
        const auto last = std::prev(entries_.end());
        const auto [first, end] = by_id_.equal_range(last->key.id);
        for (auto i = first; i != end; ++i) {
            if (i->second == last) {
                by_id_.erase(i);
                break;
            }
        }
        bytes_ -= last->packed->bytes();
        entries_.erase(last);
    }
}

void PackCache::drop(std::uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [first, last] = by_id_.equal_range(id);
    for (auto i = first; i != last; ++i) {
        bytes_ -= i->second->packed->bytes();
        entries_.erase(i->second);
    }
    by_id_.erase(id);
}

void PackCache::clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
    by_id_.clear();
    bytes_ = 0;
}

void PackCache::set_limit(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    limit_ = bytes;
    trim();
}

std::size_t PackCache::bytes() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return bytes_;
}

std::size_t PackCache::entries() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
}

// Never destroyed: a tensor that outlives main's statics still drops its packed forms here.
PackCache& pack_cache() {
    static PackCache& cache = *new PackCache;
    return cache;
}

}  // namespace fovea::kernels
