#include "fovea/cli/data_rewrite.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "fovea/base/atomic_file.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/data/rewrite.h"

namespace fovea {
namespace {

void print_notes(const Problems& problems) {
    if (global_options().quiet) return;
    for (const std::string& note : problems.notes) fmt::print(stderr, "{}\n", note);
    for (const std::string& message : problems.first)
        fmt::print(stderr, "passed over: {}\n", message);
}

struct RewriteChoice {
    RewriteFiles files;
    std::string by = "record", header = "auto";

    void add_to(CLI::App& verb) {
        verb.add_option("FILE", files.path,
                        "file, parallel files a.en,a.de, or - for standard input")
            ->required();
        verb.add_option("--by", by, "what makes two records the same")
            ->check(CLI::IsMember({"record", "source"}));
        verb.add_option("--source-key", files.source_key,
                        "column or key of the source, with --by source");
        verb.add_option("--skip-bad", files.skip_bad, "bad lines to pass over")
            ->check(CLI::NonNegativeNumber);
        add_header_option(verb, header);
    }
    const RewriteFiles& settled() {
        files.by = by == "source" ? SameBy::source : SameBy::record;
        files.header = header_of(header);
        return files;
    }
};

struct SplitChoice : RewriteChoice {
    std::string dev, test;
    SplitOptions options;
};

void run_split(SplitChoice& choice) {
    if (choice.dev.empty() && choice.test.empty())
        fail_with(ErrorKind::usage, "add --dev 5%, --test 1000, or both",
                  "fovea data split: nothing is held out");
    if (!choice.dev.empty()) choice.options.dev = held_out_size(choice.dev);
    if (!choice.test.empty()) choice.options.test = held_out_size(choice.test);
    choice.options.seed = global_options().seed;
    const SplitReport report = split_file(choice.settled(), choice.options);
    print_notes(report.problems);
    for (const SplitReport::Set& set : report.sets)
        for (const std::string& path : set.paths) fmt::print("{}: {} records\n", path, set.records);
}

struct DedupeChoice : RewriteChoice {
    std::string out;
    bool force = false;
};

void run_dedupe(DedupeChoice& choice) {
    const RewriteFiles& files = choice.settled();
    const std::size_t sides = parallel_paths(files.path).size();
    std::vector<std::unique_ptr<AtomicFile>> writers;
    if (!choice.out.empty()) {
        const auto paths = parallel_paths(choice.out);
        if (paths.size() != sides)
            fail_with(ErrorKind::usage,
                      "name as many files as there are sides: --out new.en,new.de", "--out names ",
                      paths.size(), " files, but the data has ", sides);
        for (const std::string& path : paths) {
            if (!choice.force && file_exists(path))
                fail_with(ErrorKind::usage, "--force overwrites it, --out names another", path,
                          ": is there already");
            writers.push_back(std::make_unique<AtomicFile>(path));
        }
    } else if (sides > 1) {
        fail_with(ErrorKind::usage, "name the files to write: --out new.en,new.de",
                  "fovea data dedupe: parallel files do not fit one standard output");
    }
    const DedupeReport report = dedupe_file(files, [&](std::size_t side, std::string_view text) {
        if (writers.empty())
            std::fwrite(text.data(), 1, text.size(), stdout);
        else
            writers[side]->write(text);
    });
    for (const auto& writer : writers) writer->finish();
    for (const auto& writer : writers) writer->publish();
    print_notes(report.problems);
    if (!global_options().quiet)
        fmt::print(stderr, "{} of {} records kept, {} repeat an earlier one\n", report.kept,
                   report.records, report.records - report.kept);
}

}  // namespace

HeaderRow header_of(const std::string& word) {
    return word == "yes" ? HeaderRow::yes : word == "no" ? HeaderRow::no : HeaderRow::automatic;
}

void add_header_option(CLI::App& verb, std::string& word) {
    verb.add_option("--header", word, "whether the first row of a table names its columns")
        ->check(CLI::IsMember({"auto", "yes", "no"}))
        ->group(more_group);
}

void add_data_split(CLI::App& data) {
    CLI::App* split =
        data.add_subcommand("split", "Splits a file into train, dev and test by what records say.");
    set_examples(*split,
                 {"fovea data split pairs.tsv --dev 5% --out-dir data",
                  "fovea data split reviews.csv --dev 1000 --test 1000 --out-dir data",
                  "fovea data split a.en,a.de --dev 5% --by source --out-dir data --seed 7"});
    auto choice = std::make_shared<SplitChoice>();
    choice->add_to(*split);
    split->add_option("--dev", choice->dev, "records of the dev set: 5% or 1000");
    split->add_option("--test", choice->test, "records of the test set");
    split->add_option("--out-dir", choice->options.out_folder, "where train, dev and test go")
        ->required();
    split->add_flag("--force", choice->options.force, "overwrite files there");
    split->callback([choice] { run_split(*choice); });
}

void add_data_dedupe(CLI::App& data) {
    CLI::App* dedupe =
        data.add_subcommand("dedupe", "Writes a file without the records that came before.");
    set_examples(*dedupe, {"fovea data dedupe pairs.tsv > new.tsv",
                           "fovea data dedupe pairs.tsv --by source > new.tsv",
                           "fovea data dedupe a.en,a.de --out new.en,new.de"});
    auto choice = std::make_shared<DedupeChoice>();
    choice->add_to(*dedupe);
    dedupe->add_option("--out", choice->out, "write here, not to standard output");
    dedupe->add_flag("--force", choice->force, "overwrite it");
    dedupe->callback([choice] { run_dedupe(*choice); });
}

}  // namespace fovea
