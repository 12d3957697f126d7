// golden_lines [SEED]: prints every line as a JSON string, one per line.
#include "golden_lines.h"

#include <iostream>

#include "fovea/base/json.h"

int main(int argc, char** argv) {
    const std::uint64_t seed = argc > 1 ? std::stoull(argv[1]) : fovea::golden_seed;
    for (const std::string& line : fovea::golden_lines(seed))
        std::cout << fovea::Json(line).dump(-1, ' ', true) << '\n';
    return std::cout.flush() ? 0 : 1;
}
