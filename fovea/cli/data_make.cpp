#include "fovea/cli/data_make.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/data/made_boxes.h"
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
    bool force = false, tagged = false;
};

std::vector<std::string> made_kinds() {
    std::vector<std::string> kinds = made_pair_kinds();
    kinds.insert(kinds.end(), {"strings", "clips", "shapes", "boxes"});
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

// Kinds that are folders of files.
void make_folder(const MakeChoice& c) {
    const std::string& kind = c.pairs.kind;
    if (c.out.empty())
        throw Error("data make " + kind + ": wants --out FOLDER", ErrorKind::usage,
                    "files are written there");
    if (file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force writes into it");
    if (kind != "strings" && !c.length.empty())
        throw Error("--length does not belong to data make " + kind, ErrorKind::usage,
                    "leave it out");
    if (kind == "clips") {
        write_made_clips(c.out, c.pairs.count, {.seed = c.pairs.seed});
    } else if (kind == "shapes" || kind == "boxes") {
        MadeShapes shapes = c.shapes;
        shapes.count = c.pairs.count;
        shapes.seed = c.pairs.seed;
        (kind == "shapes" ? write_made_shapes : write_made_boxes)(shapes, c.out);
    } else {
        write_strings({.clips = c.clips,
                       .out = c.out,
                       .count = c.pairs.count,
                       .shortest = c.pairs.shortest,
                       .longest = c.pairs.longest,
                       .seed = c.pairs.seed});
    }
}

void run_make(MakeChoice& c) {
    const bool strings = c.pairs.kind == "strings";
    read_lengths(!c.length.empty() ? c.length : strings ? "3-7" : "5-20", c.pairs);
    c.pairs.seed = global_options().seed;
    if (!strings && !c.clips.empty())
        throw Error("--clips belongs to data make strings", ErrorKind::usage, "leave it out");
    static constexpr const char* folders[] = {"strings", "clips", "shapes", "boxes"};
    const bool folder =
        std::find(std::begin(folders), std::end(folders), c.pairs.kind) != std::end(folders);
    if (folder && c.tagged)
        throw Error("--tagged belongs to pairs, not to data make " + c.pairs.kind, ErrorKind::usage,
                    "leave it out");
    if (folder) return make_folder(c);
    if (!c.out.empty() && file_exists(c.out) && !c.force)
        throw Error(c.out + ": is there already", ErrorKind::usage, "--force overwrites it");
    std::string text;
    for (const TextPair& p : made_pairs(c.pairs))
        text += c.tagged ? tagged_lines(p) : p.source + "\t" + p.target + "\n";
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
        "names), strings of spoken words, clips of a moving shape, pictures with masks (shapes) or "
        "with boxes.");
    set_examples(*make,
                 {"fovea data make reversal --records 20000 --length 5-20 --out train.tsv",
                  "fovea data make sorting --records 500 --seed 2 > test.tsv",
                  "fovea data make recall --length 10-200 --out recall.tsv",
                  "fovea data make reversal --tagged --records 6000 --out train.conll",
                  "fovea data make shapes --records 200 --size 64 --out shapes",
                  "fovea data make boxes --records 200 --size 64 --out boxes   # PASCAL VOC",
                  "fovea data make clips --records 4000 --out clips",
                  "fovea data make strings --clips digits.tsv --records 2000 --out strings"});
    auto choice = std::make_shared<MakeChoice>();
    make->add_option("KIND", choice->pairs.kind, "what is made")
        ->required()
        ->check(CLI::IsMember(made_kinds()));
    make->add_option("--records", choice->pairs.count, "how many")->check(at_least(1));
    make->add_option("--length", choice->length,
                     "items of a source: 10-200, or one number [5-20; of strings 3-7]");
    make->add_option("--clips", choice->clips,
                     "strings: a table of sounds, one word each [tones of a telephone]");
    make->add_option("--size", choice->shapes.size, "shapes, boxes: pixels of a picture each way")
        ->check(CLI::Range(16, 4096));
    make->add_option("--kinds", choice->shapes.kinds,
                     "shapes, boxes: 1 discs, 2 squares too, 3 triangles too")
        ->check(CLI::Range(1, 3));
    make->add_option("--out", choice->out,
                     "write here, not to standard output; strings, clips, shapes, boxes: a folder");
    make->add_flag("--tagged", choice->tagged,
                   "pairs: each word beside the target's word at its place, for --task tag");
    make->add_flag("--force", choice->force, "overwrite it");
    make->callback([choice] { run_make(*choice); });
}

}  // namespace fovea
