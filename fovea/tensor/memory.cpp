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

// Size classes: from 64 bytes four steps to each doubling, from 1 MB eight. A block is at most a
// quarter (an eighth) larger than asked, and batches of similar sizes share a class.
constexpr int first_large_top = 20, first_large_class = 4 + (first_large_top - 8) * 4;
constexpr std::size_t classes = first_large_class + (47 - first_large_top) * 8;

int class_of(std::int64_t bytes) {
    if (bytes <= 256) return static_cast<int>((std::max<std::int64_t>(bytes, 1) + 63) / 64) - 1;
    const auto u = static_cast<std::uint64_t>(bytes - 1);
    const int top = std::bit_width(u) - 1;  // 2^top <= bytes-1
    if (top < first_large_top) return 4 + (top - 8) * 4 + static_cast<int>((u >> (top - 2)) & 3);
    return first_large_class + (top - first_large_top) * 8 + static_cast<int>((u >> (top - 3)) & 7);
}

std::int64_t class_bytes(int c) {
    if (c < 4) return (c + 1) * 64;
    const bool large = c >= first_large_class;
    const int bits = large ? 3 : 2, from = c - (large ? first_large_class : 4);
    const int top = (from >> bits) + (large ? first_large_top : 8), step = from & ((1 << bits) - 1);
    return (std::int64_t{1} << top) + (step + 1) * (std::int64_t{1} << (top - bits));
}

// How many blocks one piece of memory from the system is cut into: small ones fill an arena, of
// large ones as few as leave at most a sixteenth of their arenas idle.
std::int64_t blocks_of_refill(std::int64_t size) {
    if (size <= arena_bytes / 4) return arena_bytes / size;
    for (std::int64_t count = 1;; ++count) {
        const std::int64_t whole = round_up(count * size, arena_bytes);
        if ((whole - count * size) * 16 <= whole) return count;
    }
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
        for (int larger = c + 1; class_bytes(larger) <= 2 * size; ++larger)
            if (!free_of(larger).empty()) {
                lent_.emplace(free_of(larger).back(), larger);  // may throw: before it is taken
                return pop(larger);
            }
        return nullptr;
    }

    void refill(int c, std::int64_t size) {
        std::int64_t count = blocks_of_refill(size);
        char* arena = map(round_up(count * size, arena_bytes));
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
    std::array<std::vector<void*>, classes> free_;
    std::array<std::int64_t, classes> total_{};
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
