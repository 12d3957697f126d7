#include "fovea/cli/data_make.h"

#include <fmt/core.h>

#include <charconv>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/data/made_clips.h"
#include "fovea/data/made_pairs.h"
#include "fovea/data/made_shapes.h"
#include "fovea/data/made_strings.h"

namespace fovea {
namespace {

struct MakeChoice {
    MadePairs pairs;
    MadeShapes shapes;
    std::string length, out, clips;
    bool force = false;
};

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

void make_shapes(MakeChoice& c) {
    if (c.out.empty())
        throw Error("data make shapes: wants --out FOLDER", ErrorKind::usage,
                    "a folder of pictures and one of masks are written there");
    if (file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
    c.shapes.count = c.pairs.count;
    c.shapes.seed = global_options().seed;
    write_made_shapes(c.shapes, c.out);
}

void make_strings(const MakeChoice& c) {
    if (c.out.empty())
        throw Error("data make strings: wants --out FOLDER", ErrorKind::usage,
                    "the sounds and a table of them are written there");
    if (file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
    write_strings({.clips = c.clips,
                   .out = c.out,
                   .count = c.pairs.count,
                   .shortest = c.pairs.shortest,
                   .longest = c.pairs.longest,
                   .seed = c.pairs.seed});
}

void make_clips(const MakeChoice& c) {
    if (c.out.empty())
        throw Error("data make clips: wants --out FOLDER", ErrorKind::usage,
                    "a folder for each motion is written there, in it one for each clip");
    if (file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
    if (!c.length.empty())
        throw Error("--length does not belong to data make clips", ErrorKind::usage,
                    "they have eight frames");
    write_made_clips(c.out, c.pairs.count, {.seed = global_options().seed});
}

void run_make(MakeChoice& c) {
    const bool strings = c.pairs.kind == "strings";
    if (c.pairs.kind == "clips") return make_clips(c);
    if (c.pairs.kind == "shapes") return make_shapes(c);
    read_lengths(!c.length.empty() ? c.length : strings ? "3-7" : "5-20", c.pairs);
    c.pairs.seed = global_options().seed;
    if (strings) return make_strings(c);
    if (!c.clips.empty())
        throw Error("--clips belongs to data make strings", ErrorKind::usage, "leave it out");
    if (!c.out.empty() && file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
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
        "Data made by rule, to see what a model can do: pairs (copy, reversal, sorting, recall, "
        "names), strings of spoken words, clips of a moving shape, or shapes with masks.");
    set_examples(*make,
                 {"fovea data make reversal --records 20000 --length 5-20 --out train.tsv",
                  "fovea data make sorting --records 500 --seed 2 > test.tsv",
                  "fovea data make recall --length 10-200 --out recall.tsv",
                  "fovea data make clips --records 4000 --out clips",
                  "fovea data make shapes --records 200 --size 64 --out shapes",
                  "fovea data make strings --clips digits.tsv --records 2000 --out strings"});
    auto choice = std::make_shared<MakeChoice>();
    std::vector<std::string> kinds = made_pair_kinds();
    kinds.insert(kinds.end(), {"strings", "clips", "shapes"});
    make->add_option("KIND", choice->pairs.kind, "what is made")
        ->required()
        ->check(CLI::IsMember(kinds));
    make->add_option("--records", choice->pairs.count, "how many")->check(at_least(1));
    make->add_option("--length", choice->length,
                     "items of a source: 10-200, or one number [5-20; of strings 3-7]");
    make->add_option("--clips", choice->clips,
                     "strings: a table of sounds, one word each [tones of a telephone]");
    make->add_option("--size", choice->shapes.size, "shapes: pixels of a picture each way")
        ->check(CLI::Range(16, 4096));
    make->add_option("--kinds", choice->shapes.kinds,
                     "shapes: 1 discs, 2 squares too, 3 triangles too")
        ->check(CLI::Range(1, 3));
    make->add_option("--out", choice->out,
                     "write here, not to standard output; strings, clips, shapes: a folder");
    make->add_flag("--force", choice->force, "overwrite it");
    make->callback([choice] { run_make(*choice); });
}

}  // namespace fovea
