#include "fovea/bench/child_program.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

extern char** environ;

namespace fovea::bench {

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    expect(n > 0, "bench: cannot find the program itself");
    return {path.data(), static_cast<std::size_t>(n)};
}

std::string own_folder() { return parent_path(own_program()); }

std::string output_of_fovea(std::vector<std::string> words) {
    words.insert(words.begin(), own_program());
    ChildProgram child;
    std::optional<std::string> text;
    if (child.start(words, {.show_errors = true})) text = child.rest();
    expect(text.has_value(), "bench: `fovea ", words[1], " ", words[2], "` failed");
    return *text;
}

bool ChildProgram::start(std::vector<std::string> command, const ChildOptions& options) {
    stop();
    pending_.clear();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (!options.show_errors)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);

    std::vector<std::string> own;
    for (const auto& [name, value] : options.set) own.push_back(name + "=" + value);
    std::vector<char*> env;
    for (std::string& s : own) env.push_back(s.data());
    for (char** e = environ; *e; ++e) {
        const std::string_view entry(*e);
        bool left_out = false;
        for (const auto& [name, value] : options.set) left_out |= entry.starts_with(name + "=");
        for (const std::string& prefix : options.without) left_out |= entry.starts_with(prefix);
        if (!left_out) env.push_back(*e);
    }
    env.push_back(nullptr);
    std::vector<char*> argv;
    for (std::string& s : command) argv.push_back(s.data());
    argv.push_back(nullptr);

    const int failed = posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    socket_ = ends[0];
    if (failed == 0) return true;
    trouble_ = command[0] + " cannot be started";
    child_ = -1;
    stop();
    return false;
}

void ChildProgram::stop() {
    if (socket_ >= 0) close(socket_);
    if (child_ > 0) {
        kill(child_, SIGKILL);  // it holds nothing worth saving
        waitpid(child_, nullptr, 0);
    }
    socket_ = -1;
    child_ = -1;
}

std::optional<std::string> ChildProgram::ask(const std::string& line, double seconds) {
    if (!alive()) return std::nullopt;
    const std::string message = line + "\n";
    for (std::size_t at = 0; at < message.size();) {
        const ssize_t n = send(socket_, message.data() + at, message.size() - at, MSG_NOSIGNAL);
        if (n <= 0) {
            bury();
            return std::nullopt;
        }
        at += static_cast<std::size_t>(n);
    }
    for (const Stopwatch clock; clock.seconds() < seconds;) {
        if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
            std::string answer = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            return answer;
        }
        pollfd fd{socket_, POLLIN, 0};
        if (poll(&fd, 1, 1000) <= 0) continue;
        std::array<char, 4096> buffer;
        const ssize_t n = read(socket_, buffer.data(), buffer.size());
        if (n <= 0) {
            bury();
            return std::nullopt;
        }
        pending_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    trouble_ = text_of("the peer has not answered in ", seconds, " seconds");
    stop();
    return std::nullopt;
}

std::optional<std::string> ChildProgram::rest() {
    if (!alive()) return std::nullopt;
    shutdown(socket_, SHUT_WR);
    std::string text = std::exchange(pending_, "");
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = read(socket_, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(n));
    int status = 1;
    waitpid(std::exchange(child_, -1), &status, 0);
    stop();
    if (status == 0) return text;
    trouble_ = "it ended with an error";
    return std::nullopt;
}

void ChildProgram::bury() {
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
