#include "fovea/tensor/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/base/checked.h"

namespace fovea {
namespace {

constexpr std::int64_t arena_bytes = std::int64_t{2} << 20;

// Size classes: four steps to each doubling, from 64 bytes. A block is at most a quarter larger
// than asked, and batches of similar sizes share a class.
int class_of(std::int64_t bytes) {
    if (bytes <= 256) return static_cast<int>((std::max<std::int64_t>(bytes, 1) + 63) / 64) - 1;
    const auto u = static_cast<std::uint64_t>(bytes - 1);
    const int top = std::bit_width(u) - 1;                        // 2^top <= bytes-1
    const auto quarter = static_cast<int>((u >> (top - 2)) & 3);  // which quarter of the doubling
    return 4 + (top - 8) * 4 + quarter;
}

std::int64_t class_bytes(int c) {
    if (c < 4) return (c + 1) * 64;
    const int top = (c - 4) / 4 + 8, quarter = (c - 4) % 4;
    return (std::int64_t{1} << top) + (quarter + 1) * (std::int64_t{1} << (top - 2));
}

class Pool {
public:
    void* take(std::int64_t bytes) {
        const int c = class_of(bytes);
        const std::int64_t size = class_bytes(c);
        const std::lock_guard<std::mutex> lock(mutex_);
        void* block = free_of(c).empty() ? borrow(c, size) : pop(c);
        if (!block) {
            refill(c, size);
            block = pop(c);
        }
        stats_.in_use += size;
        stats_.peak = std::max(stats_.peak, stats_.in_use);
        return block;
    }

    void give(void* block, std::int64_t bytes) noexcept {
        int c = class_of(bytes);
        const std::lock_guard<std::mutex> lock(mutex_);
        stats_.in_use -= class_bytes(c);
        if (const auto lent = lent_.find(block); lent != lent_.end()) {
            c = lent->second;
            lent_.erase(lent);
        }
        free_of(c).push_back(block);  // capacity was reserved in refill
    }

    MemoryStats stats() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return stats_;
    }

    void reset_peak() {
        const std::lock_guard<std::mutex> lock(mutex_);
        stats_.peak = stats_.in_use;
    }

private:
    std::vector<void*>& free_of(int c) { return free_[static_cast<std::size_t>(c)]; }

    void* pop(int c) {
        void* block = free_of(c).back();
        free_of(c).pop_back();
        return block;
    }

    // A large block that lies idle in a class up to twice the size: batches differ in their number
    // of rows, and each would else keep blocks of its own.
    void* borrow(int c, std::int64_t size) {
        if (size < arena_bytes / 4) return nullptr;
        for (int larger = c + 1; larger <= c + 4; ++larger)
            if (!free_of(larger).empty()) {
                lent_.emplace(free_of(larger).back(), larger);  // may throw: before it is taken
                return pop(larger);
            }
        return nullptr;
    }

    // Small classes cut a whole arena into blocks; large ones get arenas of their own.
    void refill(int c, std::int64_t size) {
        const std::int64_t want =
            size <= arena_bytes / 4 ? arena_bytes : round_up(size, arena_bytes);
        std::int64_t count = want / size;
        char* arena = map(want);
        std::vector<void*>& free = free_of(c);
        total_[static_cast<std::size_t>(c)] += count;
        free.reserve(static_cast<std::size_t>(total_[static_cast<std::size_t>(c)]));
        while (count-- > 0) free.push_back(arena + count * size);
    }

    char* map(std::int64_t bytes) {
        if (stats_.from_system + bytes > memory_limit())
            throw Error(
                text_of("out of memory: tensors hold ", stats_.from_system >> 20, " MB and ",
                        bytes >> 20, " MB more are wanted, but the machine has ",
                        memory_limit() >> 20, " MB"),
                ErrorKind::failed, "use a smaller batch or a smaller model");
        // Over-allocate by one arena so that the block begins on a 2 MB border (huge pages).
        const auto n = static_cast<std::size_t>(bytes + arena_bytes);
        void* p = ::mmap(nullptr, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            throw Error(text_of("out of memory: the system refused ", bytes >> 20, " MB"),
                        ErrorKind::failed, "use a smaller batch or a smaller model");
        const auto start = reinterpret_cast<std::uintptr_t>(p);
        const std::uintptr_t aligned =
            (start + arena_bytes - 1) / arena_bytes * static_cast<std::uintptr_t>(arena_bytes);
        if (aligned > start) ::munmap(p, aligned - start);
        const std::uintptr_t end = aligned + static_cast<std::uintptr_t>(bytes);
        if (start + n > end) ::munmap(reinterpret_cast<void*>(end), start + n - end);
        ::madvise(reinterpret_cast<void*>(aligned), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
        ++stats_.system_calls;
        stats_.from_system += bytes;
        return reinterpret_cast<char*>(aligned);
    }

    std::mutex mutex_;
    std::array<std::vector<void*>, 260> free_;
    std::array<std::int64_t, 256> total_{};
    std::unordered_map<void*, int> lent_;  // blocks in use by a smaller class, and their own
    MemoryStats stats_;
};

Pool& pool() {
    static Pool* instance = new Pool;  // never destroyed: tensors in statics may outlive it
    return *instance;
}

std::int64_t read_limit() {
    std::int64_t limit =
        static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::ifstream file(path);
        std::int64_t n = 0;
        if (file >> n && n > 0) limit = std::min(limit, n);
    }
    return limit;
}

}  // namespace

MemoryStats memory_stats() { return pool().stats(); }
void reset_memory_peak() { pool().reset_peak(); }

std::int64_t memory_limit() {
    static const std::int64_t limit = read_limit();
    return limit;
}

void* detail::allocate_block(std::int64_t bytes) {
    expect(bytes >= 0 && bytes <= (std::int64_t{1} << 46), "memory: ", bytes, " bytes wanted");
    return pool().take(bytes);
}

void detail::release_block(void* block, std::int64_t bytes) noexcept { pool().give(block, bytes); }

}  // namespace fovea
