#pragma once
// A program of its own, spoken to through a socket: a line for a line, or all it has to say. It may
// die at any question (SIGILL and the like) without harm to us. Belongs to one thread.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea::bench {

std::string own_program();  // the path of this very program
std::string own_folder();   // the one it lies in

// What `fovea WORDS…` writes to its standard output, for what only a fresh process can tell
// (memory, start-up); throws where it ends with an error.
std::string output_of_fovea(std::vector<std::string> words);

using ChildEnvironment = std::vector<std::pair<std::string, std::string>>;

// Our environment but for what is set here, and for variables whose names begin with one of
// `without`.
struct ChildOptions {
    ChildEnvironment set{};
    std::vector<std::string> without{};
    bool show_errors = false;  // what it says on standard error; else that is lost
};

class ChildProgram {
public:
    ChildProgram() = default;
    ~ChildProgram() { stop(); }
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;

    // Starts the program (looked for in PATH).
    bool start(std::vector<std::string> command, const ChildOptions& options = {});
    bool alive() const { return child_ > 0; }
    // The answer; nothing where it has ended or has not answered in time: it is then stopped, and
    // trouble() says which.
    std::optional<std::string> ask(const std::string& line, double seconds);
    // All it writes until it ends; nothing where it ends with an error.
    std::optional<std::string> rest();
    const std::string& trouble() const { return trouble_; }
    void stop();

private:
    void bury();  // it has ended by itself: says how

    pid_t child_ = -1;
    int socket_ = -1;
    std::string pending_, trouble_;
};

}  // namespace fovea::bench
