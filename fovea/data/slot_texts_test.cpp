#include "fovea/data/slot_texts.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/check_slots.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

void write_slots(const std::string& folder, const std::string& words, const std::string& tags,
                 const std::string& intents) {
    make_folders(folder);
    write_file_atomically(join_path(folder, "seq.in"), words);
    write_file_atomically(join_path(folder, "seq.out"), tags);
    write_file_atomically(join_path(folder, "label"), intents);
}

std::vector<SlotText> read_one(const std::string& path, std::int64_t skip_bad = 0) {
    SlotFiles files;
    files.paths = {path};
    files.skip_bad = skip_bad;
    return read_slot_texts(files);
}

std::string error_of(const std::string& path) {
    try {
        read_one(path);
    } catch (const Error& e) {
        return e.what();
    }
    return "no error";
}

TEST(SlotTexts, ReadsThreeParallelFiles) {
    const TestFolder folder;
    write_slots(folder / "a", "play  some jazz \nstop\n", "O O B-genre \nO\n",
                "PlayMusic\nStop \n");
    const std::vector<SlotText> all = read_one(folder / "a");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].words, (std::vector<std::string>{"play", "some", "jazz"}));
    EXPECT_EQ(all[0].tags, (std::vector<std::string>{"O", "O", "B-genre"}));
    EXPECT_EQ(all[0].intent, "PlayMusic");
    EXPECT_EQ(all[1].intent, "Stop");
    EXPECT_EQ(all[1].line, 2);
    EXPECT_TRUE(is_slot_folder(folder / "a"));
    EXPECT_FALSE(is_slot_folder(folder / "b"));
}

TEST(SlotTexts, ReadsJsonLinesOfTagsAndOfSpans) {
    const TestFolder folder;
    write_file_atomically(
        folder / "a.jsonl",
        "{\"tokens\": [\"play\", \"jazz\"], \"tags\": [\"O\", \"B-genre\"], \"intent\": \"Play\"}\n"
        "\n"
        "{\"text\": \"für élan vital, bitte\", \"intent\": \"Play\", \"slots\": "
        "[{\"start\": 4, \"end\": 14, \"label\": \"title\", \"text\": \"élan vital\"}]}\n"
        "{\"text\": \"stop\", \"intent\": \"Stop\"}\n");
    const std::vector<SlotText> all = read_one(folder / "a.jsonl");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].tags, (std::vector<std::string>{"O", "B-genre"}));
    EXPECT_EQ(all[1].words, (std::vector<std::string>{"für", "élan", "vital", ",", "bitte"}));
    EXPECT_EQ(all[1].tags, (std::vector<std::string>{"O", "B-title", "I-title", "O", "O"}));
    EXPECT_EQ(all[1].line, 3);
    EXPECT_EQ(all[2].tags, std::vector<std::string>{"O"});
}

TEST(SlotTexts, NamesTheLineOfWhatIsWrong) {
    const TestFolder folder;
    const auto says = [&](const std::string& words, const std::string& tags,
                          const std::string& intents) {
        write_slots(folder / "a", words, tags, intents);
        return error_of(folder / "a");
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(says("a b\nc d\n", "O O\nO\n", "X\nY\n"), "seq.in:2: 2 words but 1 tags");
    has(says("a b\n", "O I-x\n", "X\n"), "seq.in:1: word 2: the tag I-x cannot follow O");
    has(says("a\n", "place\n", "X\n"), "neither O nor B-TYPE");
    has(says("a\nb\n", "O\nO\n", "X\n"), "label: ends after line 1, but");
    has(says("a\n", "O\nO\n", "X\n"), "seq.in: ends after line 1");
    has(says("a\n\n", "O\n\n", "X\nY\n"), "seq.in:2: there are no words");
    has(says("a\n", "O\n", " \n"), "the intent is empty");
    has(says("", "", ""), "holds no text with slots");
    const auto line_says = [&](const std::string& line) {
        write_file_atomically(folder / "b.jsonl", line + "\n");
        return error_of(folder / "b.jsonl");
    };
    has(line_says("{\"text\": \"a b\"}"), "b.jsonl:1: there is no \"intent\"");
    has(line_says("not json"), "is no JSON object");
    has(line_says("{\"intent\": \"X\"}"), "no list under \"tokens\"");
    const auto span = [&](const std::string& slots) {
        return line_says("{\"text\": \"play jazz\", \"intent\": \"X\", \"slots\": " + slots + "}");
    };
    has(span("[{\"start\": 5, \"end\": 8, \"label\": \"g\"}]"), "cuts the word \"jazz\"");
    has(span("[{\"start\": 5, \"end\": 19, \"label\": \"g\"}]"), "does not lie in the text");
    has(span("[{\"start\": 4, \"end\": 5, \"label\": \"g\"}]"), "holds no word");
    has(span("[{\"start\": 0, \"end\": 9, \"label\": \"g\"}, "
             "{\"start\": 5, \"end\": 9, \"label\": \"h\"}]"),
        "two slots cover the word \"jazz\"");
    has(span("[{\"start\": 0, \"label\": \"g\"}]"), "is not {\"start\", \"end\", \"label\"}");
    // bad texts can be passed over, files of different lengths cannot
    write_slots(folder / "c", "a b\nc d\n", "O O\nO\n", "X\nY\n");
    EXPECT_EQ(read_one(folder / "c", 1).size(), 1u);
}

TEST(SlotTexts, ACheckCountsAndCompares) {
    const TestFolder folder;
    write_slots(folder / "train", "play jazz\nstop\nstop\nx y\n", "O B-genre\nO\nO\nO\n",
                "Play\nStop\nEnd\nPlay\n");
    write_slots(folder / "dev", "stop\nbuy milk\n", "O\nO B-thing\n", "Stop\nBuy\n");
    NamedSlotFiles sets[2];
    sets[0].name = "train", sets[0].files.paths = {folder / "train"};
    sets[1].name = "held-out", sets[1].files.paths = {folder / "dev"};
    const SlotCheck check = check_slot_texts(sets);
    EXPECT_FALSE(check.clean());
    EXPECT_EQ(check.files[0].texts, 3);
    EXPECT_EQ(check.files[0].bad_texts, 1);
    EXPECT_EQ(check.files[0].repeated, 1);
    EXPECT_EQ(check.files[0].two_intents, 1);
    EXPECT_EQ(check.files[0].slots.at("genre"), 1);
    EXPECT_EQ(check.leaks[0].texts, 1);
    EXPECT_EQ(check.leaks[0].unknown.size(), 2u);
    EXPECT_NE(check.text().find("UNKNOWN (not in train): Buy 1, thing 1"), std::string::npos)
        << check.text();
}

}  // namespace
}  // namespace fovea
