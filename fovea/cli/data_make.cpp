#include "fovea/cli/data_make.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/data/made_boxes.h"
#include "fovea/data/made_clips.h"
#include "fovea/data/made_pairs.h"
#include "fovea/data/made_scenes.h"
#include "fovea/data/made_shapes.h"
#include "fovea/data/made_strings.h"
#include "fovea/data/made_tracks.h"

namespace fovea {
namespace {

struct MakeChoice {
    MadePairs pairs;
    MadeShapes shapes;
    MadeTracks tracks;
    std::optional<std::uint32_t> size;
    std::string length, out, clips, pictures;
    bool force = false, tagged = false;
};

bool is_folder_kind(const std::string& kind) {
    return kind == "strings" || kind == "clips" || kind == "shapes" || kind == "boxes" ||
           kind == "scenes" || kind == "tracks";
}

std::vector<std::string> made_kinds() {
    std::vector<std::string> kinds = made_pair_kinds();
    kinds.insert(kinds.end(), {"strings", "clips", "shapes", "boxes", "scenes", "tracks"});
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

void make_pictures(const MakeChoice& c) {
    if (c.pairs.kind == "shapes" || c.pairs.kind == "boxes") {
        MadeShapes shapes = c.shapes;
        shapes.count = c.pairs.count;
        shapes.size = c.size.value_or(shapes.size);
        shapes.seed = c.pairs.seed;
        (c.pairs.kind == "shapes" ? write_made_shapes : write_made_boxes)(shapes, c.out);
    } else if (c.pairs.kind == "scenes") {
        MadeScenes scenes{.pictures = c.pictures, .count = c.pairs.count};
        scenes.size = c.size.value_or(scenes.size);
        scenes.seed = c.pairs.seed;
        write_made_scenes(scenes, c.out);
    } else {
        MadeTracks tracks = c.tracks;
        tracks.pictures = c.pictures;
        tracks.count = c.pairs.count;
        tracks.size = c.size.value_or(tracks.size);
        tracks.seed = c.pairs.seed;
        write_made_tracks(tracks, c.out);
    }
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
    } else if (kind != "strings") {
        make_pictures(c);
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
    if (!c.pictures.empty() && c.pairs.kind != "scenes" && c.pairs.kind != "tracks")
        throw Error("--pictures belongs to data make scenes and tracks", ErrorKind::usage,
                    "leave it out");
    const bool folder = is_folder_kind(c.pairs.kind);
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
        "names), strings of spoken words, clips of a moving shape, pictures with masks (shapes, "
        "scenes) or with boxes, tracks of things that move.");
    set_examples(*make,
                 {"fovea data make reversal --records 20000 --length 5-20 --out train.tsv",
                  "fovea data make sorting --records 500 --seed 2 > test.tsv",
                  "fovea data make recall --length 10-200 --out recall.tsv",
                  "fovea data make reversal --tagged --records 6000 --out train.conll",
                  "fovea data make shapes --records 200 --size 64 --out shapes",
                  "fovea data make boxes --records 200 --size 64 --out boxes   # PASCAL VOC",
                  "fovea data make scenes --pictures train-images-idx3-ubyte.gz --out scenes",
                  "fovea data make tracks --pictures nuclei/ --records 4 --speed 6 --out tracks",
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
    make->add_option("--pictures", choice->pictures,
                     "scenes: pictures with labels; tracks: pictures with masks [made shapes]");
    make->add_option("--speed", choice->tracks.speed, "tracks: pixels a frame")
        ->check(CLI::Range(0.0, 1000.0));
    make->add_option("--misses", choice->tracks.misses,
                     "tracks: share of things that the masks lack")
        ->check(CLI::Range(0.0, 1.0))
        ->group(more_group);
    make->add_option("--frames", choice->tracks.frames, "tracks: of a sequence")
        ->check(CLI::Range(1, 10000))
        ->group(more_group);
    make->add_option("--objects", choice->tracks.objects, "tracks: things of a sequence")
        ->check(CLI::Range(1, 1000))
        ->group(more_group);
    make->add_option("--size", choice->size,
                     "pixels of a picture each way [shapes, boxes 64; scenes 96; tracks 256]")
        ->check(CLI::Range(16, 4096));
    make->add_option("--kinds", choice->shapes.kinds,
                     "shapes, boxes: 1 discs, 2 squares too, 3 triangles too")
        ->check(CLI::Range(1, 3));
    make->add_option("--out", choice->out,
                     "write here, not to standard output; of pictures and sounds: a folder");
    make->add_flag("--tagged", choice->tagged,
                   "pairs: each word beside the target's word at its place, for --task tag");
    make->add_flag("--force", choice->force, "overwrite it");
    make->callback([choice] { run_make(*choice); });
}

}  // namespace fovea
