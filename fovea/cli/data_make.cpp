#include "fovea/cli/data_make.h"

#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/data/made_pairs.h"
#include "fovea/data/made_shapes.h"

namespace fovea {
namespace {

struct MakeChoice {
    MadePairs pairs;
    MadeShapes shapes;
    std::string length = "5-20", out;
    bool force = false;
};

std::vector<std::string> made_kinds() {
    std::vector<std::string> kinds = made_pair_kinds();
    kinds.emplace_back("shapes");
    return kinds;
}

// "10-200", or "10" alone.
void read_lengths(const std::string& text, MadePairs& to) {
    const std::size_t dash = text.find('-');
    const auto number = [&](const std::string& part) {
        std::int64_t n = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), n);
        if (error != std::errc() || end != part.data() + part.size())
            fail_with(ErrorKind::usage, "--length 5-20, or one number", "data make: --length is \"",
                      text, "\"");
        return n;
    };
    to.shortest = number(text.substr(0, dash));
    to.longest = dash == std::string::npos ? to.shortest : number(text.substr(dash + 1));
}

// A folder of pictures and one of masks.
void run_make_shapes(MakeChoice& c) {
    if (c.out.empty())
        throw Error("data make: shapes are a folder of files", ErrorKind::usage,
                    "add --out FOLDER");
    if (c.force && file_exists(c.out))
        throw Error(c.out + ": is there already, and folders are not overwritten", ErrorKind::usage,
                    "remove it, or name another one");
    c.shapes.count = c.pairs.count;
    c.shapes.seed = global_options().seed;
    write_made_shapes(c.shapes, c.out);
}

void run_make(MakeChoice& c) {
    read_lengths(c.length, c.pairs);
    c.pairs.seed = global_options().seed;
    if (!c.out.empty() && file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
    if (c.pairs.kind == "shapes") return run_make_shapes(c);
    std::string text;
    for (const TextPair& p : made_pairs(c.pairs)) text += p.source + "\t" + p.target + "\n";
    if (c.out.empty())
        fmt::print("{}", text);
    else
        write_file_atomically(c.out, text);
}

}  // namespace

void add_data_make(CLI::App& data) {
    CLI::App* make = data.add_subcommand(
        "make",
        "Data made by rule, to see what a model can do: pairs (copy, reversal, sorting, recall), "
        "pictures with masks (shapes).");
    set_examples(*make, {"fovea data make reversal --records 20000 --length 5-20 --out train.tsv",
                         "fovea data make sorting --records 500 --seed 2 > test.tsv",
                         "fovea data make recall --length 10-200 --out recall.tsv",
                         "fovea data make shapes --records 200 --size 64 --out shapes"});
    auto choice = std::make_shared<MakeChoice>();
    make->add_option("KIND", choice->pairs.kind, "what is made")
        ->required()
        ->check(CLI::IsMember(made_kinds()));
    make->add_option("--records", choice->pairs.count, "how many")->check(at_least(1));
    make->add_option("--length", choice->length, "items of a source: 10-200, or one number");
    make->add_option("--size", choice->shapes.size, "shapes: pixels of a picture each way")
        ->check(CLI::Range(16, 4096));
    make->add_option("--kinds", choice->shapes.kinds,
                     "shapes: 1 discs, 2 squares too, 3 triangles too")
        ->check(CLI::Range(1, 3));
    make->add_option("--out", choice->out, "write here, not to standard output");
    make->add_flag("--force", choice->force, "overwrite it");
    make->callback([choice] { run_make(*choice); });
}

}  // namespace fovea
