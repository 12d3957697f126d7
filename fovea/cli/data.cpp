#include "fovea/cli/data.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/data/check.h"
#include "fovea/data/check_labels.h"
#include "fovea/data/rewrite.h"
#include "fovea/data/text_file_writer.h"

namespace fovea {
namespace {

HeaderRow header_of(const std::string& word) {
    return word == "yes" ? HeaderRow::yes : word == "no" ? HeaderRow::no : HeaderRow::automatic;
}

void add_header_option(CLI::App& verb, std::string& word) {
    verb.add_option("--header", word, "whether the first row of a table names its columns")
        ->check(CLI::IsMember({"auto", "yes", "no"}))
        ->group(more_group);
}

void print_notes(const Problems& problems) {
    if (global_options().quiet) return;
    for (const std::string& note : problems.notes) fmt::print(stderr, "{}\n", note);
    for (const std::string& message : problems.first)
        fmt::print(stderr, "passed over: {}\n", message);
}

struct CheckChoice {
    std::string train;
    std::vector<std::string> held_out, text_keys;
    std::string source_key, target_key, label_key, task = "auto", header = "auto", format;
    std::int64_t limit = 0;

    // Train, then "held-out", or "held-out 1", "held-out 2", …
    template <class Named, class Make>
    std::vector<Named> sets(const Make& make) const {
        std::vector<Named> all{{"train", make(train)}};
        for (std::size_t i = 0; i < held_out.size(); ++i)
            all.push_back({held_out.size() == 1 ? "held-out" : fmt::format("held-out {}", i + 1),
                           make(held_out[i])});
        return all;
    }
};

// By the flags, else by a look at the training file; a pipe can be read only once, and is taken for
// pairs.
bool wants_labels(const CheckChoice& c) {
    if (c.task != "auto") return c.task == "classify";
    if (!c.label_key.empty() || !c.text_keys.empty()) return true;
    if (!c.source_key.empty() || !c.target_key.empty() || !can_be_read_twice(c.train)) return false;
    RecordFiles files;
    files.paths = {c.train};
    files.header = header_of(c.header);
    files.needs_columns = true;
    files.skip_bad = INT64_MAX;
    bool labelled = false;
    for_each_record(files, [&](const Columns& columns, Record&&) {
        labelled = looks_labelled(columns);
        return false;
    });
    return labelled;
}

template <class Check>
void report_check(const Check& check, const CheckChoice& choice, const char* what) {
    fmt::print("{}", choice.format == "json" ? check.json() + "\n" : check.text());
    if (!check.clean())
        fail_with(ErrorKind::bad_input,
                  "mend the lines above, or train with --skip-bad N if they are few", what);
}

void run_check(const CheckChoice& choice) {
    if (wants_labels(choice)) {
        const auto sets = choice.sets<NamedLabelled>([&](const std::string& argument) {
            LabelledFiles files;
            files.paths = {argument};
            files.header = header_of(choice.header);
            files.text_keys = choice.text_keys;
            files.label_key = choice.label_key;
            files.limit = choice.limit;
            return files;
        });
        report_check(check_labelled(sets), choice,
                     "the data has bad lines, empty texts, labels that training lacks or records "
                     "shared with the held-out files");
        return;
    }
    const auto sets = choice.sets<NamedFiles>([&](const std::string& argument) {
        PairFiles files = pair_files_of(argument);
        files.header = header_of(choice.header);
        files.source_key = choice.source_key;
        files.target_key = choice.target_key;
        files.limit = choice.limit;
        return files;
    });
    report_check(check_data(sets), choice,
                 "the data has bad lines, empty sides or pairs shared with the held-out files");
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
    std::vector<std::unique_ptr<TextFileWriter>> writers;
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
            writers.push_back(std::make_unique<TextFileWriter>(path));
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

void add_check(CLI::App& data) {
    CLI::App* check = data.add_subcommand(
        "check", "Counts, lengths, bad lines, duplicates, labels, and what sets share.");
    set_examples(*check,
                 {"fovea data check train.tsv dev.tsv test.tsv.gz",
                  "fovea data check train.en,train.de dev.en,dev.de",
                  "fovea data check mails/train mails/dev   # folders of .subject files",
                  "fovea data check train.jsonl --source-key text --target-key summary --json",
                  "fovea data check reviews.csv dev.csv --task classify",
                  "zcat pairs.gz | fovea data check -"});
    auto choice = std::make_shared<CheckChoice>();
    check->add_option("TRAIN", choice->train, "file, source,target pair of files, folder, or -")
        ->required();
    check->add_option("HELD_OUT", choice->held_out, "dev and test files, to find leaks");
    check
        ->add_option("--task", choice->task,
                     "what the records are for; auto looks at the file (a pipe holds pairs)")
        ->check(CLI::IsMember({"auto", "translate", "summarise", "classify"}));
    check->add_option("--source-key", choice->source_key, "column or key of the source");
    check->add_option("--target-key", choice->target_key, "column or key of the target");
    check->add_option("--text-key", choice->text_keys, "column or key of a text; twice for two")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    check->add_option("--label-key", choice->label_key, "column or key of the label");
    check->add_option("--limit", choice->limit, "only the first N records of each file; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->group(more_group);
    add_header_option(*check, choice->header);
    add_format_options(*check, choice->format, {"text", "json"});
    check->callback([choice] { run_check(*choice); });
}

void add_split(CLI::App& data) {
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

void add_dedupe(CLI::App& data) {
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

}  // namespace

void add_data_command(CLI::App& app) {
    CLI::App* data =
        app.add_subcommand("data", "Check, split and clean data before hours are spent on it.");
    data->require_subcommand(1);
    set_examples(*data, {"fovea data check train.tsv dev.tsv test.tsv",
                         "fovea data split pairs.tsv --dev 5% --out-dir data",
                         "fovea data dedupe pairs.tsv > new.tsv"});
    add_check(*data);
    add_split(*data);
    add_dedupe(*data);
}

}  // namespace fovea
