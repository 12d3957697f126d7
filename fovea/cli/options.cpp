#include "fovea/cli/options.h"

#include <algorithm>
#include <string_view>

#include "fovea/base/threads.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {
namespace {

GlobalOptions options;

}  // namespace

const GlobalOptions& global_options() { return options; }

void add_global_options(CLI::App& app) {
    options = {};
    // Groups hold the options back from a verb's common flags; see help.cpp.
    app.add_option("--threads", options.threads,
                   "compute threads; 0 = as many as the machine allows")
        ->envname("FOVEA_THREADS")
        ->check(CLI::Range(0, 1024))
        ->type_name("N")
        ->group("Global");
    app.add_option("--seed", options.seed, "start of every random choice")
        ->type_name("N")
        ->group("Global");
    app.add_option("--color", options.color, "colours on a terminal")
        ->check(CLI::IsMember({"auto", "always", "never"}))
        ->type_name("WHEN")
        ->group("Global");
    app.add_flag("-q,--quiet", options.quiet, "no progress and no notes")->group("Global");
    app.add_flag("-v,--verbose", options.verbose, "say more; -vv says all")->group("Global");
}

void apply_global_options() {
    if (options.threads > 0) set_thread_count(options.threads);
    set_color_mode(options.color == "always"  ? ColorMode::always
                   : options.color == "never" ? ColorMode::never
                                              : ColorMode::automatic);
}

void add_format_options(CLI::App& verb, std::string& format,
                        const std::vector<std::string>& names) {
    format = names.front();
    verb.add_option("--format", format, "form of the answer")
        ->check(CLI::IsMember(names))
        ->type_name("FORM");
    if (std::find(names.begin(), names.end(), "json") != names.end())
        verb.add_flag_callback(
            "--json", [&format] { format = "json"; }, "same as --format json");
}

bool wants_json(int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--") return false;
        if (word == "--json" || word == "--format=json" || word == "--format=jsonl") return true;
        if (word == "--format" && i + 1 < argc) {
            const std::string_view form = argv[i + 1];
            if (form == "json" || form == "jsonl") return true;
        }
    }
    return false;
}

}  // namespace fovea
