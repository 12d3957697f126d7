#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/bench/train.h"

extern char** environ;

namespace fovea::bench {
namespace {

std::string own_program() {
    std::array<char, PATH_MAX> path{};
    const ssize_t n = readlink("/proc/self/exe", path.data(), path.size() - 1);
    expect(n > 0, "bench: cannot find the program itself");
    return {path.data(), static_cast<std::size_t>(n)};
}

// What a program writes to its standard output.
std::string output_of(std::vector<std::string> words) {
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
    if (failed == 0) {
        std::array<char, 4096> buffer;
        for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
            text.append(buffer.data(), static_cast<std::size_t>(n));
        waitpid(child, nullptr, 0);
    }
    close(ends[0]);
    return text;
}

}  // namespace

double largest_resident_size() {
    LineReader status("/proc/self/status");
    for (std::string line; status.next(line);)
        if (line.starts_with("VmHWM:")) return 1024 * std::strtod(line.c_str() + 6, nullptr);
    return 0;
}

double training_memory(const TrainBenchOptions& o, const std::string& preset,
                       const std::string& precision, int updates) {
    std::vector<std::string> words = {own_program(),
                                      "bench",
                                      "training-memory",
                                      "--preset",
                                      preset,
                                      "--precision",
                                      precision,
                                      "--updates",
                                      std::to_string(updates),
                                      "--threads",
                                      std::to_string(thread_count()),
                                      "--seed",
                                      std::to_string(o.seed)};
    if (o.batch_tokens > 0)
        words.insert(words.end(), {"--batch-tokens", std::to_string(o.batch_tokens)});
    if (o.vocabulary > 0) words.insert(words.end(), {"--vocab-size", std::to_string(o.vocabulary)});
    if (!o.data.empty()) words.insert(words.end(), {"--data", o.data});
    return std::strtod(output_of(words).c_str(), nullptr);
}

}  // namespace fovea::bench
