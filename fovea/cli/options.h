#pragma once
// Flags that mean the same for every verb, and may stand before or after it.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct GlobalOptions {
    int threads = 0;         // --threads; 0 = as many as the machine allows
    std::uint64_t seed = 1;  // --seed
    int verbose = 0;         // -v, -vv
    bool quiet = false;      // -q: no progress, no notes; errors remain
    std::string color = "auto";
};

// Of the running command. Set by the parser before a verb's callback runs.
const GlobalOptions& global_options();

void add_global_options(CLI::App& app);

// Takes --threads and --color into use, once they are parsed.
void apply_global_options();

// `--format NAME` with the given names (the first is the default) and `--json` as its short form.
// The chosen name is written to `format`.
void add_format_options(CLI::App& verb, std::string& format, const std::vector<std::string>& names);

// True when the words of a command line ask for JSON: then errors are JSON too, even those of the
// parser itself.
bool wants_json(int argc, const char* const* argv);

}  // namespace fovea
