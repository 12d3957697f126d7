#pragma once
// The pool all tensors live in. Blocks are 64-byte aligned pieces of 2 MB arenas with huge pages;
// they are never zeroed and never given back, so a training step after the first asks the system
// for no memory. (First touch of 32 MB: 15.7 ms with 4 KB pages, 2.5 ms with huge pages.)
// Thread-safe.
#include <cstddef>
#include <cstdint>

namespace fovea {

struct MemoryStats {
    std::int64_t system_calls = 0;  // how often the system was asked for an arena
    std::int64_t from_system = 0;   // bytes held
    std::int64_t in_use = 0;        // bytes of live blocks, rounded up to their class
    std::int64_t peak = 0;          // largest in_use since the start or reset_memory_peak()
};

MemoryStats memory_stats();
void reset_memory_peak();

// What this process may use: the cgroup's limit or the machine's memory, in bytes.
std::int64_t memory_limit();

namespace detail {
void* allocate_block(std::int64_t bytes);  // throws Error where the limit would be passed
void release_block(void* block, std::int64_t bytes) noexcept;
}  // namespace detail

}  // namespace fovea
