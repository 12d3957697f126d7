#include "fovea/bench/onednn.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/isa.h"

namespace fovea::bench {
namespace {

// Values of ONEDNN_MAX_CPU_ISA from best to worst; the first is "whatever you find".
constexpr std::array<const char*, 5> levels{"DEFAULT", "AVX512_CORE_BF16", "AVX512_CORE_VNNI",
                                            "AVX512_CORE", "AVX2"};
constexpr double onednn_patience = 120;  // seconds for any answer

}  // namespace

OneDnn::OneDnn() {
    const std::string path = join_path(own_folder(), "fovea-onednn-peer");
    if (file_exists(path)) program_ = path;
}

bool OneDnn::start(int level) {
    if (child_.alive() && level_ == level) return true;
    // Its threads may spin for about a millisecond between regions, not for ten: the next sample is
    // ours.
    const ChildOptions options{
        .set = {{"ONEDNN_MAX_CPU_ISA", levels[static_cast<std::size_t>(level)]},
                {"OMP_NUM_THREADS", std::to_string(thread_count())},
                {"GOMP_SPINCOUNT", "20000"}},
        .without = {"ONEDNN_", "OMP_", "GOMP_"}};
    if (!child_.start({program_}, options)) return false;
    level_ = level;
    const std::string version = ask("version");
    const std::size_t space = version.find(' ');
    if (space == std::string::npos) {
        child_.stop();
        return false;
    }
    name_ = "oneDNN " + version.substr(0, space) + " (" + version.substr(space + 1) + ")";
    return true;
}

std::string OneDnn::ask(const std::string& line) {
    return child_.ask(line, onednn_patience).value_or("");
}

int OneDnn::level_for(const std::string& precision) {
    if (const auto found = levels_.find(precision); found != levels_.end()) return found->second;
    // Where we were told to keep to AVX2 (FOVEA_ISA), so does the peer.
    const kernels::Isa ours = kernels::active_isa();
    const bool narrow = ours == kernels::Isa::avx2 || ours == kernels::Isa::scalar;
    for (int level = narrow ? 4 : 0; level < static_cast<int>(levels.size()); ++level) {
        if (!start(level)) continue;
        if (ask("probe " + precision) == "ok") return levels_[precision] = level;
    }
    return levels_[precision] = -1;
}

bool OneDnn::open(const std::string& work, const std::string& precision) {
    if (!available()) return false;
    for (int level = level_for(precision); level >= 0; level = levels_[precision]) {
        if (start(level)) {
            const std::string reply = ask(work);
            if (!reply.empty()) return reply == "ok";
        }
        // It died at this very work: one level down, for good.
        levels_[precision] = level + 1 < static_cast<int>(levels.size()) ? level + 1 : -1;
    }
    return false;
}

double OneDnn::run(int times) {
    const std::string reply = ask("run " + std::to_string(times));
    if (reply.empty() || reply.starts_with("no")) return -1;
    usleep(2000);  // until its threads have gone to sleep
    return std::strtod(reply.c_str(), nullptr);
}

}  // namespace fovea::bench
