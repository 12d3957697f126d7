#include "fovea/bench/own_program.h"

#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "fovea/base/error.h"

extern char** environ;

namespace fovea::bench {
namespace {

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    expect(n > 0, "bench: cannot find the program itself");
    return {path.data(), static_cast<std::size_t>(n)};
}

}  // namespace

std::string output_of_fovea(std::vector<std::string> words) {
    words.insert(words.begin(), own_program());
    int ends[2];
    expect(pipe(ends) == 0, "bench: no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    std::vector<char*> argv;
    for (std::string& w : words) argv.push_back(w.data());
    argv.push_back(nullptr);
    pid_t child = -1;
    const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    int status = 1;
    if (failed == 0) {
        std::array<char, 4096> buffer;
        for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
            text.append(buffer.data(), static_cast<std::size_t>(n));
        waitpid(child, &status, 0);
    }
    close(ends[0]);
    expect(failed == 0 && status == 0, "bench: `fovea ", words[1], " ", words[2], "` failed");
    return text;
}

}  // namespace fovea::bench
