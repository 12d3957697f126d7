#include "fovea/cli/convert.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/tasks/convert.h"

namespace fovea {
namespace {

struct ConvertFlags {
    std::string model, out;
    ConvertOptions options;
};

void convert(const ConvertFlags& f) {
    const Converted c = convert_model(f.model, f.out, f.options);
    if (global_options().quiet) return;
    constexpr double mega = 1e6;
    fmt::print(stderr, "{}: a model to {}, {} → {}, {:.1f} → {:.1f} MB, in {}\n", f.model, c.task,
               c.from, c.to, static_cast<double>(c.bytes_before) / mega,
               static_cast<double>(c.bytes_after) / mega, f.out);
    if (c.to == "int8" && c.from != "int8")
        fmt::print(
            stderr,
            "note: int8 weights are in Fovea's own layout; other programs do not read them\n");
}

}  // namespace

void add_convert_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("convert",
                                     "Write a model anew: other numbers, today's names, one file.");
    v->group(more_group);
    auto f = std::make_shared<ConvertFlags>();
    v->add_option("MODEL", f->model,
                  "a model folder, Fovea's or Hugging Face's, or a run; or a file of word vectors")
        ->required();
    v->add_option("--out", f->out,
                  "the new model's folder; .vec, .txt or .bin: a file of word vectors")
        ->required();
    v->add_option("--dtype", f->options.dtype, "numbers of the weights' matrices")
        ->check(CLI::IsMember(convert_dtypes()));
    v->add_option("--layout", f->options.layout,
                  "word vectors to a .bin file: fasttext (with n-grams) or word2vec")
        ->check(CLI::IsMember({"fasttext", "word2vec"}))
        ->group(more_group);
    v->add_flag("--force", f->options.overwrite, "overwrite a model in OUT");
    set_examples(*v, {"fovea convert run/model --out small --dtype bf16",
                      "fovea convert run/model --out tiny --dtype int8",
                      "fovea convert downloaded --out joined   # old names and shards made new"});
    v->callback([f] { convert(*f); });
}

}  // namespace fovea
