// Slot filling through the real binary: train, resume, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

struct SlotLines {
    std::string words, tags, intents;
};

// "play TITLE by NAME", "call NAME": titles are one word or two, drawn from syllables.
SlotLines slot_lines(int count, std::uint64_t seed) {
    Rng rng(seed);
    const char* const syllables[] = {"zor", "kim", "tal", "ven", "sul", "gar", "pem", "hob"};
    SlotLines out;
    const auto name = [&] {
        return std::string(syllables[rng.below(8)]) + syllables[rng.below(8)];
    };
    for (int i = 0; i < count; ++i) {
        if (rng.below(2) == 0) {
            const bool two = rng.below(2) == 0;
            out.words += "play " + name() + (two ? " " + name() : "") + " by " + name() + "\n";
            out.tags += std::string("O B-title ") + (two ? "I-title " : "") + "O B-artist\n";
            out.intents += "Play\n";
        } else {
            out.words += "please call " + name() + "\n";
            out.tags += "O O B-person\n";
            out.intents += "Call\n";
        }
    }
    return out;
}

void write_slots(const std::string& folder, const SlotLines& lines) {
    make_folders(folder);
    write_file_atomically(join_path(folder, "seq.in"), lines.words);
    write_file_atomically(join_path(folder, "seq.out"), lines.tags);
    write_file_atomically(join_path(folder, "label"), lines.intents);
}

std::vector<std::string> slot_words(const std::string& data, const std::string& out,
                                    std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "train",        "--task", "slots", data,    "--out",   out, "--layers", "1",
        "--d-model",    "24",     "--ffn", "32",    "--heads", "2", "--vocab",  "characters",
        "--max-tokens", "512",    "--lr",  "0.005", "--seed",  "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(SlotsCli, TrainsMeasuresAndAnswers) {
    const TestFolder folder;
    write_slots(folder / "train", slot_lines(300, 1));
    write_slots(folder / "test", slot_lines(60, 2));
    const Outcome check = fovea({"data", "check", folder / "train", folder / "test"});
    ASSERT_EQ(check.code, 0) << check.err;
    EXPECT_NE(check.out.find("2 intents, 3 slots"), std::string::npos) << check.out;

    const Outcome t = fovea(
        slot_words(folder / "train", folder / "run", {"--epochs", "12", "--word-features", "16"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("2 intents: Call ("), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("CRF"), std::string::npos) << t.err;
    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test", "--json",
                             "--outputs", folder / "tags.txt", "--require", "f1=90"});
    ASSERT_EQ(e.code, 0) << e.out << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "slots");
    EXPECT_GE(j["figures"]["intent_accuracy"].get<double>(), 95.0);
    for (const char* figure : {"sentence_accuracy", "precision", "recall", "loss"})
        EXPECT_TRUE(j["figures"].contains(figure)) << figure;
    EXPECT_NE(read_file(folder / "tags.txt").find("Call\tO O B-person"), std::string::npos);

    const std::string input = "please  call Kimzor!\n\nplay venven gargar by talpem\n";
    const Outcome text = fovea({"slots", folder / "run/model"}, {.input = input});
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_TRUE(text.out.starts_with("Call\t")) << text.out;
    EXPECT_NE(text.out.find("\tplay [venven gargar|title] by [talpem|artist]\n"), std::string::npos)
        << text.out;
    const Outcome lines =
        fovea({"slots", folder / "run", "--format", "jsonl"}, {.input = "play venven by talpem\n"});
    const Json first = parse_json(lines.out, "answer");
    EXPECT_EQ(first["intent"], "Play");
    EXPECT_GT(first["probability"].get<double>(), 0.5);
    ASSERT_EQ(first["slots"].size(), 2u) << lines.out;
    EXPECT_EQ(first["slots"][0]["start"], 5);
    EXPECT_EQ(first["slots"][0]["end"], 11);
    EXPECT_EQ(first["slots"][1]["text"], "talpem");
    const Outcome tsv =
        fovea({"slots", folder / "run", "--format", "tsv"}, {.input = "play venven by talpem\n"});
    EXPECT_TRUE(
        tsv.out.starts_with("line\tintent\tprobability\tstart\tend\tslot\ttext\tscore\n1\tPlay\t"))
        << tsv.out;
    // what it writes, it reads: answers are data of the same task
    write_file_atomically(folder / "answers.jsonl", lines.out);
    EXPECT_EQ(fovea({"eval", folder / "run", folder / "answers.jsonl", "--require", "f1=100"}).code,
              0);
    // another task takes the encoder
    const Outcome on = fovea({"train", "--task", "slots", folder / "train", "--from",
                              folder / "run", "--out", folder / "on", "--steps", "2"});
    EXPECT_EQ(on.code, 0) << on.err;
    EXPECT_NE(on.err.find("goes on from"), std::string::npos) << on.err;
}

TEST(SlotsCli, ResumedEqualsUninterrupted) {
    const TestFolder folder;
    write_slots(folder / "train", slot_lines(120, 1));
    const auto weights = [&](const std::string& run) {
        return read_file(join_path(run, "model/model.safetensors"));
    };
    const std::vector<std::string> flags = {"--dev", "none", "--word-features", "8"};
    auto whole = flags, half = flags;
    whole.insert(whole.end(), {"--steps", "12"});
    ASSERT_EQ(fovea(slot_words(folder / "train", folder / "a", whole)).code, 0);
    half.insert(half.end(), {"--steps", "12", "--save-every", "5"});
    ASSERT_EQ(fovea(slot_words(folder / "train", folder / "b", half)).code, 0);
    // go back to the checkpoint of step 5
    for (const std::string& name : list_folder(folder / "b"))
        if (name.starts_with("step-") && !name.ends_with("05"))
            std::filesystem::remove_all(join_path(folder / "b", name));
    const Outcome r = fovea({"train", "--out", folder / "b", "--resume", "--threads", "1"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_EQ(weights(folder / "a"), weights(folder / "b"));
}

TEST(SlotsCli, FrozenPartsKeepTheirValues) {
    const TestFolder folder;
    write_slots(folder / "train", slot_lines(60, 1));
    ASSERT_EQ(
        fovea(slot_words(folder / "train", folder / "a", {"--steps", "2", "--dev", "none"})).code,
        0);
    const Outcome frozen = fovea({"train", "--task", "slots", folder / "train", "--from",
                                  folder / "a", "--out", folder / "b", "--steps", "3", "--dev",
                                  "none", "--freeze", "encoder", "--layer-decay", "0.9"});
    ASSERT_EQ(frozen.code, 0) << frozen.err;
    const Outcome none =
        fovea({"train", "--task", "slots", folder / "train", "--from", folder / "a", "--out",
               folder / "c", "--steps", "3", "--freeze", "7"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("--freeze 7: the model has no such part"), std::string::npos)
        << none.err;
}

// Each bad input is one clear error, which names file and line.
TEST(SlotsCli, BadInputIsOneClearError) {
    const TestFolder folder;
    write_slots(folder / "good", slot_lines(60, 1));
    ASSERT_EQ(
        fovea(slot_words(folder / "good", folder / "run", {"--steps", "2", "--dev", "none"})).code,
        0);
    const auto refuses = [&](const std::vector<std::string>& words, int code,
                             const std::string& part) {
        const Outcome o = fovea(words);
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(part), std::string::npos) << part << "\n" << o.err;
        EXPECT_EQ(o.err.find("error:"), o.err.rfind("error:")) << o.err;
    };
    const auto trains = [&](const SlotLines& lines, const std::string& part) {
        write_slots(folder / "bad", lines);
        refuses(slot_words(folder / "bad", folder / "no", {"--dev", "none"}), 3, part);
    };
    trains({"play a b\n", "O B-x\n", "X\n"}, "seq.in:1: 3 words but 2 tags");
    trains({"play a\ncall b\n", "O B-x\nO I-y\n", "X\nY\n"},
           "seq.in:2: word 2: the tag I-y cannot follow O");
    trains({"play a\n", "O I-x\n", "X\n"}, "cannot follow");
    trains({"a\n", "I-x\n", "X\n"}, "cannot begin a sentence");
    trains({"play a\n", "O x\n", "X\n"}, "neither O nor B-TYPE");
    trains({"play a\ncall b\n", "O B-x\n", "X\nY\n"}, "seq.out: ends after line 1");
    trains({"play a\n", "O B-x\n", "X\nY\n"}, "seq.in: ends after line 1");
    trains({"play a\ncall b\n", "O B-x\nO B-x\n", "X\n"}, "label: ends after line 1");
    trains({"play a\n", "O B-x\n", "\n"}, "seq.in:1: the intent is empty");
    trains({"play \xff\n", "O B-x\n", "X\n"}, "not valid UTF-8");
    trains({"\n", "\n", "X\n"}, "there are no words");
    trains({"play a\n", "O O\n", "X\n"}, "no word has a tag other than O");

    write_slots(folder / "bad", {"play a\n", "O B-x\n", "X\n"});
    std::filesystem::remove(folder / "bad/label");
    refuses(slot_words(folder / "bad", folder / "no"), 4, "bad/label: there is no such file");
    write_slots(folder / "dev", {"play kimzor\n", "O B-tune\n", "Play\n"});
    refuses(slot_words(folder / "good", folder / "no", {"--dev", folder / "dev"}), 3,
            "dev/seq.in:1: the slot \"tune\" was never seen in training");
    write_slots(folder / "dev", {"play kimzor\nplay kimzor\n", "O B-tune\nO O\n", "Play\nPlay\n"});
    const Outcome skipped =
        fovea(slot_words(folder / "good", folder / "skipped",
                         {"--dev", folder / "dev", "--unknown-label", "skip", "--steps", "1"}));
    EXPECT_EQ(skipped.code, 0) << skipped.err;
    EXPECT_NE(skipped.err.find("1 text has an intent or a slot that was never seen: passed over"),
              std::string::npos)
        << skipped.err;
    write_slots(folder / "dev", {"call kimzor\n", "O B-person\n", "Phone\n"});
    refuses(slot_words(folder / "good", folder / "no", {"--dev", folder / "dev"}), 3,
            "dev/seq.in:1: the intent \"Phone\" was never seen in training");
    write_slots(folder / "more", {"dim kimzor\n", "O B-lamp\n", "Call\n"});
    refuses({"train", "--task", "slots", folder / "more", "--from", folder / "run", "--out",
             folder / "no", "--dev", "none"},
            3, "more/seq.in:1: the model of --from has no tag \"B-lamp\"");
    write_file_atomically(folder / "a.jsonl", "{\"text\": \"play a\", \"intent\": 3}\n");
    refuses(slot_words(folder / "a.jsonl", folder / "no"), 3, "a.jsonl:1: the intent is no text");
    refuses(slot_words(folder / "good", folder / "no", {"--crf", "--no-crf"}), 2,
            "do not go together");
    refuses({"train", "--task", "slots", folder / "good", "--from", folder / "run", "--out",
             folder / "no", "--layers", "3"},
            2, "--layers has no effect");
    refuses({"train", "--task", "slots", folder / "good", "--from", folder / "run", "--out",
             folder / "no", "--pool", "max"},
            2, "--pool has no effect");
    refuses({"tag", folder / "run"}, 2, "fovea slots");
    const Outcome unclean = fovea({"data", "check", folder / "good", folder / "dev"});
    EXPECT_EQ(unclean.code, 3);
    EXPECT_NE(unclean.out.find("UNKNOWN (not in train): Phone 1"), std::string::npos)
        << unclean.out;
}

}  // namespace
}  // namespace fovea::test
