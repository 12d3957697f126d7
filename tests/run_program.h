#pragma once
// The one way tests run a program: as a user would, keeping what it said. No shell between, unless
// asked for ({"/bin/sh", "-c", command}).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fovea::test {

struct Outcome {
    int code = -1;  // exit code; 128 + signal where a signal ended it
    std::string out, err;
    std::int64_t peak_bytes = 0;  // of memory
};

struct RunOptions {
    std::string input{};                                     // standard input
    std::vector<std::pair<std::string, std::string>> env{};  // added to ours
    std::string folder{};                                    // to start in; ours where empty
    // Called at least every 20 ms while it runs, with what it has written so far.
    std::function<void(pid_t, const std::string& out)> poll{};
};

inline std::vector<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

inline Outcome run(const std::vector<std::string>& words, const RunOptions& options = {}) {
    int in[2], out[2], err[2];
    if (pipe(in) || pipe(out) || pipe(err)) return {};
    const pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        for (const int fd : {in[0], in[1], out[0], out[1], err[0], err[1]}) close(fd);
        for (const auto& [name, value] : options.env) setenv(name.c_str(), value.c_str(), 1);
        if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
        std::vector<char*> argv;
        for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    for (const int fd : {in[0], out[1], err[1]}) close(fd);
    signal(SIGPIPE, SIG_IGN);
    fcntl(in[1], F_SETFL, O_NONBLOCK);

    Outcome outcome;
    std::size_t written = 0;
    bool open_in = true, open_out = true, open_err = true;
    while (open_out || open_err) {
        if (open_in && written == options.input.size()) {
            close(in[1]);
            open_in = false;
        }
        pollfd fds[3] = {{open_out ? out[0] : -1, POLLIN, 0},
                         {open_err ? err[0] : -1, POLLIN, 0},
                         {open_in ? in[1] : -1, POLLOUT, 0}};
        ::poll(fds, 3, 20);
        if (options.poll) options.poll(child, outcome.out);
        char buffer[65536];
        const auto drain = [&](int fd, std::string& text, bool& is_open) {
            const ssize_t n = read(fd, buffer, sizeof buffer);
            if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
            if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) is_open = false;
        };
        if (fds[0].revents) drain(out[0], outcome.out, open_out);
        if (fds[1].revents) drain(err[0], outcome.err, open_err);
        if (fds[2].revents) {
            const ssize_t n =
                write(in[1], options.input.data() + written, options.input.size() - written);
            if (n > 0) written += static_cast<std::size_t>(n);
            if (n < 0 && errno != EAGAIN && errno != EINTR) written = options.input.size();
        }
    }
    if (open_in) close(in[1]);
    close(out[0]);
    close(err[0]);
    int status = 0;
    rusage usage{};
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    outcome.peak_bytes = std::int64_t{usage.ru_maxrss} << 10;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

// build/release/bin/fovea WORDS...
inline Outcome fovea(std::vector<std::string> words, const RunOptions& options = {}) {
    words.insert(words.begin(), FOVEA_BINARY);
    return run(words, options);
}

}  // namespace fovea::test
