#include "fovea/tasks/speech_data.h"

#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/split.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

// "  one   two " as "one two".
std::string plain_transcript(const std::string& text) {
    std::string out;
    for (const char c : text) {
        const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
        if (!blank)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    while (out.ends_with(' ')) out.pop_back();
    return out;
}

}  // namespace

void SpeechData::describe(Settings& s) {
    s.add("path", path_key, "column of the sounds' paths",
          {.group = "data", .otherwise = "guessed"});
    s.add("text", text_key, "column of the transcripts or labels",
          {.group = "data", .common = true, .otherwise = "guessed"});
    s.add("kind", kind, "what stands beside a sound: a transcript, or a class",
          {.group = "data", .common = true, .choices = {"auto", "transcripts", "classes"}});
}

void SpeechData::read(const RunSettings& run, const Say& say) {
    ClipFiles files{run.train, path_key, text_key, run.skip_bad, 0};
    Problems problems;
    ClipSet set = read_clips(files, &problems);
    for (const std::string& note : problems.notes) say("data: " + note);
    classes = kind == "auto" ? set.classes : kind == "classes";
    train = std::move(set.clips);
    keep_drawn(train, run.limit, run.options.seed);
    if (run.has_dev_file()) {
        files.paths = {run.dev};
        files.limit = run.dev_limit;
        dev = read_clips(files).clips;
    } else if (run.measures()) {
        std::vector<std::uint64_t> hashes;
        for (const SpokenClip& c : train) hashes.push_back(record_hash({c.path, c.text}));
        dev = take_out(train, dev_split(hashes, {}));
        if (dev.empty())
            say(text_of("warning: ", train.size(),
                        " sounds are too few to hold some out: the model is not measured (--dev "
                        "FILE does)"));
        else
            say(text_of("data: ", dev.size(),
                        " sounds are held out to measure on (--dev FILE gives others)"));
    }
    for (auto* part : {&train, &dev})
        for (SpokenClip& c : *part)
            if (!classes) c.text = plain_transcript(c.text);
    if (classes) {
        std::map<std::string, std::int64_t> counts;
        for (const SpokenClip& c : train) ++counts[c.text];
        if (counts.size() < 2)
            fail_with(ErrorKind::bad_input, "is --text the right column?", run.train[0],
                      ": all sounds have the label \"", counts.begin()->first,
                      "\", but at least two labels are wanted");
        say(text_of("data: ", train.size(), " sounds, ", counts.size(),
                    " classes: ", counts_text(counts)));
    } else {
        say(text_of("data: ", train.size(), " sounds with transcripts"));
    }
}

std::vector<std::string> SpeechData::texts() const {
    std::vector<std::string> all;
    for (const SpokenClip& c : train) all.push_back(c.text);
    return all;
}

std::vector<std::string> SpeechData::class_labels() const {
    std::set<std::string> all;
    for (const SpokenClip& c : train) all.insert(c.text);
    return {all.begin(), all.end()};
}

}  // namespace fovea
