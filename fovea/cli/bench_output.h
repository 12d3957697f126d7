#pragma once
// What every bench says while it runs and when it is done.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "fovea/bench/rows.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {

// Rows as a table, the case at hand on a terminal's last line.
template <class Options>
void show_progress(Options& options, bool text) {
    const bool live = is_terminal(stderr) && !global_options().quiet;
    options.stop = interrupted;
    if (text) {
        fmt::print("{}", bench::table_header());
        std::fflush(stdout);
        options.on_row = [live](const bench::Row& row) {
            if (live) fmt::print(stderr, "\r\x1b[K");
            fmt::print("{}", bench::table_line(row));
            std::fflush(stdout);
        };
    }
    if (live)
        options.on_case = [](const std::string& name) {
            fmt::print(stderr, "\r\x1b[K{} ...", name);
            std::fflush(stderr);
        };
}

void show_result(const std::vector<bench::Row>& rows, bool text);

}  // namespace fovea
