#pragma once
// A peer written in Python (bench/peers/*.py) as a child process: one line of JSON in, one out.
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/bench/child_program.h"

namespace fovea::bench {

// The Pythons to try, best first: the one asked for (or FOVEA_PEER_PYTHON) alone, else
// /opt/peers/venv/bin/python3 if it is there, and python3.
std::vector<std::string> peer_pythons(const std::string& asked = "");

class PythonPeer {
public:
    // The script's name, what to set in the child's environment, and the Python (empty: the first
    // of peer_pythons).
    PythonPeer(const std::string& script, const ChildEnvironment& environment,
               const std::string& python = "");

    bool alive() const { return child_.alive(); }
    // The answer; nothing where the peer has died, does not answer in ten minutes, or says that it
    // cannot.
    std::optional<Json> ask(const Json& question);
    // The last thing that went wrong.
    const std::string& trouble() const { return trouble_; }

private:
    ChildProgram child_;
    std::string trouble_;
};

}  // namespace fovea::bench
