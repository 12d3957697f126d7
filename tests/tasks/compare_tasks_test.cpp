// fovea compare for every task of the table: two rows each, two updates, the page with its maps.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/made_boxes.h"
#include "fovea/data/made_shapes.h"
#include "fovea/io/idx.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/task.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

struct TaskCase {
    std::string task, data, settings, input;  // input: whose attention is drawn
    bool cut = true;                          // can the test data be cut into parts?
};

// A few records of every kind.
class SmallData {
public:
    explicit SmallData(const TestFolder& folder) : folder_(folder) {
        std::string labelled, tagged, slots, questions, stories, pairs;
        for (int i = 0; i < 20; ++i) {
            const std::string n = std::to_string(i);
            labelled += "book table " + n + (i % 2 ? "\tbook\n" : "\tplay\n");
            tagged += "Anna\tB-person\nsaw\tO\nhouse" + n + "\tB-place\n\n";
            slots += R"({"tokens": ["play", "song)" + n +
                     R"("], "tags": ["O", "B-song"], "intent": "play"})" + "\n";
            questions += std::string(i ? "," : "") + R"({"context": "Anna lives in town )" + n +
                         R"(.", "qas": [{"id": ")" + n +
                         R"(", "question": "Who lives there?", "answers": [{"text": "Anna", )" +
                         R"("answer_start": 0}]}]})";
            stories += "It was day " + n + ". The sun rose. A dog slept in the yard.\n\n";
            pairs += "how do I book table " + n + "\tbooking of table " + n + "\n";
        }
        put("labelled.tsv", labelled);
        put("tagged.conll", tagged);
        put("slots.jsonl", slots);
        put("questions.json", R"({"data": [{"paragraphs": [)" + questions + "]}]}");
        put("stories.txt", stories);
        put("pairs.tsv", pairs);
        pictures();
        write_made_shapes({.count = 4, .size = 32, .kinds = 1}, folder / "shapes");
        write_made_boxes({.count = 4, .size = 64, .kinds = 1}, folder / "boxes");
        fovea({"data", "make", "strings", "--records", "12", "--length", "2", "--out",
               folder / "strings"});
    }

private:
    void put(const std::string& name, const std::string& text) const {
        write_file_atomically(folder_ / name, text);
    }

    void pictures() const {
        IdxFile images{{12, 16, 16}, {}}, labels{{12}, {}};
        for (int i = 0; i < 12; ++i) {
            labels.bytes.push_back(static_cast<std::uint8_t>(i % 2));
            images.bytes.insert(images.bytes.end(), 16 * 16, static_cast<std::uint8_t>(20 * i));
        }
        write_idx(folder_ / "few-images-idx3-ubyte", images);
        write_idx(folder_ / "few-labels-idx1-ubyte", labels);
    }

    const TestFolder& folder_;
};

const std::string small = "d-model = 16\nheads = 2\n", one_layer = small + "layers = 1\n";
const std::string read_by = one_layer + "vocab = \"words\"\n";

std::vector<TaskCase> task_cases(const TestFolder& f) {
    return {
        {"translate", "pairs.tsv", small + "preset = \"tiny\"\nvocab = \"words\"\nmax-length = 6\n",
         "how do I"},
        {"summarise", "pairs.tsv", small + "preset = \"tiny\"\nvocab = \"words\"\nmax-length = 6\n",
         "how do I"},
        {"classify", "labelled.tsv", read_by, "book table 3"},
        {"tag", "tagged.conll", read_by, "Anna saw"},
        {"slots", "slots.jsonl", read_by, "play song3"},
        {"answer", "questions.json", read_by + "model = \"bert\"\n", "", false},
        {"embed", "pairs.tsv", read_by, "book table"},
        {"pretrain", "stories.txt", read_by + "model = \"bert\"\ncontext = 32\n", "the sun", false},
        {"pretrain", "stories.txt", read_by + "model = \"gpt2\"\ncontext = 32\n", "the sun", false},
        {"image", "few-images-idx3-ubyte", one_layer + "patch = 8\n", "", false},
        {"segment", "shapes", "preset = \"tiny\"\nsize = 32\n", "", false},
        {"transcribe", "strings/strings.tsv", one_layer + "units = \"words\"\n",
         f / "strings/00000.wav"},
        {"detect", "boxes", one_layer + "decoder-layers = 1\nffn = 32\nqueries = 4\nsize = 64\n",
         f / "boxes/JPEGImages/00000.png", false}};
}

TEST(CompareTasks, EveryTaskHasItsTable) {
    const TestFolder folder;
    const SmallData data(folder);
    for (const TaskCase& c : task_cases(folder)) {
        SCOPED_TRACE(c.task + ", " + c.data + "\n" + c.settings);
        const std::string path = folder / c.data;
        write_file_atomically(
            folder / "r.toml",
            "[compare]\ntask = \"" + c.task + "\"\ntrain = \"" + path + "\"\ntest = \"" + path +
                "\"\ndev = \"none\"\nsteps = 2\n" + c.settings +
                (c.input.empty() ? "" : "inputs = [\"" + c.input + "\"]\n") +
                "[[model]]\nname = \"slow\"\nlr = 1e-4\n[[model]]\nname = \"fast\"\nlr = 1e-3\n");
        const Outcome o =
            fovea({"compare", folder / "r.toml", "--out", folder / "out", "--force", "-q"});
        ASSERT_EQ(o.code, 0) << o.err;
        const Json j = read_json(folder / "out/compare.json");
        ASSERT_EQ(j["models"].size(), 2u);
        for (const Json& m : j["models"]) {
            EXPECT_EQ(m["runs"][0]["updates"], 2);
            EXPECT_EQ(m["interval"].is_array(), c.cut);
        }
        EXPECT_EQ(o.out.find(" ± ") != std::string::npos, c.cut) << o.out;
        const std::string page = read_file(folder / "out/compare.html");
        EXPECT_EQ(page.find("Where they look") != std::string::npos, !c.input.empty());
    }
}

// A task that is trained and has no case above would go untried.
TEST(CompareTasks, NoTaskIsForgotten) {
    const TestFolder folder;
    std::vector<std::string> tried{"multi", "paint", "vectors"};  // no single score, or none of it
    for (const TaskCase& c : task_cases(folder)) tried.push_back(c.task);
    for (const std::string& task : trained_tasks())
        EXPECT_NE(std::find(tried.begin(), tried.end(), task), tried.end()) << task;
}

}  // namespace
}  // namespace fovea::test
