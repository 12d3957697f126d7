#include "fovea/cli/verify.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/bench/verify.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/progress.h"

namespace fovea {
namespace {

void print_json(const bench::VerifyReport& r) {
    Json checks = Json::array();
    for (const bench::VerifyCheck& c : r.checks)
        checks.push_back(
            {{"precision", c.precision}, {"what", c.what}, {"how", c.how}, {"holds", c.holds}});
    fmt::print("{}\n", to_text(Json{{"schema", "fovea.verify"},
                                    {"version", 1},
                                    {"holds", r.holds()},
                                    {"hash", r.hash},
                                    {"seconds", r.seconds},
                                    {"checks", checks}}));
}

void run_verify(const std::string& format) {
    Progress progress("verify", 18, "checks", {.quiet = global_options().quiet});
    std::int64_t done = 0;
    const bench::VerifyReport r = bench::verify([&](const bench::VerifyCheck& c) {
        progress.update(++done);
        if (format != "text") return;
        progress.hide();
        fmt::print("{:<5} {:<8} {:<8} {}\n", c.precision, c.what, c.holds ? "same" : "DIFFERS",
                   c.how);
    });
    progress.finish();
    if (format == "json") print_json(r);
    if (format == "text")
        fmt::print("\nhash {}   the same on every machine, for this version of Fovea ({})\n",
                   r.hash, duration_text(r.seconds));
    if (!r.holds())
        throw Error("verify: the promise of same bits does not hold on this machine",
                    ErrorKind::failed,
                    "please report it, with the output of fovea doctor: it is a defect");
}

}  // namespace

void add_verify_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand(
        "verify",
        "Shows on this machine that results are the same bits whatever the threads, "
        "instructions, batch, cache and resume point; prints a hash to compare.");
    v->group(more_group);
    auto format = std::make_shared<std::string>("text");
    add_format_options(*v, *format, {"text", "json"});
    set_examples(*v, {"fovea verify", "fovea verify --json", "fovea verify --threads 4"});
    v->callback([format] { run_verify(*format); });
}

}  // namespace fovea
