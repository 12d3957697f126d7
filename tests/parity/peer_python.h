#pragma once
// The Python with torch and transformers that slow tests compare with, where there is one.
#include <cstdlib>
#include <string>

#include "tests/run_program.h"

namespace fovea::test {

inline std::string peer_python() {
    const char* given = std::getenv("FOVEA_PEER_PYTHON");
    const std::string python = given ? given : "/opt/peers/venv/bin/python";
    const bool there = run({python, "-c", "import torch, transformers"}).code == 0;
    return there ? python : "";
}

}  // namespace fovea::test
