#include "fovea/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "fovea/base/checked.h"
#include "fovea/base/precision.h"

namespace fovea {
namespace {

std::atomic<int> least_pieces{1};  // tests alone change it

// FTZ and DAZ for the life of a scope: the same product took 35 times longer on denormal input.
class FlushDenormals {
public:
#if defined(__x86_64__)
    FlushDenormals() : old_(_mm_getcsr()) { _mm_setcsr(old_ | 0x8040u); }
    ~FlushDenormals() { _mm_setcsr(old_); }

private:
    unsigned old_;
#else
    FlushDenormals() {}
#endif
};

void pause_cpu() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

struct Job {
    std::int64_t n = 0, grain = 1, chunks = 0;
    detail::ChunkBody call = nullptr;
    void* body = nullptr;
    const Precision precision = current_precision();  // the caller's
    std::atomic<std::int64_t> next{0}, ended{0};      // chunks taken, chunks over
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    std::mutex error_mutex;

    void work() {
        const FlushDenormals flush;
        const PrecisionScope scope(precision);
        for (;;) {
            const std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= chunks) return;
            try {
                call(body, i * grain, std::min(n, (i + 1) * grain));
            } catch (...) {
                const std::lock_guard<std::mutex> lock(error_mutex);
                if (!failed.exchange(true)) error = std::current_exception();
            }
            ended.fetch_add(1, std::memory_order_acq_rel);
        }
    }

    bool over() const { return ended.load(std::memory_order_acquire) == chunks; }
};

thread_local bool inside_pool = false;

class Pool {
public:
    ~Pool() { stop(); }

    void resize(int threads) {
        stop();
        stopping_ = false;
        // A new worker has missed nothing: the last job of the old ones is over and gone.
        const std::uint64_t seen = generation_.load(std::memory_order_relaxed);
        for (int i = 1; i < threads; ++i) workers_.emplace_back([this, seen] { loop(seen); });
    }

    int threads() const { return static_cast<int>(workers_.size()) + 1; }

    // Returns when all chunks are over, not when all workers have looked: where the system runs
    // something else on their cores, the caller does the chunks itself and does not wait for them.
    // A worker that comes late holds the job (shared), finds no chunk left, and lets go.
    void run(const std::shared_ptr<Job>& job) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            job_ = job;
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        inside_pool = true;
        job->work();
        inside_pool = false;
        for (int spin = 0; !job->over(); ++spin) {
            if (spin < 4096) {
                pause_cpu();
            } else {
                std::unique_lock<std::mutex> lock(mutex_);
                done_.wait(lock, [&] { return job->over(); });
            }
        }
    }

private:
    void loop(std::uint64_t seen) {
        inside_pool = true;
        for (;;) {
            // Spin briefly (a region follows another within microseconds in a model), then sleep.
            bool fresh = false;
            for (int spin = 0; spin < 2000 && !fresh; ++spin) {
                fresh = generation_.load(std::memory_order_acquire) != seen;
                if (!fresh) pause_cpu();
            }
            std::shared_ptr<Job> job;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] {
                    return stopping_ || generation_.load(std::memory_order_relaxed) != seen;
                });
                if (stopping_) return;
                seen = generation_.load(std::memory_order_relaxed);
                job = job_;
            }
            job->work();
            if (job->over()) {
                const std::lock_guard<std::mutex> lock(mutex_);
                done_.notify_one();
            }
        }
    }

    void stop() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& t : workers_) t.join();
        workers_.clear();
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::atomic<std::uint64_t> generation_{0};
    std::shared_ptr<Job> job_;
    bool stopping_ = false;
};

std::mutex owner;  // who holds the pool; a second caller runs its work in place
std::atomic<int> wanted_threads{0};

Pool& pool() {
    static Pool instance;
    return instance;
}

// cgroup v2 "max 100000" or "quota period"; v1 two files. 0 where there is no limit.
double cgroup_cores() {
    std::ifstream v2("/sys/fs/cgroup/cpu.max");
    std::string quota;
    double period = 0;
    if (v2 >> quota >> period && quota != "max" && period > 0)
        return std::strtod(quota.c_str(), nullptr) / period;
    std::ifstream q("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
        p("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    double a = 0;
    if (q >> a && p >> period && a > 0 && period > 0) return a / period;
    return 0;
}

int automatic_threads() {
    if (const char* text = std::getenv("FOVEA_THREADS"); text && *text) {
        char* end = nullptr;
        const long n = std::strtol(text, &end, 10);
        if (*end != '\0' || n < 1 || n > 1024)
            fail_with(ErrorKind::usage, "unset it, or give a number from 1 to 1024",
                      "FOVEA_THREADS is \"", text, "\" but a number of threads is wanted");
        return static_cast<int>(n);
    }
    return available_cores();
}

}  // namespace

int available_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    int cores = sched_getaffinity(0, sizeof set, &set) == 0
                    ? CPU_COUNT(&set)
                    : static_cast<int>(std::thread::hardware_concurrency());
    const double limit = cgroup_cores();
    if (limit > 0) cores = std::min(cores, std::max(1, static_cast<int>(std::ceil(limit))));
    return std::max(1, cores);
}

int thread_count() {
    const int n = wanted_threads.load();
    if (n > 0) return n;
    static const int automatic = automatic_threads();
    return automatic;
}

void set_thread_count(int n) {
    expect(n >= 0 && n <= 1024, "threads: ", n, " but 1 to 1024 (0 = automatic) are possible");
    const std::lock_guard<std::mutex> lock(owner);
    wanted_threads.store(n);
}

SplitPieces::SplitPieces(int pieces) : before_(least_pieces.exchange(pieces)) {}
SplitPieces::~SplitPieces() { least_pieces = before_; }

void detail::run_chunks(std::int64_t n, std::int64_t grain, ChunkBody call, void* body) {
    if (n <= 0) return;
    expect(grain > 0, "parallel_for: grain is ", grain, " but must be positive");
    if (const int pieces = least_pieces.load(std::memory_order_relaxed); pieces > 1)
        grain = std::min(grain, ceil_div(n, std::int64_t{pieces}));
    const auto fill = [&](Job& job) {
        job.n = n;
        job.grain = grain;
        job.chunks = ceil_div(n, grain);
        job.call = call;
        job.body = body;
    };
    const auto finish = [](const Job& job) {
        if (job.failed) std::rethrow_exception(job.error);
    };
    const int threads = thread_count();
    std::unique_lock<std::mutex> lock(owner, std::defer_lock);
    if (n > grain && threads > 1 && !inside_pool && lock.try_lock()) {
        const auto job = std::make_shared<Job>();
        fill(*job);
        if (pool().threads() != threads) pool().resize(threads);
        pool().run(job);
        finish(*job);
    } else {
        Job job;
        fill(job);
        job.work();
        finish(job);
    }
}

}  // namespace fovea
