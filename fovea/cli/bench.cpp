#include "fovea/cli/bench.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/files.h"
#include "fovea/bench/attention_length.h"
#include "fovea/bench/kernels.h"
#include "fovea/bench/tokenizers.h"
#include "fovea/cli/bench_models.h"
#include "fovea/cli/bench_output.h"
#include "fovea/cli/help.h"

namespace fovea {

void show_result(const std::vector<bench::Row>& rows, bool text) {
    if (is_terminal(stderr) && !global_options().quiet) fmt::print(stderr, "\r\x1b[K");
    throw_if_interrupted();
    if (rows.empty())
        throw Error("bench: no row fits --only", ErrorKind::usage,
                    "without --only all rows are measured, and their names shown");
    if (!text) fmt::print("{}\n", to_text(bench::to_json(rows, global_options().verbose > 0), 1));
}

namespace {

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

void add_attention(CLI::App& bench) {
    struct Choice {
        bool quick = false;
        std::string only, format, svg, work = "fwd+bwd";
        int window = 128;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* attention = bench.add_subcommand(
        "attention", "Times what looking at a text costs by its length, mechanism by mechanism.");
    set_examples(*attention,
                 {"fovea bench attention --quick", "fovea bench attention --only 16384 --threads 1",
                  "fovea bench attention --svg cost.svg"});
    attention->add_flag("--quick", choice->quick, "texts of up to 4,096 rows");
    attention->add_option("--only", choice->only, "rows whose case holds this")->type_name("TEXT");
    attention->add_option("--window", choice->window, "rows to each side")
        ->check(CLI::Range(1, 1 << 20));
    attention->add_option("--svg", choice->svg,
                          "draw time and memory against length into this file");
    attention->add_option("--work", choice->work, "what is drawn")
        ->check(CLI::IsMember({"fwd", "fwd+bwd"}));
    add_format_options(*attention, choice->format, {"text", "json"});
    attention->callback([choice] {
        const bool text = choice->format == "text";
        const InterruptScope finish_the_case;
        bench::AttentionLengthOptions options;
        options.quick = choice->quick;
        options.only = choice->only;
        options.window = choice->window;
        show_progress(options, text);
        const bench::AttentionLengths all = bench::bench_attention_length(options);
        show_result(all.rows, text);
        if (text)
            for (const std::string& line : bench::fit_lines(all.points)) fmt::print("{}\n", line);
        if (choice->svg.empty()) return;
        const std::string svg = bench::attention_length_svg(all.points, choice->work);
        if (svg.empty())
            throw Error("--svg: there is nothing to draw: rows of at least two lengths are needed",
                        ErrorKind::usage, "leave out --only");
        write_file_atomically(choice->svg, svg);
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

}  // namespace

void add_bench_command(CLI::App& app) {
    CLI::App* bench = app.add_subcommand("bench", "Measures this machine and Fovea on it.");
    bench->group(more_group);
    set_examples(*bench, {"fovea bench kernels", "fovea bench train --quick",
                          "fovea bench translate --json > translate.json"});
    bench->require_subcommand(1);
    add_kernels(*bench);
    add_attention(*bench);
    add_tokenizers(*bench);
    add_model_benches(*bench);
}

}  // namespace fovea
