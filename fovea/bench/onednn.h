#pragma once
// The oneDNN peer as a child process (bench/peers/onednn_peer.cpp), asked through a socket. If it
// dies (2.6.3 does, with SIGILL, where a hypervisor hides the AMX palette), it is started again at
// the next lower instruction set; that choice is made once a precision and kept for the run.
#include <map>
#include <string>

#include "fovea/bench/child_program.h"

namespace fovea::bench {

class OneDnn {
public:
    OneDnn();  // looks for the program beside our own; available() tells

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
    std::string ask(const std::string& line);     // "" where the child is dead
    int level_for(const std::string& precision);  // -1: none survives

    std::string program_, name_;
    std::map<std::string, int> levels_;
    ChildProgram child_;
    int level_ = -1;  // of the child
};

}  // namespace fovea::bench
