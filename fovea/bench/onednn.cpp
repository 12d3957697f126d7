#include "fovea/bench/onednn.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"

extern char** environ;

namespace fovea::bench {
namespace {

// Values of ONEDNN_MAX_CPU_ISA from best to worst; the first is "whatever you find".
constexpr std::array<const char*, 5> levels{"DEFAULT", "AVX512_CORE_BF16", "AVX512_CORE_VNNI",
                                            "AVX512_CORE", "AVX2"};
constexpr double onednn_patience = 120;  // seconds for any answer

std::string own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return n > 0 ? parent_path(std::string(path.data(), static_cast<std::size_t>(n))) : ".";
}

}  // namespace

OneDnn::OneDnn() {
    const std::string path = join_path(own_folder(), "fovea-onednn-peer");
    if (file_exists(path)) program_ = path;
}

OneDnn::~OneDnn() { stop(); }

void OneDnn::stop() {
    if (socket_ >= 0) close(socket_);
    if (child_ > 0) {
        kill(child_, SIGKILL);  // it holds nothing worth saving
        waitpid(child_, nullptr, 0);
    }
    socket_ = -1;
    child_ = -1;
    level_ = -1;
}

bool OneDnn::start(int level) {
    if (child_ > 0 && level_ == level) return true;
    stop();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);

    // Its threads may spin for about a millisecond between regions, not for ten: the next sample is
    // ours.
    std::vector<std::string> set{
        std::string("ONEDNN_MAX_CPU_ISA=") + levels[static_cast<std::size_t>(level)],
        "OMP_NUM_THREADS=" + std::to_string(thread_count()), "GOMP_SPINCOUNT=20000"};
    std::vector<char*> env;
    for (std::string& s : set) env.push_back(s.data());
    for (char** e = environ; *e; ++e) {
        const std::string_view name(*e);
        if (!name.starts_with("ONEDNN_") && !name.starts_with("OMP_") && !name.starts_with("GOMP_"))
            env.push_back(*e);
    }
    env.push_back(nullptr);
    std::vector<char*> argv{program_.data(), nullptr};
    const int failed =
        posix_spawn(&child_, program_.c_str(), &actions, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (failed != 0) {
        child_ = -1;
        stop();
        return false;
    }
    level_ = level;
    const std::string version = ask("version", onednn_patience);
    const std::size_t space = version.find(' ');
    if (space == std::string::npos) {
        stop();
        return false;
    }
    name_ = "oneDNN " + version.substr(0, space) + " (" + version.substr(space + 1) + ")";
    return true;
}

std::string OneDnn::ask(const std::string& line, double timeout) {
    if (socket_ < 0) return {};
    const std::string message = line + "\n";
    if (send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0) {
        stop();
        return {};
    }
    std::string reply;
    const Stopwatch clock;
    while (clock.seconds() < timeout) {
        pollfd fd{socket_, POLLIN, 0};
        if (poll(&fd, 1, 1000) <= 0) continue;
        char buffer[4096];
        const ssize_t n = read(socket_, buffer, sizeof buffer);
        if (n <= 0) break;  // it died
        reply.append(buffer, static_cast<std::size_t>(n));
        if (reply.back() == '\n') {
            reply.pop_back();
            return reply;
        }
    }
    stop();
    return {};
}

int OneDnn::level_for(const std::string& precision) {
    if (const auto found = levels_.find(precision); found != levels_.end()) return found->second;
    for (int level = 0; level < static_cast<int>(levels.size()); ++level) {
        if (!start(level)) continue;
        if (ask("probe " + precision, onednn_patience) == "ok") return levels_[precision] = level;
    }
    return levels_[precision] = -1;
}

bool OneDnn::open(const std::string& work, const std::string& precision) {
    if (!available()) return false;
    for (int level = level_for(precision); level >= 0; level = levels_[precision]) {
        if (start(level)) {
            const std::string reply = ask(work, onednn_patience);
            if (!reply.empty()) return reply == "ok";
        }
        // It died at this very work: one level down, for good.
        levels_[precision] = level + 1 < static_cast<int>(levels.size()) ? level + 1 : -1;
    }
    return false;
}

double OneDnn::run(int times) {
    const std::string reply = ask("run " + std::to_string(times), onednn_patience);
    if (reply.empty() || reply.starts_with("no")) return -1;
    usleep(2000);  // until its threads have gone to sleep
    return std::strtod(reply.c_str(), nullptr);
}

}  // namespace fovea::bench
