#include "fovea/tasks/classify_data.h"

#include <algorithm>

#include "fovea/tasks/classify.h"
#include "fovea/tasks/training_data.h"

namespace fovea {
namespace {

std::string shown(const std::map<std::string, std::int64_t>& counts) {
    std::string all;
    int n = 0;
    for (const auto& [label, count] : counts) {
        if (++n > 12) return all + ", …";
        all += text_of(all.empty() ? "" : ", ", label, " (", count, ")");
    }
    return all;
}

// The first of several that were passed over, and how many.
std::string shown_unknown(const std::vector<std::string>& labels) {
    return text_of(labels.size(), labels.size() == 1 ? " record has" : " records have",
                   " a label that was never seen (\"", labels[0], "\"",
                   labels.size() > 1 ? ", …" : "", ")");
}

}  // namespace

const std::string& label_of(const LabelledText& t) {
    if (t.labels.size() != 1)
        fail_with(ErrorKind::bad_input,
                  "with any number of labels a text: --multi-label, for files where they stand "
                  "between separators --label-separator",
                  t.path, ":", t.line, ": one label is wanted, but there are ", t.labels.size());
    return t.labels[0];
}

TextInput input_of(const LabelledText& t) {
    expect_input(t.texts.size() == 1 || t.texts.size() == 2, t.path, ":", t.line,
                 ": one or two texts are wanted, but there are ", t.texts.size());
    if (t.texts.size() == 1) return {t.texts[0]};
    return {t.texts[0], t.texts[1]};
}

std::vector<LabelledText> with_known_labels(std::vector<LabelledText> records,
                                            std::span<const std::string> labels, bool skip,
                                            const Say& say) {
    std::vector<LabelledText> kept;
    std::vector<std::string> unknown;
    for (LabelledText& t : records) {
        const auto wrong = std::find_if(t.labels.begin(), t.labels.end(), [&](const auto& label) {
            return std::find(labels.begin(), labels.end(), label) == labels.end();
        });
        if (wrong == t.labels.end()) {
            kept.push_back(std::move(t));
            continue;
        }
        if (!skip) {
            std::string known;
            for (std::size_t i = 0; i < labels.size() && i < 12; ++i)
                known += (i ? ", " : "") + labels[i];
            fail_with(ErrorKind::bad_input,
                      text_of("--unknown-label skip passes over such records; seen labels: ", known,
                              labels.size() > 12 ? ", …" : ""),
                      t.path, ":", t.line, ": the label \"", *wrong,
                      "\" was never seen in training");
        }
        unknown.push_back(*wrong);
    }
    if (!unknown.empty() && say) say("data: " + shown_unknown(unknown) + ": passed over");
    return kept;
}

void ClassifyData::describe(Settings& s) {
    s.add("text", text_keys, "column of the text, by name or number (again for a second text)",
          {.group = "data", .otherwise = "guessed"});
    s.add("label", label_key, "column of the label",
          {.group = "data", .common = true, .otherwise = "guessed"});
    s.add("multi-label", several, "any number of labels for each text, none too",
          {.group = "data", .common = true});
    s.add("label-separator", separator, "what stands between the labels of a text",
          {.group = "data", .otherwise = "a field is one label; a JSON list is several"});
    s.add("unknown-label", unknown, "a label of the dev set that training has not",
          {.group = "data", .choices = {"error", "skip"}});
}

std::vector<std::string> ClassifyData::labels() const {
    std::vector<std::string> all;
    for (const auto& [label, count] : counts) all.push_back(label);
    return all;
}

std::vector<std::string> ClassifyData::texts() const {
    std::vector<std::string> all;
    for (const LabelledText& t : train) all.insert(all.end(), t.texts.begin(), t.texts.end());
    return all;
}

void ClassifyData::read(const RunSettings& run, const Say& say) {
    LabelledFiles files;
    files.paths = run.train;
    files.text_keys = text_keys;
    files.label_key = label_key;
    files.label_separator = separator;
    files.allow_none = several || !separator.empty();
    files.skip_bad = run.skip_bad;
    Problems problems;
    train = reader(files, &problems);
    for (const std::string& note : problems.notes) say("data: " + note);
    keep_drawn(train, run.limit, run.options.seed);
    several =
        files.allow_none || std::any_of(train.begin(), train.end(),
                                        [](const LabelledText& t) { return t.labels.size() > 1; });
    if (run.has_dev_file()) {
        files.paths = {run.dev};
        files.limit = run.dev_limit;
        files.allow_none = several;
        dev = reader(files, nullptr);
    } else if (run.measures()) {
        hold_out(run, say);
    }
    count_labels(run, say);
    dev = with_known_labels(std::move(dev), labels(), unknown == "skip", say);
}

// Held out by what texts say. A label that would then be in no training text stays there.
void ClassifyData::hold_out(const RunSettings&, const Say& say) {
    std::vector<std::uint64_t> hashes;
    for (const LabelledText& t : train) hashes.push_back(content(t));
    const SplitRule rule;
    if (static_cast<std::int64_t>(train.size()) < rule.none_below)
        say(text_of("warning: ", train.size(),
                    " records are too few to hold some out: the model is not measured (--dev FILE "
                    "does)"));
    dev = take_out(train, dev_split(hashes, rule));
    std::map<std::string, std::int64_t> left;
    for (const LabelledText& t : train)
        for (const std::string& label : t.labels) ++left[label];
    std::vector<LabelledText> stay;
    for (LabelledText& t : dev) {
        const bool known = std::all_of(t.labels.begin(), t.labels.end(),
                                       [&](const auto& label) { return left.count(label) > 0; });
        (known ? stay : train).push_back(std::move(t));
    }
    dev = std::move(stay);
    if (!dev.empty())
        say(text_of("data: ", dev.size(),
                    " records are held out to measure on (--dev FILE gives others)"));
}

void ClassifyData::count_labels(const RunSettings& run, const Say& say) {
    for (const LabelledText& t : train)
        for (const std::string& label : t.labels) ++counts[label];
    if (!several)
        for (const LabelledText& t : train) label_of(t);  // one each
    if (counts.size() < 2)
        fail_with(ErrorKind::bad_input, "is --label the right column?", run.train[0], ":",
                  train[0].line, ": all records have the label \"",
                  counts.empty() ? "" : counts.begin()->first,
                  "\", but at least two labels are wanted");
    constexpr std::size_t most = 10000;
    if (counts.size() > most || (counts.size() > 100 && counts.size() * 10 > train.size() * 9))
        fail_with(ErrorKind::bad_input, "is --label the right column?", run.train[0], ":",
                  train[0].line, ": ", counts.size(), " different labels in ", train.size(),
                  " records: such a column is no label");
    say(text_of("data: ", train.size(), " training records, ", counts.size(), " labels",
                several ? ", any number of them a text" : "", ": ", shown(counts)));
    for (const auto& [label, count] : counts)
        if (count == 1) say("warning: the label \"" + label + "\" is seen only once");
}

}  // namespace fovea
