#include "fovea/cli/bench_models.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/bench/infer.h"
#include "fovea/bench/pretrain.h"
#include "fovea/bench/rnn.h"
#include "fovea/bench/train.h"
#include "fovea/bench/translate.h"
#include "fovea/bench/vision.h"
#include "fovea/cli/bench_output.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"

namespace fovea {
namespace {

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
    translate->add_option("--precision", o.precisions, "of ours [f32 bf16 int8 int7]")
        ->check(CLI::IsMember({"f32", "bf16", "int8", "int7"}));
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

void add_infer(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::InferBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* infer = bench.add_subcommand(
        "infer", "Times BERT-base and GPT-2 beside PyTorch and ONNX Runtime, if installed.");
    set_examples(*infer, {"fovea bench infer --quick", "fovea bench infer --only \"bert-base 1x\"",
                          "fovea bench infer --precision f32 int8 --json > infer.json"});
    infer->add_option("--precision", choice->options.precisions, "of ours [f32 bf16 int8 int7]")
        ->check(CLI::IsMember({"f32", "bf16", "int8", "int7"}));
    choice->add_to(*infer, "fewer sentences and rounds");
    infer->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_infer(choice->options), choice->text());
    });
}

void add_rnn(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::RnnBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* rnn = bench.add_subcommand(
        "rnn", "Times training and steps of GRU and LSTM stacks beside PyTorch, if installed.");
    set_examples(*rnn, {"fovea bench rnn --quick", "fovea bench rnn --only \"gru 2x512\"",
                        "fovea bench rnn --json > rnn.json"});
    choice->add_to(*rnn, "one layer of 256, fewer rounds");
    rnn->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_rnn(choice->options), choice->text());
    });
}

void add_pretrain(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::PretrainBenchOptions options;
        std::string model = "bert-base";
        int updates = 3;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* pretrain = bench.add_subcommand(
        "pretrain", "Times updates of BERT-base and GPT-2 beside PyTorch, if installed.");
    set_examples(*pretrain,
                 {"fovea bench pretrain --quick", "fovea bench pretrain --only gpt2 --no-peer",
                  "fovea bench pretrain --json > pretrain.json"});
    pretrain->add_option("--precision", choice->options.precisions, "of ours [f32 bf16]")
        ->check(CLI::IsMember({"f32", "bf16"}));
    pretrain->add_option("--dropout", choice->options.dropout, "on both sides")
        ->check(CLI::Range(0.0, 0.9));
    choice->add_to(*pretrain, "fewer rounds");
    pretrain->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_pretrain(choice->options), choice->text());
    });
    // Not for people, as training-memory is not.
    CLI::App* memory = bench.add_subcommand("pretrain-memory", "")->group(hidden_group);
    memory->add_option("--model", choice->model, "");
    memory->add_option("--dropout", choice->options.dropout, "");
    memory->add_option("--updates", choice->updates, "");
    memory->callback([choice] {
        fmt::print("{:.0f}\n",
                   bench::pretrain_memory(choice->model, choice->options.dropout, choice->updates));
    });
}

void add_vision(CLI::App& bench) {
    struct Choice : ModelChoice {
        bench::ModelBenchOptions options;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* vision = bench.add_subcommand(
        "vision",
        "Times ViT, SegFormer, JPEG and log-mel beside PyTorch and Pillow, if installed.");
    set_examples(*vision, {"fovea bench vision --quick", "fovea bench vision --only vit-b",
                           "fovea bench vision --json > vision.json"});
    choice->add_to(*vision, "fewer rounds");
    vision->callback([choice] {
        const InterruptScope finish_the_sample;
        choice->give_to(choice->options);
        show_result(bench::bench_vision(choice->options), choice->text());
    });
}

}  // namespace

void add_model_benches(CLI::App& bench) {
    add_train(bench);
    add_translate(bench);
    add_infer(bench);
    add_rnn(bench);
    add_pretrain(bench);
    add_vision(bench);
    add_scaling(bench);
    add_training_memory(bench);
}

}  // namespace fovea
