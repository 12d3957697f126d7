#include "fovea/cli/data.h"

#include <fmt/core.h>

#include "fovea/base/error.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/data/check.h"

namespace fovea {
namespace {

struct CheckChoice {
    std::string train;
    std::vector<std::string> held_out;
    std::string source_key, target_key, format;
};

void run_check(const CheckChoice& choice) {
    std::vector<NamedFiles> sets;
    const auto add = [&](const std::string& name, const std::string& argument) {
        PairFiles files = pair_files_of(argument);
        files.source_key = choice.source_key;
        files.target_key = choice.target_key;
        sets.push_back({name, files});
    };
    add("train", choice.train);
    for (std::size_t i = 0; i < choice.held_out.size(); ++i)
        add(choice.held_out.size() == 1 ? "held-out" : fmt::format("held-out {}", i + 1),
            choice.held_out[i]);
    const DataCheck check = check_data(sets);
    fmt::print("{}", choice.format == "json" ? check.json() + "\n" : check.text());
    if (!check.clean())
        fail_with(ErrorKind::bad_input,
                  "mend the lines above, or train with --skip-bad N if they are few",
                  "the data has bad lines, empty sides or pairs shared with the held-out files");
}

}  // namespace

void add_data_command(CLI::App& app) {
    CLI::App* data = app.add_subcommand("data", "Looks at data before hours are spent on it.");
    data->group(more_group);
    data->require_subcommand(1);
    set_examples(*data,
                 {"fovea data check train.tsv", "fovea data check train.tsv dev.tsv test.tsv",
                  "fovea data check train.en,train.de dev.en,dev.de --json"});
    CLI::App* check = data->add_subcommand(
        "check", "Counts, lengths, bad lines, duplicates, and what training and test data share.");
    set_examples(*check,
                 {"fovea data check train.tsv dev.tsv test.tsv.gz",
                  "fovea data check train.en,train.de dev.en,dev.de",
                  "fovea data check mails/train mails/dev   # folders of .subject files",
                  "fovea data check train.jsonl --source-key text --target-key summary --json"});
    auto choice = std::make_shared<CheckChoice>();
    check->add_option("TRAIN", choice->train, "file, source,target pair of files, or folder")
        ->required();
    check->add_option("HELD_OUT", choice->held_out, "dev and test files, to find leaks");
    check->add_option("--source-key", choice->source_key, "column or key of the source");
    check->add_option("--target-key", choice->target_key, "column or key of the target");
    add_format_options(*check, choice->format, {"text", "json"});
    check->callback([choice] { run_check(*choice); });
}

}  // namespace fovea
