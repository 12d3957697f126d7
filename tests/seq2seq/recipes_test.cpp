// The recipes the project ships, through the real binary: each is accepted as it stands, and the
// two stages of the summarisation recipe follow each other.
#include <map>

#include "fovea/base/error.h"
#include "fovea/data/made_boxes.h"
#include "fovea/data/made_shapes.h"
#include "fovea/io/idx.h"
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

std::string recipe(const std::string& name) {
    return std::string(FOVEA_SOURCE_DIR) + "/recipes/" + name;
}

// Documents of a few sentences each, for pretraining.
std::string story_file() {
    const std::string path = folder() + "/stories.txt";
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += "It was day " + std::to_string(i) + ". The sun rose over the hill. A dog " +
                (i % 2 ? "slept" : "ran") + " in the yard. Then night fell.\n\n";
    write_file_atomically(path, text);
    return path;
}

// A few questions in SQuAD's form.
std::string question_file() {
    const std::string path = folder() + "/questions.json";
    std::string text = R"({"data": [{"paragraphs": [)";
    for (int i = 0; i < 20; ++i)
        text += std::string(i ? "," : "") + R"({"context": "Anna lives in town )" +
                std::to_string(i) + R"(.", "qas": [{"id": ")" + std::to_string(i) +
                R"(", "question": "Who lives there?", "answers": [{"text": "Anna", )" +
                R"("answer_start": 0}]}]})";
    write_file_atomically(path, text + "]}]}");
    return path;
}

std::string file_with(const std::string& name, const std::string& text) {
    write_file_atomically(folder() + "/" + name, text);
    return folder() + "/" + name;
}

// Grey pictures of 28 × 28 pixels, with their labels beside them.
std::string picture_file() {
    IdxFile images{{20, 28, 28}, {}}, labels{{20}, {}};
    for (int i = 0; i < 20; ++i) {
        labels.bytes.push_back(static_cast<std::uint8_t>(i % 2));
        images.bytes.insert(images.bytes.end(), 28 * 28, static_cast<std::uint8_t>(7 * i));
    }
    write_idx(folder() + "/few-images-idx3-ubyte", images);
    write_idx(folder() + "/few-labels-idx1-ubyte", labels);
    return folder() + "/few-images-idx3-ubyte";
}

// Two words of tones, again and again.
std::string sound_file() {
    const std::string out = folder() + "/strings";
    fovea("data make strings --records 20 --length 2 --force --out " + out);
    return out + "/strings.tsv";
}

// A few records for every task that a recipe may name.
std::string shapes_folder() {
    const std::string path = folder() + "/shapes";
    if (!file_exists(path)) write_made_shapes({.count = 3, .size = 64, .kinds = 1}, path);
    return path;
}

std::string boxes_folder() {
    const std::string path = folder() + "/boxes";
    if (!file_exists(path)) write_made_boxes({.count = 3, .size = 64, .kinds = 1}, path);
    return path;
}

std::map<std::string, std::string> data_by_task() {
    std::string labelled, tagged, slots;
    for (int i = 0; i < 40; ++i) {
        const std::string number = std::to_string(i);
        labelled += "book table " + number + (i % 2 ? "\tbook\n" : "\tplay\n");
        tagged += "Anna\tB-person\nsaw\tO\nhouse" + number + "\tB-place\n\n";
        slots += R"({"tokens": ["play", "song)" + number +
                 R"("], "tags": ["O", "B-song"], "intent": "play"})" + "\n";
    }
    const std::string pairs = dates_file("recipes.tsv", 50, false);
    return {{"translate", pairs},
            {"summarise", pairs},
            {"pretrain", story_file()},
            {"translations", pairs},  // pretraining on two languages
            {"answer", question_file()},
            {"classify", file_with("labelled.tsv", labelled)},
            {"tag", file_with("tagged.conll", tagged)},
            {"slots", file_with("slots.jsonl", slots)},
            {"image", picture_file()},
            {"paint", picture_file()},
            {"transcribe", sound_file()},
            {"segment", shapes_folder()},
            {"detect", boxes_folder()}};
}

// The value of a recipe's line `key = "value"`; "" where there is none.
std::string text_value(const std::string& recipe, const std::string& key) {
    const std::size_t at = recipe.find("\n" + key + " = \"");
    if (at == std::string::npos) return "";
    const std::size_t from = recipe.find('"', at) + 1;
    return recipe.substr(from, recipe.find('"', from) - from);
}

TEST(Recipes, EveryOneIsAccepted) {
    const std::map<std::string, std::string> data = data_by_task();
    int tried = 0;
    for (const auto& entry : std::filesystem::directory_iterator(recipe(""))) {
        const std::string text = read_file(entry.path().string());
        if (text.find("[compare]") != std::string::npos) continue;  // below
        std::string task = text_value(text, "task");
        if (task.empty()) task = "translate";
        if (text_value(text, "objective").ends_with("tlm")) task = "translations";
        if (task == "multi") continue;  // names its files itself: MultiCli
        ASSERT_TRUE(data.contains(task)) << entry.path() << ": no data for the task " << task;
        const bool reads_text = task != "segment" && task != "image" && task != "paint" &&
                                task != "transcribe" && task != "detect";
        const Ran r = fovea("train --config " + entry.path().string() + " --train " +
                            data.at(task) + (reads_text ? " --vocab-size 120" : "") + " --dry-run");
        EXPECT_EQ(r.code, 0) << entry.path() << ": " << r.err;
        ++tried;
    }
    EXPECT_GE(tried, 9);
}

// Three updates of small models, with the data that the recipe says how to make.
TEST(Recipes, ReversalIsCompared) {
    const std::string train = folder() + "/reversal.tsv", test = folder() + "/reversal_test.tsv";
    for (const auto& [path, seed] : {std::pair{train, "1"}, std::pair{test, "2"}})
        ASSERT_EQ(fovea("data make reversal --records 40 --length 3-6 --seed " + std::string(seed) +
                        " --force --out " + path)
                      .code,
                  0);
    std::string text = read_file(recipe("compare-reversal.toml"));
    const auto put = [&](const std::string& from, const std::string& to) {
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    };
    put("steps = 500", "steps = 3");
    put("d-model = 64", "d-model = 16");
    put("\"train.tsv\"", "\"" + train + "\"");
    put("\"test.tsv\"", "\"" + test + "\"");
    write_file_atomically(folder() + "/r.toml", text);
    const Ran r = fovea("compare " + folder() + "/r.toml --out " + folder() + "/compared");
    ASSERT_EQ(r.code, 0) << r.err;
    for (const char* model : {"gru, no attention", "gru, local-p:4", "transformer"})
        EXPECT_NE(r.out.find(std::string("| ") + model + " | "), std::string::npos) << r.out;
    EXPECT_NE(read_file(folder() + "/compared/compare.html").find("the model has no attention"),
              std::string::npos);
}

// `key = value`, whatever the recipe says of it; false where it does not.
bool put_line(std::string& recipe, const std::string& key, const std::string& value) {
    const std::size_t at = recipe.find("\n" + key + " = ");
    if (at == std::string::npos) return false;
    const std::size_t end = recipe.find('\n', at + 1);
    recipe.replace(at + 1, end - at - 1, key + " = " + value);
    return true;
}

// One update of each model of every other comparison, on data of the kind it names.
TEST(Recipes, EveryComparisonStarts) {
    int tried = 0;
    for (const auto& [name, kind] : {std::pair{"names", "names"},
                                     {"positions", "copy"},
                                     {"recall", "recall"},
                                     {"sorting", "sorting"},
                                     {"sorting-ten", "sorting"},
                                     {"tatoeba", "names"},
                                     {"long-attention", "reversal"},
                                     {"latency", "names"},
                                     {"aeslc", "names"},
                                     {"small", "reversal"},
                                     {"smoothing", "reversal"},
                                     {"norms", "reversal --tagged"},
                                     {"scale", "reversal --tagged"},
                                     {"depth", "reversal --tagged"},
                                     {"heads", "sorting --tagged"}}) {
        std::string text = read_file(recipe("compare-" + std::string(name) + ".toml"));
        const bool tagged = text_value(text, "task") == "tag";
        const std::string data = folder() + "/" + name + (tagged ? ".conll" : ".tsv");
        ASSERT_EQ(
            fovea(text_of("data make ", kind, " --records 20 --length 3-5 --force --out ", data))
                .code,
            0);
        for (const char* key : {"train", "test"})
            ASSERT_TRUE(put_line(text, key, "\"" + data + "\""));
        put_line(text, "also-test", "[\"" + data + "\"]");
        if (text.find("\ndev = ") != std::string::npos) put_line(text, "dev", "\"none\"");
        put_line(text, "vocab-size", "300");
        put_line(text, "limit", "0");
        for (std::size_t at; (at = text.find("\nseeds = 3")) != std::string::npos;)
            text[at + 9] = '1';  // of all, and of rows
        text.insert(text.find("[compare]\n") + 10, "max-length = 6\n");
        ASSERT_TRUE(put_line(text, "d-model", "16"));
        if (!put_line(text, "steps", "1")) {
            ASSERT_TRUE(put_line(text, "epochs", "1"));
        }
        write_file_atomically(folder() + "/any.toml", text);
        const Ran r = fovea("compare " + folder() + "/any.toml --out " + folder() + "/any_" + name);
        EXPECT_EQ(r.code, 0) << name << r.err;
        ++tried;
    }
    EXPECT_EQ(tried, 15);
}

// The small comparison as it stands: attention holds where a fixed vector fails.
TEST(RecipesSlow, TheSmallComparison) {
    std::string text = read_file(recipe("compare-small.toml"));
    for (const auto& [key, more] : {std::pair{"train", "8000"}, {"test", "200 --seed 2"}}) {
        const std::string path = folder() + "/small_" + key + ".tsv";
        ASSERT_EQ(fovea("data make reversal --length 2-12 --records " + std::string(more) +
                        " --force --out " + path)
                      .code,
                  0);
        ASSERT_TRUE(put_line(text, key, "\"" + path + "\""));
    }
    write_file_atomically(folder() + "/small.toml", text);
    const std::string out = folder() + "/small";
    const Ran r = fovea("compare " + folder() + "/small.toml --threads 1 --out " + out);
    ASSERT_EQ(r.code, 0) << r.err;
    std::map<std::string, double> score;
    double minutes = 0;
    const Json found = read_json(out + "/compare.json");
    for (const Json& m : found["models"]) {
        score[m["name"].get<std::string>()] = m["score"].get<double>();
        minutes += m["runs"][0]["processor_seconds"].get<double>() / 60;
    }
    EXPECT_GT(score.at("gru, global"), score.at("gru, no attention") + 20);
    EXPECT_GT(score.at("gru, hybrid:2"), score.at("gru, no attention") + 20);
    EXPECT_GT(score.at("gru, global"), score.at("gru, window:2") + 20);  // it looks the wrong way
    EXPECT_LT(minutes, 10);
}

TEST(Recipes, TheFirstWordsThenTheSubjects) {
    const std::string train = dates_file("stages.tsv", 60, false), lead = folder() + "/lead",
                      run = folder() + "/subjects", files = " --train " + train + " --dev " + train;
    const Ran first = fovea("train --config " + recipe("aeslc-lead.toml") + files +
                            " --vocab-size 120 --steps 3 --out " + lead);
    ASSERT_EQ(first.code, 0) << first.err;
    const Ran second = fovea("train --config " + recipe("aeslc-subjects.toml") + files +
                             " --from " + lead + "/model --steps 3 --out " + run);
    ASSERT_EQ(second.code, 0) << second.err;
    EXPECT_EQ(fovea("summarise " + run + "/model", "the third of May 1999\n").code, 0);
}

}  // namespace
}  // namespace fovea
