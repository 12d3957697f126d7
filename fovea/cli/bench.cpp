#include "fovea/cli/bench.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/bench/kernels.h"
#include "fovea/bench/tokenizers.h"
#include "fovea/bench/train.h"
#include "fovea/bench/translate.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {
namespace {

// What a bench says while it runs: rows as a table, the case at hand on a terminal's last line.
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

void show_result(const std::vector<bench::Row>& rows, bool text) {
    if (is_terminal(stderr) && !global_options().quiet) fmt::print(stderr, "\r\x1b[K");
    throw_if_interrupted();
    if (rows.empty())
        throw Error("bench: no row fits --only", ErrorKind::usage,
                    "without --only all rows are measured, and their names shown");
    if (!text) fmt::print("{}\n", to_text(bench::to_json(rows, global_options().verbose > 0), 1));
}

void add_kernels(CLI::App& bench) {
    struct Choice {
        bool quick = false, alone = false;
        std::string only, format;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* kernels = bench.add_subcommand(
        "kernels",
        "Times the kernels beside the machine's own limits and, where installed, oneDNN.");
    set_examples(*kernels,
                 {"fovea bench kernels --quick", "fovea bench kernels --only \"gemm fwd\"",
                  "fovea bench kernels --threads 1 --json > kernels.json"});
    kernels->add_flag("--quick", choice->quick, "fewer shapes and samples: under a minute");
    kernels->add_option("--only", choice->only, "rows whose bench, case or precision holds this")
        ->type_name("TEXT");
    kernels->add_flag("--no-peer", choice->alone, "leave oneDNN out");
    add_format_options(*kernels, choice->format, {"text", "json"});
    kernels->callback([choice] {
        const bool text = choice->format == "text";
        const InterruptScope finish_the_case;
        bench::KernelBenchOptions options;
        options.quick = choice->quick;
        options.peers = !choice->alone;
        options.only = choice->only;
        show_progress(options, text);
        const bench::KernelBenchResult result = bench::bench_kernels(options);
        show_result(result.rows, text);
        if (result.left_out > 0)
            fmt::print(stderr, "note: no time left for {} rows; without --quick all are measured\n",
                       result.left_out);
    });
}

void add_tokenizers(CLI::App& bench) {
    struct Choice {
        bool quick = false, alone = false;
        std::string only, text, format;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* tokenizers = bench.add_subcommand(
        "tokenizers",
        "Times encoding, training and loading beside tokenizers and SentencePiece, if installed.");
    set_examples(*tokenizers,
                 {"fovea bench tokenizers --quick", "fovea bench tokenizers --text corpus.txt",
                  "fovea bench tokenizers --json > tokenizers.json"});
    tokenizers
        ->add_option("--text", choice->text, "a text file; else 20 MB of the data sets at hand")
        ->type_name("FILE");
    tokenizers->add_flag("--quick", choice->quick, "4 MB of text, fewer rounds: under a minute");
    tokenizers->add_option("--only", choice->only, "rows whose case holds this")->type_name("TEXT");
    tokenizers->add_flag("--no-peer", choice->alone, "leave the peers out");
    add_format_options(*tokenizers, choice->format, {"text", "json"});
    tokenizers->callback([choice] {
        const bool text = choice->format == "text";
        const InterruptScope finish_the_case;
        bench::TokenizerBenchOptions options;
        options.text = choice->text;
        options.quick = choice->quick;
        options.peers = !choice->alone;
        options.only = choice->only;
        show_progress(options, text);
        if (!global_options().quiet)
            options.on_note = [](const std::string& note) { fmt::print(stderr, "{}\n", note); };
        show_result(bench::bench_tokenizers(options), text);
    });
}

// Flags of the benches of whole models.
struct ModelChoice {
    bool quick = false, alone = false;
    std::string only, format, python;
    double seconds = 0;

    void add_to(CLI::App& verb, const char* quick_means) {
        verb.add_flag("--quick", quick, quick_means);
        verb.add_option("--only", only, "rows whose bench, case and precision hold this")
            ->type_name("TEXT");
        verb.add_flag("--no-peer", alone, "leave the peers out");
        verb.add_option("--python", python, "the Python that has the peers")
            ->type_name("PATH")
            ->envname("FOVEA_PEER_PYTHON")
            ->group(more_group);
        verb.add_option("--seconds", seconds, "to spend on a case; 0: as the case needs")
            ->check(at_least(0))
            ->group(more_group);
        add_format_options(verb, format, {"text", "json"});
    }
    bool text() const { return format == "text"; }
    void give_to(bench::ModelBenchOptions& options) const {
        options.quick = quick;
        options.peers = !alone;
        options.only = only;
        options.python = python;
        options.seconds = seconds;
        options.seed = global_options().seed;
        show_progress(options, text());
        if (!global_options().quiet)
            options.on_note = [](const std::string& note) { fmt::print(stderr, "{}\n", note); };
    }
};

void add_training_flags(CLI::App& verb, bench::TrainBenchOptions& options) {
    verb.add_option("--batch-tokens", options.batch_tokens,
                    "tokens of a batch (longer side); 0: 4096, with --quick 1024")
        ->check(at_least(0));
    verb.add_option("--vocab-size", options.vocabulary, "0: 8000, from base on 32000")
        ->check(CLI::Range(0, 1 << 24));
    verb.add_option("--data", options.data, "pairs to train on; else made from a seed")
        ->type_name("FILE");
}

void add_train(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::TrainBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* train = bench.add_subcommand(
        "train", "Times training of the Transformer beside PyTorch, if installed, and its memory.");
    set_examples(*train, {"fovea bench train --quick", "fovea bench train --preset small --no-peer",
                          "fovea bench train --json > train.json"});
    train->add_option("--preset", choice->options.presets, "sizes of the model [small base]")
        ->check(CLI::IsMember({"tiny", "small", "base", "big"}));
    train->add_option("--precision", choice->options.precisions, "of ours [f32 bf16]")
        ->check(CLI::IsMember({"f32", "bf16"}));
    add_training_flags(*train, choice->options);
    train->add_option("--dropout", choice->options.dropout, "on both sides")
        ->check(CLI::Range(0.0, 0.9));
    choice->add_to(*train, "batches of 1024 tokens, fewer rounds, no memory: under a minute");
    train->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_train(choice->options), choice->text());
    });
}

void add_scaling(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::TrainBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    choice->options.precisions = {"f32"};
    CLI::App* scaling = bench.add_subcommand(
        "scaling", "Times training against the length of sentences and the number of layers.");
    set_examples(*scaling, {"fovea bench scaling", "fovea bench scaling --only length --no-peer",
                            "fovea bench scaling --precision f32 bf16 --json > scaling.json"});
    scaling->add_option("--precision", choice->options.precisions, "of ours [f32]")
        ->check(CLI::IsMember({"f32", "bf16"}));
    scaling
        ->add_option("--batch-tokens", choice->options.batch_tokens,
                     "tokens of a batch; 0: 4096, with --quick 1024")
        ->check(at_least(0));
    scaling->add_option("--vocab-size", choice->options.vocabulary, "0: 8000")
        ->check(CLI::Range(0, 1 << 24));
    scaling->add_option("--dropout", choice->options.dropout, "on both sides")
        ->check(CLI::Range(0.0, 0.9));
    choice->add_to(*scaling, "batches of 1024 tokens, fewer rounds");
    scaling->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_scaling(choice->options), choice->text());
    });
}

void add_translate(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::TranslateBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* translate = bench.add_subcommand(
        "translate", "Times beam search beside CTranslate2, if installed, and the start-up.");
    set_examples(*translate,
                 {"fovea bench translate --quick", "fovea bench translate --only \"beam 4\"",
                  "fovea bench translate --json > translate.json"});
    bench::TranslateBenchOptions& o = choice->options;
    translate->add_option("--preset", o.preset, "size of the model")
        ->check(CLI::IsMember({"tiny", "small", "base", "big"}));
    translate->add_option("--vocab-size", o.vocabulary, "tokens of the vocabulary")
        ->check(CLI::Range(300, 1 << 24));
    translate->add_option("--precision", o.precisions, "of ours [f32 bf16 int8]")
        ->check(CLI::IsMember({"f32", "bf16", "int8"}));
    translate->add_option("--beam", o.beams, "hypotheses kept at each step [1 4]")
        ->check(CLI::Range(1, 64));
    translate->add_option("--batch", o.batch, "sentences decoded together")
        ->check(CLI::Range(1, 4096));
    translate->add_option("--length", o.length, "tokens of every translation; 0: 32, quick 16")
        ->check(CLI::Range(0, 1000));
    translate->add_option("--starts", o.starts, "starts of the program to time; 0: none")
        ->check(CLI::Range(0, 1000));
    choice->add_to(*translate, "shorter translations, fewer rounds: about a minute");
    translate->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_translate(choice->options), choice->text());
    });
}

// Not for people: trains a little and prints the largest resident size of its own process.
void add_training_memory(CLI::App& bench) {
    struct Choice {
        bench::TrainBenchOptions options;
        std::string preset = "base", precision = "f32";
        int updates = 3;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* memory = bench.add_subcommand("training-memory", "")->group(hidden_group);
    memory->add_option("--preset", choice->preset, "");
    memory->add_option("--precision", choice->precision, "");
    memory->add_option("--updates", choice->updates, "");
    add_training_flags(*memory, choice->options);
    memory->callback([choice] {
        choice->options.seed = global_options().seed;
        const bench::TrainingWork work = bench::training_work(choice->options, choice->preset);
        bench::TrainingRun run(work, choice->precision);
        run.run(0, choice->updates);
        fmt::print("{:.0f}\n", bench::largest_resident_size());
    });
}

}  // namespace

void add_bench_command(CLI::App& app) {
    CLI::App* bench = app.add_subcommand("bench", "Measures this machine and Fovea on it.");
    set_examples(*bench, {"fovea bench kernels", "fovea bench train --quick",
                          "fovea bench translate --json > translate.json"});
    bench->require_subcommand(1);
    add_kernels(*bench);
    add_tokenizers(*bench);
    add_train(*bench);
    add_translate(*bench);
    add_scaling(*bench);
    add_training_memory(*bench);
}

}  // namespace fovea
