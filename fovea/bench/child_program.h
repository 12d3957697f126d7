#pragma once
// A program of its own that answers a line to a line through a socket. It may die at any question
// (SIGILL and the like) without harm to us. Belongs to one thread.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fovea::bench {

std::string own_folder();  // the one our program lies in

class ChildProgram {
public:
    using Environment = std::vector<std::pair<std::string, std::string>>;

    ChildProgram() = default;
    ~ChildProgram() { stop(); }
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;

    // Starts the program (looked for in PATH) with our environment but for what is set here, and
    // for variables whose names begin with one of `without`. What it says on standard error is
    // lost.
    bool start(std::vector<std::string> command, const Environment& set,
               const std::vector<std::string>& without = {});
    bool alive() const { return child_ > 0; }
    // The answer; nothing where it has ended or has not answered in time: it is then stopped, and
    // trouble() says which.
    std::optional<std::string> ask(const std::string& line, double seconds);
    const std::string& trouble() const { return trouble_; }
    void stop();

private:
    void bury();  // it has ended by itself: says how

    pid_t child_ = -1;
    int socket_ = -1;
    std::string pending_, trouble_;
};

}  // namespace fovea::bench
