#pragma once
// The one pool of compute threads. Work is split by size, never by the number of threads, so that
// results are the same bits on any machine; which thread runs a chunk is nobody's business.
//
// parallel_for may be called from any thread. A call from inside a body, or while another thread
// holds the pool, runs its chunks in place, in order: same bits, no nested pools.
#include <cstdint>
#include <type_traits>

namespace fovea {

int available_cores();         // as the scheduler and the cgroup allow
int thread_count();            // set_thread_count, else FOVEA_THREADS, else available_cores()
void set_thread_count(int n);  // 0 = automatic; not while a parallel_for runs

// For tests: while one is alive, every parallel_for is cut into at least this many pieces (as far
// as n goes), so that small work is really split; threads have their turn at each.
class SplitPieces {
public:
    explicit SplitPieces(int pieces);
    ~SplitPieces();
    SplitPieces(const SplitPieces&) = delete;
    SplitPieces& operator=(const SplitPieces&) = delete;

private:
    int before_;
};

namespace detail {
using ChunkBody = void (*)(void* body, std::int64_t begin, std::int64_t end);
void run_chunks(std::int64_t n, std::int64_t grain, ChunkBody call, void* body);
}  // namespace detail

// body(begin, end) for consecutive pieces [0, grain), [grain, 2·grain), … of [0, n), or smaller
// ones (SplitPieces): what it computes must not depend on where pieces begin and end. Denormals are
// flushed to zero inside (set and restored on every thread, the caller's too), and the caller's
// precision holds (base/precision.h). The first exception
// thrown by a body is rethrown here, after all pieces have ended.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, Body&& body) {
    using B = std::remove_reference_t<Body>;
    detail::run_chunks(
        n, grain,
        [](void* b, std::int64_t begin, std::int64_t end) { (*static_cast<B*>(b))(begin, end); },
        const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace fovea
