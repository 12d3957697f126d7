#pragma once
// The oneDNN peer as a child process (bench/peers/onednn_peer.cpp), asked through a socket. If it
// dies (2.6.3 does, with SIGILL, where a hypervisor hides the AMX palette), it is started again at
// the next lower instruction set; that choice is made once a precision and kept for the run.
#include <sys/types.h>

#include <map>
#include <string>

namespace fovea::bench {

class OneDnn {
public:
    OneDnn();  // looks for the program beside our own; available() tells
    ~OneDnn();
    OneDnn(const OneDnn&) = delete;
    OneDnn& operator=(const OneDnn&) = delete;

    bool available() const { return !program_.empty(); }

    // Opens a piece of work, e.g. open("gemm fwd f32 4096 512 2048", "f32"); false where oneDNN
    // cannot do it here.
    bool open(const std::string& work, const std::string& precision);

    // Seconds for `times` executions of the open work; negative where the peer died.
    double run(int times);

    // "oneDNN 2.6.3 (AVX-512)" of the child that runs now.
    const std::string& name() const { return name_; }

private:
    bool start(int level);
    void stop();
    std::string ask(const std::string& line, double timeout);  // "" where the child is dead
    int level_for(const std::string& precision);               // -1: none survives

    std::string program_, name_;
    std::map<std::string, int> levels_;
    pid_t child_ = -1;
    int socket_ = -1;
    int level_ = -1;
};

}  // namespace fovea::bench
