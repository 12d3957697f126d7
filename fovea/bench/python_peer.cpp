#include "fovea/bench/python_peer.h"

#include <cstdlib>

#include "fovea/base/files.h"

namespace fovea::bench {
namespace {

constexpr double python_patience = 600;  // seconds for any answer

// bench/peers of the sources: from here, or from the folder that we were built in.
std::string find_script(const std::string& name) {
    for (const std::string& folder :
         {std::string("bench/peers/"), own_folder() + "/../../../bench/peers/"})
        if (file_exists(folder + name)) return folder + name;
    return {};
}

}  // namespace

std::vector<std::string> peer_pythons(const std::string& asked) {
    if (!asked.empty()) return {asked};
    if (const char* named = std::getenv("FOVEA_PEER_PYTHON")) return {named};
    const std::string venv = "/opt/peers/venv/bin/python3";
    if (file_exists(venv)) return {venv, "python3"};
    return {"python3"};
}

PythonPeer::PythonPeer(const std::string& script, const ChildEnvironment& environment,
                       const std::string& python) {
    const std::string path = find_script(script);
    if (path.empty()) {
        trouble_ = "bench/peers/" + script + " is not here";
        return;
    }
    if (!child_.start({python.empty() ? peer_pythons().front() : python, path},
                      {.set = environment}))
        trouble_ = child_.trouble();
}

std::optional<Json> PythonPeer::ask(const Json& question) {
    if (!alive()) return std::nullopt;
    const std::optional<std::string> line = child_.ask(to_text(question), python_patience);
    if (!line) {
        trouble_ = child_.trouble();
        return std::nullopt;
    }
    const Json answer = parse_json(*line, "the peer's answer");
    if (!answer.contains("error")) return answer;
    trouble_ = answer["error"].get<std::string>();
    return std::nullopt;
}

}  // namespace fovea::bench
