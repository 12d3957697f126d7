#include "fovea/cli/average.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/tasks/average.h"

namespace fovea {
namespace {

struct AverageFlags {
    std::string run, out;
    int last = 10;
    bool force = false;
};

void average(const AverageFlags& f) {
    const std::vector<std::string> used = average_checkpoints(f.run, f.last, f.out, f.force);
    if (global_options().quiet) return;
    fmt::print(stderr, "averaged {} checkpoints ({} … {}) into {}\n", used.size(), used.front(),
               used.back(), f.out);
    if (used.size() < static_cast<std::size_t>(f.last))
        fmt::print(stderr,
                   "note: --last {}, but the run holds only {} checkpoints; train --keep N keeps "
                   "more\n",
                   f.last, used.size());
}

}  // namespace

void add_average_command(CLI::App& app) {
    CLI::App* v =
        app.add_subcommand("average", "Average the last checkpoints of a run into one model.");
    v->group(more_group);
    auto f = std::make_shared<AverageFlags>();
    v->add_option("RUN", f->run, "the run's folder")->required();
    v->add_option("--last", f->last, "checkpoints to take")->check(at_least(1));
    v->add_option("--out", f->out, "the new model's folder")->required();
    v->add_flag("--force", f->force, "overwrite it");
    set_examples(*v, {"fovea average run --last 10 --out run/averaged",
                      "fovea eval run/averaged --test test.tsv",
                      "fovea average run --last 5 --out best --force"});
    v->callback([f] { average(*f); });
}

}  // namespace fovea
