#include "fovea/bench/python_peer.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

extern char** environ;

namespace fovea::bench {
namespace {

constexpr double python_patience = 600;  // seconds for any answer

// bench/peers of the sources: from here, or from the folder that we were built in.
std::string find_script(const std::string& name) {
    std::array<char, PATH_MAX> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    const std::string bin =
        n > 0 ? parent_path(std::string(path.data(), static_cast<std::size_t>(n))) : ".";
    for (const std::string& folder : {std::string("bench/peers/"), bin + "/../../../bench/peers/"})
        if (file_exists(folder + name)) return folder + name;
    return {};
}

}  // namespace

std::vector<std::string> peer_pythons(const std::string& asked) {
    if (!asked.empty()) return {asked};
    if (const char* named = std::getenv("FOVEA_PEER_PYTHON")) return {named};
    const std::string venv = "/opt/peers/venv/bin/python3";
    if (file_exists(venv)) return {venv, "python3"};
    return {"python3"};
}

PythonPeer::PythonPeer(const std::string& script,
                       const std::vector<std::pair<std::string, std::string>>& environment,
                       std::string python) {
    std::string path = find_script(script);
    if (path.empty()) {
        trouble_ = "bench/peers/" + script + " is not here";
        return;
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
    std::vector<std::string> set;
    for (const auto& [name, value] : environment) set.push_back(name + "=" + value);
    std::vector<char*> env;
    for (std::string& s : set) env.push_back(s.data());
    for (char** e = environ; *e; ++e) {
        bool is_set = false;
        for (const auto& [name, value] : environment)
            is_set = is_set || std::string_view(*e).starts_with(name + "=");
        if (!is_set) env.push_back(*e);
    }
    env.push_back(nullptr);
    if (python.empty()) python = peer_pythons().front();
    std::vector<char*> argv{python.data(), path.data(), nullptr};
    const int failed =
        posix_spawnp(&child_, python.c_str(), &actions, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (failed != 0) {
        trouble_ = python + " cannot be started";
        child_ = -1;
        stop();
    }
}

PythonPeer::~PythonPeer() { stop(); }

void PythonPeer::stop() {
    if (socket_ >= 0) close(socket_);
    if (child_ > 0) {
        kill(child_, SIGKILL);  // it holds nothing worth saving
        waitpid(child_, nullptr, 0);
    }
    socket_ = -1;
    child_ = -1;
}

std::optional<Json> PythonPeer::ask(const Json& question) {
    if (!alive()) return std::nullopt;
    const std::string message = to_text(question) + "\n";
    for (std::size_t at = 0; at < message.size();) {
        const ssize_t n = send(socket_, message.data() + at, message.size() - at, MSG_NOSIGNAL);
        if (n <= 0) {
            bury();
            return std::nullopt;
        }
        at += static_cast<std::size_t>(n);
    }
    const Stopwatch clock;
    bool ended = false;
    while (!ended && clock.seconds() < python_patience) {
        if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
            const Json answer = parse_json(pending_.substr(0, end), "the peer's answer");
            pending_.erase(0, end + 1);
            if (!answer.contains("error")) return answer;
            trouble_ = answer["error"].get<std::string>();
            return std::nullopt;
        }
        pollfd fd{socket_, POLLIN, 0};
        if (poll(&fd, 1, 1000) <= 0) continue;
        std::array<char, 4096> buffer;
        const ssize_t n = read(socket_, buffer.data(), buffer.size());
        ended = n <= 0;
        if (!ended) pending_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    if (ended) {
        bury();
    } else {
        trouble_ = text_of("the peer has not answered in ", python_patience, " seconds");
        stop();
    }
    return std::nullopt;
}

void PythonPeer::bury() {
    int status = 0;
    pid_t gone = 0;
    for (const Stopwatch clock; gone == 0 && clock.seconds() < 5; usleep(1000))
        gone = waitpid(child_, &status, WNOHANG);
    if (gone == child_) child_ = -1;
    if (gone > 0 && WIFSIGNALED(status))
        trouble_ = text_of("the peer died of signal ", WTERMSIG(status), " (",
                           strsignal(WTERMSIG(status)), ")");
    else
        trouble_ = "the peer has ended; are its libraries installed?";
    stop();
}

}  // namespace fovea::bench
