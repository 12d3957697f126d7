#pragma once
// A peer written in Python (bench/peers/*.py) as a child process: one line of JSON in, one out.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/json.h"

namespace fovea::bench {

class PythonPeer {
public:
    // The script's name, and what to set in the child's environment. The Python is
    // FOVEA_PEER_PYTHON, else /opt/peers/venv/bin/python3, else python3.
    PythonPeer(const std::string& script,
               const std::vector<std::pair<std::string, std::string>>& environment);
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

    pid_t child_ = -1;
    int socket_ = -1;
    std::string pending_, trouble_;
};

}  // namespace fovea::bench
