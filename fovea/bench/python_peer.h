#pragma once
// A peer written in Python (bench/peers/*.py) as a child process: one line of JSON in, one out.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea::bench {

// The Pythons to try, best first: the one asked for (or FOVEA_PEER_PYTHON) alone, else
// /opt/peers/venv/bin/python3 if it is there, and python3.
std::vector<std::string> peer_pythons(const std::string& asked = "");

class PythonPeer {
public:
    // The script's name, what to set in the child's environment, and the Python (empty: the first
    // of peer_pythons).
    PythonPeer(const std::string& script,
               const std::vector<std::pair<std::string, std::string>>& environment,
               std::string python = "");
    ~PythonPeer();
    PythonPeer(const PythonPeer&) = delete;
    PythonPeer& operator=(const PythonPeer&) = delete;

    bool alive() const { return child_ > 0; }
    // The answer; nothing where the peer has died, does not answer in ten minutes, or says that it
    // cannot.
    std::optional<Json> ask(const Json& question);
    // The last thing that went wrong.
    const std::string& trouble() const { return trouble_; }

private:
    void stop();
    void bury();  // the peer has ended by itself: says how

    pid_t child_ = -1;
    int socket_ = -1;
    std::string pending_, trouble_;
};

}  // namespace fovea::bench
