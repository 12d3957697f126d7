#include "fovea/cli/demo.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/cli/terminal/train_display.h"
#include "fovea/data/dates.h"
#include "fovea/inspect/attention_view.h"
#include "fovea/tasks/seq2seq_train.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/translate.h"

namespace fovea {
namespace {

struct DemoFlags {
    std::string out = "build/demo";
    std::int64_t steps = 700;
};

void write_pairs(const std::string& path, const DatesOptions& options) {
    std::string text;
    for (const TextPair& p : written_dates(options)) text += p.source + "\t" + p.target + "\n";
    write_file_atomically(path, text);
}

constexpr const char* mark = ".fovea-demo";

// Only what an earlier demo made is thrown away.
void empty_own_folder(const std::string& path) {
    if (file_exists(path) && !file_exists(join_path(path, mark)) &&
        !(is_folder(path) && std::filesystem::is_empty(path)))
        throw Error(path + ": is there already and not from an earlier demo", ErrorKind::usage,
                    "choose an empty or new folder with --out");
    std::filesystem::remove_all(path);
    make_folders(path);
    write_file_atomically(join_path(path, mark), "");
}

// A Transformer small enough to learn its task in a minute: the paper's, in characters.
Seq2SeqTraining training(const DemoFlags& f) {
    Seq2SeqTraining t;
    t.train = pair_files_of(join_path(f.out, "train.tsv"));
    t.split_dev = false;  // the last model is shown; dates held out are measured at the end
    t.vocabulary = {.kind = VocabularyKind::characters, .size = 200};
    t.config.apply_preset("tiny");
    t.config.encoder_layers = t.config.decoder_layers = 2;
    t.config.dropout = 0.0f;
    t.smoothing = 0.0f;
    t.batches.max_tokens = 2048;
    t.limits = {.source = 64, .target = 16};
    t.search.max_length = 16;
    t.run.out = f.out;
    t.run.steps = f.steps;
    t.run.save_every = f.steps;
    t.run.seed = t.batches.seed = global_options().seed;
    t.run.schedule = {
        .kind = ScheduleKind::linear, .peak = 3e-3, .warmup = 60, .total = f.steps, .floor = 0.05};
    return t;
}

// The last layers in the terminal, all of them on a page.
void show_attention(const std::string& folder, const std::string& text, const std::string& page) {
    const std::vector<ModelFolder> folders{ModelFolder::open(folder)};
    const std::unique_ptr<Predictor> predictor = find_task(folders[0].task)->predictor();
    Settings defaults;
    predictor->describe(defaults);
    predictor->open(folders, {});
    const AttentionView view = look_inside(*predictor, {{"text", text}});
    std::vector<AttentionMap> last = view.maps;
    choose_maps(last, {.layer = "last"});
    for (const AttentionMap& m : last)
        fmt::print("\n{}",
                   terminal_picture(view, mean_of_heads(m), {.width = terminal_width(stdout)}));
    fmt::print("{}", terminal_legend());
    write_file_atomically(page, html_page(view));
}

void run(const DemoFlags& f) {
    const Stopwatch clock;
    empty_own_folder(f.out);
    fmt::print(
        "Fovea learns to read dates: \"the 3rd of March, 1987\" to 1987-03-03, five languages, 16 "
        "styles.\n"
        "A Transformer (2+2 layers, d=128, 4 heads) on characters; one date in ten is never shown "
        "to it.\n\n");
    std::fflush(stdout);
    write_pairs(join_path(f.out, "train.tsv"), {.count = 12000});
    write_pairs(join_path(f.out, "test.tsv"), {.count = 500, .held_out = true});

    const InterruptScope scope;
    Seq2SeqTrainer trainer(training(f), [](const std::string&) {});
    {
        TrainDisplay display(global_options().quiet);
        const TrainResult r = trainer.run(display.events());
        if (r.end == TrainEnd::interrupted) throw Interrupted{r.signal};
    }
    const Seq2SeqModel model = Seq2SeqModel::load(join_path(f.out, "model"));
    const Seq2SeqModel* const models[] = {&model};
    const std::vector<TextPair> test = read_pairs(pair_files_of(join_path(f.out, "test.tsv")));
    SearchOptions greedy = model.search;
    greedy.beam = 1;
    const Seq2SeqScore score = evaluate_pairs(models, test, {.search = greedy});
    fmt::print("held-out dates, exact match: {:.1f} % of {}\n\n",
               score.figures["exact_match"].get<double>(), test.size());

    const std::vector<std::string> lines = {"the 3rd of March, 1987", "24. Dezember 2031",
                                            "le 1er août 1944", "5 de mayo de 1998", "07/04/2026"};
    for (const std::string& line : lines) fmt::print("  {:<24} {}\n", line, translate(model, line));

    const std::string page = join_path(f.out, "attention.html");
    show_attention(join_path(f.out, "model"), lines[0], page);
    fmt::print("\nall layers and heads: {}\nmodel: {}   {} in all\n",
               std::filesystem::absolute(page).string(), join_path(f.out, "model"),
               duration_text(clock.seconds()));
}

}  // namespace

void add_demo_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand(
        "demo", "Train a small Transformer in about a minute and look inside it.");
    auto f = std::make_shared<DemoFlags>();
    v->add_option("--out", f->out,
                  "folder for data, model and pictures (of an earlier demo: emptied first)");
    v->add_option("--steps", f->steps, "updates to train")->check(at_least(1));
    set_examples(*v, {"fovea demo", "fovea demo --out /tmp/demo", "fovea demo --steps 300"});
    v->callback([f] { run(*f); });
}

}  // namespace fovea
