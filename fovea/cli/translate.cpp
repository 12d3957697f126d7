#include "fovea/cli/translate.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <span>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_flags.h"
#include "fovea/cli/options.h"
#include "fovea/cli/search_flags.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/tasks/translate.h"

namespace fovea {
namespace {

struct TranslateFlags {
    ModelFlags model;
    std::vector<std::string> files;
    std::string format = "text";
    SearchFlags search;
    std::int64_t batch_tokens = 2048, batch_texts = 0;
    bool alignments = false, scores = false;
    std::string prefixes, constraints, targets;
};

std::vector<std::string> lines_of(const std::vector<std::string>& files, const std::string& what) {
    std::vector<std::string> lines;
    std::string line;
    for (const std::string& path : files) {
        LineReader reader(path);
        while (reader.next(line)) lines.push_back(line);
    }
    expect_input(!lines.empty() || files.size() != 1 || files[0] != "", what, " is empty");
    return lines;
}

std::string pharaoh(const std::vector<AlignedPair>& pairs) {
    std::string out;
    for (const AlignedPair& a : pairs)
        out += fmt::format("{}{}-{}", out.empty() ? "" : " ", a.source, a.target);
    return out;
}

Json json_of(const TranslatedText& t, const std::string& source) {
    Json j;
    j["schema"] = "fovea.translation";
    j["version"] = 1;
    j["source"] = source;
    j["source_tokens"] = t.source_tokens;
    if (t.cut) j["source_cut"] = true;
    j["text"] = t.n_best.empty() ? "" : t.n_best[0].text;
    for (const auto& c : t.n_best) {
        Json n{{"text", c.text},
               {"score", c.hypothesis.score},
               {"log_probability", c.hypothesis.sum},
               {"finished", c.hypothesis.finished},
               {"tokens", c.tokens},
               {"token_scores", c.hypothesis.token_scores}};
        if (!c.alignment.tokens.empty()) {
            n["alignment"] = pharaoh(c.alignment.words);
            n["token_alignment"] = pharaoh(c.alignment.tokens);
        }
        j["n_best"].push_back(n);
    }
    return j;
}

// The n-best form of Marian and Moses: index ||| text ||| F0= score ||| ranked score.
void print_text(const TranslatedText& t, std::size_t index, const TranslateFlags& f, int n_best) {
    for (const auto& c : t.n_best) {
        std::string line;
        if (n_best > 1) line = fmt::format("{} ||| ", index);
        line += c.text;
        if (f.alignments) line += " ||| " + pharaoh(c.alignment.words);
        if (f.scores) {
            line += " ||| WordScores=";
            for (const float s : c.hypothesis.token_scores) line += fmt::format(" {:.4f}", s);
        }
        if (n_best > 1 || f.scores)
            line += fmt::format(" ||| F0= {:.4f} ||| {:.4f}", c.hypothesis.sum, c.hypothesis.score);
        fmt::print("{}\n", line);
    }
    if (t.n_best.empty()) fmt::print("\n");
}

void score(const Seq2SeqModel& model, const std::vector<std::string>& sources,
           const TranslateFlags& f) {
    const std::vector<std::string> targets = lines_of({f.targets}, f.targets);
    expect_input(targets.size() == sources.size(), f.targets, ": has ", targets.size(),
                 " lines but there are ", sources.size(), " sources");
    for (const PairScore& p : score_pairs(model, sources, targets)) {
        if (f.format != "text") {
            fmt::print("{}\n", to_text(Json{{"schema", "fovea.score"},
                                            {"version", 1},
                                            {"log_probability", p.sum},
                                            {"token_scores", p.token_scores}}));
            continue;
        }
        fmt::print("{:.4f}\n", p.sum);
    }
}

using Models = std::vector<const Seq2SeqModel*>;

// How many of the texts were longer than the model takes.
std::int64_t answer(const Models& models, std::span<const std::string> texts,
                    const TranslateFlags& f, const TranslateOptions& o, Progress& progress) {
    const std::vector<TranslatedText> found = translate(models, texts, o);
    progress.hide();
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (f.format == "text")
            print_text(found[i], o.first_text + i, f, o.search.n_best);
        else
            fmt::print("{}\n", to_text(json_of(found[i], texts[i])));
    }
    std::fflush(stdout);
    return std::count_if(found.begin(), found.end(), [](const auto& t) { return t.cut; });
}

void say_cut(std::int64_t cut, const Seq2SeqModel& model, Progress& progress) {
    if (cut > 0)
        progress.say(fmt::format("note: {} {} cut to the {} tokens that the model takes", cut,
                                 cut == 1 ? "text was" : "texts were", model.max_source_length));
}

// Each line as soon as it is typed.
void answer_typed_lines(const Models& models, const TranslateFlags& f, TranslateOptions& o) {
    Progress progress("", 0, "", {.quiet = global_options().quiet});
    progress.say("type a text and press Enter; Ctrl-D ends");
    LineReader reader("-");
    for (std::string line; reader.next(line); ++o.first_text)
        say_cut(answer(models, std::span(&line, 1), f, o, progress), *models[0], progress);
}

void run(TranslateFlags& f, const char* task) {
    const std::vector<Seq2SeqModel> models = f.model.load(task);
    Models pointers;
    for (const Seq2SeqModel& m : models) pointers.push_back(&m);
    if (f.files.empty()) f.files = {"-"};
    TranslateOptions o;
    o.search = f.search.over(models[0].search);
    o.batch_tokens = std::max<std::int64_t>(1, f.batch_tokens / o.search.beam);
    o.batch_texts = f.batch_texts;
    o.alignments = f.alignments;
    const bool with_files = !f.targets.empty() || !f.prefixes.empty() || !f.constraints.empty();
    if (f.files == std::vector<std::string>{"-"} && is_terminal(stdin) && !with_files)
        return answer_typed_lines(pointers, f, o);

    const std::vector<std::string> texts = lines_of(f.files, "the input");
    if (!f.targets.empty()) return score(models[0], texts, f);
    if (!f.prefixes.empty()) {
        o.prefixes = lines_of({f.prefixes}, f.prefixes);
        expect_input(o.prefixes.size() == texts.size(), f.prefixes, ": has ", o.prefixes.size(),
                     " lines but there are ", texts.size(), " texts");
    }
    if (!f.constraints.empty()) {
        for (const std::string& line : lines_of({f.constraints}, f.constraints)) {
            std::vector<std::string> phrases;
            for (std::size_t from = 0; from < line.size();) {
                const std::size_t tab = std::min(line.find('\t', from), line.size());
                if (tab > from) phrases.push_back(line.substr(from, tab - from));
                from = tab + 1;
            }
            o.constraints.push_back(phrases);
        }
        expect_input(o.constraints.size() == texts.size(), f.constraints, ": has ",
                     o.constraints.size(), " lines but there are ", texts.size(), " texts");
    }
    Progress progress(task, static_cast<std::int64_t>(texts.size()), "lines",
                      {.quiet = global_options().quiet});
    o.progress = [&](std::int64_t done, std::int64_t) {
        progress.update(static_cast<std::int64_t>(o.first_text) + done);
    };
    // What is done is printed: whoever stops a long run keeps it.
    constexpr std::size_t portion = 2048;
    const std::span<const std::string> all(texts);
    std::int64_t cut = 0;
    for (; o.first_text < all.size(); o.first_text += portion)
        cut += answer(pointers,
                      all.subspan(o.first_text, std::min(portion, all.size() - o.first_text)), f, o,
                      progress);
    say_cut(cut, models[0], progress);
}

void add(CLI::App& app, const char* name, const char* sentence,
         std::initializer_list<const char*> examples) {
    CLI::App* v = app.add_subcommand(name, sentence);
    auto f = std::make_shared<TranslateFlags>();
    f->model.add_to(*v);
    v->add_option("FILES", f->files, "texts, one per line; - or nothing: standard input");
    add_format_options(*v, f->format, {"text", "jsonl"});
    f->search.add_to(*v);
    v->add_flag("--alignments", f->alignments, "word alignments from cross-attention (Pharaoh)");
    v->add_flag("--scores", f->scores, "log-probability of each token");
    v->add_option("--prefixes", f->prefixes, "file of forced beginnings, one per line")
        ->group(more_group);
    v->add_option("--constraints", f->constraints, "file of phrases that must occur, tabs between")
        ->group(more_group);
    v->add_option("--score", f->targets, "score the targets of this file instead of translating")
        ->group(more_group);
    v->add_option("--batch-tokens", f->batch_tokens, "source tokens decoded together")
        ->group(more_group);
    v->add_option("--batch", f->batch_texts, "texts decoded together at most; 0: no bound")
        ->group(more_group);
    set_examples(*v, examples);
    v->callback([f, name] { run(*f, name); });
}

}  // namespace

void add_translate_command(CLI::App& app) {
    add(app, "translate", "Translate lines of text.",
        {"fovea translate run/model < english.txt > german.txt",
         "fovea translate run/model --beam 4 --n-best 4 --format jsonl < in.txt",
         "fovea translate run/model --alignments < in.txt"});
}

void add_summarise_command(CLI::App& app) {
    add(app, "summarise", "Summarise documents, one per line.",
        {"fovea summarise run/model < documents.txt",
         "fovea summarise run/model --beam 4 < documents.txt",
         "fovea summarise run/model --format jsonl < documents.txt"});
}

}  // namespace fovea
