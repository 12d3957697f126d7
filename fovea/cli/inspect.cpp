#include "fovea/cli/inspect.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_flags.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/inspect/attention_view.h"
#include "fovea/inspect/model_overview.h"

namespace fovea {
namespace {

struct InspectFlags {
    std::unique_ptr<ModelFlags> model;
    std::string text, target, map, layer, head, html, svg, format = "text";
    bool list = false, force = false;
    bool has_text = false, has_target = false;
};

template <class... Parts>
[[noreturn]] void wrong_inspect(std::string hint, const Parts&... parts) {
    fail_with(ErrorKind::usage, std::move(hint), "inspect: ", parts...);
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
}

// Flags that contradict each other or would have no effect.
void check_inspect_flags(const InspectFlags& f) {
    const std::pair<const char*, bool> of_a_text[] = {
        {"--target", f.has_target},  {"--map", !f.map.empty()},   {"--layer", !f.layer.empty()},
        {"--head", !f.head.empty()}, {"--html", !f.html.empty()}, {"--svg", !f.svg.empty()}};
    for (const auto& [flag, given] : of_a_text)
        if (given && !f.has_text)
            wrong_inspect("add --text \"…\"", flag, " has no effect without --text");
    if (f.has_text && is_blank(f.text))
        wrong_inspect("give it something to look at: --text \"…\"", "the text is empty");
    if (f.has_target && is_blank(f.target))
        wrong_inspect("leave --target out: then the model's own output is looked at",
                      "the target is empty");
    if (f.list && !f.html.empty())
        wrong_inspect("leave one of them out", "--list and --html do not go together");
    if (!f.svg.empty() && (f.list || !f.html.empty()))
        wrong_inspect("leave one of them out", "--svg and ", f.list ? "--list" : "--html",
                      " do not go together");
    if (f.force && f.html.empty() && f.svg.empty())
        wrong_inspect("leave it out", "--force has no effect without --html or --svg");
}

// A page is written over a page of ours, never over anything else unasked.
void check_page(const InspectFlags& f) {
    const std::string& file = f.html.empty() ? f.svg : f.html;
    if (file.empty() || f.force || !file_exists(file)) return;
    if (is_folder(file))
        wrong_inspect("give a file's name, such as " +
                          join_path(file, f.html.empty() ? "attention.svg" : "attention.html"),
                      file, " is a folder");
    if (!f.svg.empty()) wrong_inspect("--force overwrites it", file, " is there already");
    std::string beginning(1024, '\0');
    std::ifstream in(f.html, std::ios::binary);
    in.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    if (!is_own_page(beginning))
        wrong_inspect("--force overwrites it", f.html, " is there already and not a page of fovea");
}

// What is drawn where nothing is chosen: the end of the model for people at a terminal, everything
// for programs and on the page.
LookOptions look_options(const InspectFlags& f) {
    const bool everything = f.format == "json" || !f.html.empty() || f.list;
    LookOptions o;
    o.choice.part = f.map;
    o.choice.layer = !f.layer.empty() ? f.layer : everything ? "all" : "last";
    o.choice.head = !f.head.empty() ? f.head : everything ? "all" : "mean";
    o.weights = !f.list;
    o.scores = f.format == "json";
    return o;
}

void print_names(const AttentionView& view) {
    std::size_t width = 4;
    for (const AttentionMap& m : view.maps) width = std::max(width, m.name.size());
    fmt::print("{:<{}}  layer  heads  looks\n", "name", width);
    for (const AttentionMap& m : view.maps)
        fmt::print("{:<{}}  {:>5}  {:>5}  {} at {}\n", m.name, width,
                   m.layer ? std::to_string(m.layer) : "-", m.heads.size(), m.queries, m.keys);
}

void print_pictures(const AttentionView& view) {
    const char* const said = view.has_target() ? "target" : "output";
    fmt::print("{:<7} {}\n{:<7} {}\n", "input", view.input, said, view.output);
    for (const AttentionMap& m : view.maps)
        for (std::size_t h = 0; h < m.heads.size(); ++h)
            fmt::print("\n{}",
                       terminal_picture(view, m, {.head = h, .width = terminal_width(stdout)}));
    fmt::print("{}", terminal_legend());
}

void look_at_text(const InspectFlags& f) {
    check_page(f);
    Json input{{"text", f.text}};
    if (f.has_target) input["target"] = f.target;
    // Names depend on no text; with a target there is nothing to search for.
    if (!f.has_text) input = {{"text", "a"}, {"target", "a"}};
    const AttentionView view = look_inside(f.model->open(), input, look_options(f));
    if (f.has_target && !view.has_target())
        wrong_inspect("leave --target out", "this model reads no target: it is a model to ",
                      f.model->task());
    if (!f.html.empty()) write_file_atomically(f.html, html_page(view));
    if (!f.svg.empty()) write_file_atomically(f.svg, attention_svg(view));
    if (f.format == "json")
        fmt::print("{}\n", attention_json(view));
    else if (f.list)
        print_names(view);
    else if (!f.html.empty() || !f.svg.empty())
        fmt::print(
            "{}\n",
            std::filesystem::absolute(f.html.empty() ? f.svg : f.html).lexically_normal().string());
    else
        print_pictures(view);
}

void look_at_model(const InspectFlags& f) {
    ModelFolder folder = ModelFolder::open(f.model->folder());
    if (folder.task.empty()) folder.task = task_of_config(folder);
    const ModelOverview o = look_over(folder, f.model->precision());
    fmt::print("{}", f.format == "json" ? to_text(o.json()) + "\n" : o.text());
}

}  // namespace

void add_inspect_command(CLI::App& app) {
    CLI::App* v =
        app.add_subcommand("inspect", "What a model is made of, and where it looks in a text.");
    auto f = std::make_shared<InspectFlags>();
    f->model = std::make_unique<ModelFlags>(*v, "");
    v->remove_option(v->get_option("--ensemble"));  // one model is looked into
    CLI::Option* text = v->add_option("--text", f->text, "draw the attention of this input");
    CLI::Option* target =
        v->add_option("--target", f->target, "the output to look at; else the model's own");
    v->add_option("--map", f->map, "only maps with this in their name, such as encoder_attn")
        ->type_name("PART");
    v->add_option("--layer", f->layer, "a number from 1, last or all [last; JSON and page: all]")
        ->type_name("N");
    v->add_option("--head", f->head, "a number from 1, mean or all [mean; JSON and page: all]")
        ->type_name("N");
    v->add_flag("--list", f->list, "the names of the maps");
    v->add_option("--html", f->html, "write a page with the maps, to look at in a browser")
        ->type_name("FILE");
    v->add_option("--svg", f->svg, "write the maps as a picture, side by side")->type_name("FILE");
    add_format_options(*v, f->format, {"text", "json"});
    v->add_flag("--force", f->force, "overwrite a FILE that is not a page of fovea")
        ->group(more_group);
    set_examples(
        *v, {"fovea inspect run/model", "fovea inspect run/model --text \"the 3rd of March, 1987\"",
             "fovea inspect run/model --text \"…\" --map encoder_attn --layer 1 --head all",
             "fovea inspect run/model --text \"…\" --html attention.html"});
    v->callback([f, text, target] {
        f->has_text = text->count() > 0;
        f->has_target = target->count() > 0;
        check_inspect_flags(*f);
        if (f->has_text || f->list)
            look_at_text(*f);
        else
            look_at_model(*f);
    });
}

}  // namespace fovea
