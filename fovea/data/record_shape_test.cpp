#include "fovea/data/record_shape.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

class Shapes : public testing::Test {
protected:
    std::optional<ShapeGuess> guess(const std::string& name, const std::string& text) {
        write_file_atomically(folder / name, text);
        return guess_shape(folder / name);
    }
    std::optional<RecordShape> shape(const std::string& name, const std::string& text) {
        const auto g = guess(name, text);
        return g ? std::optional(g->shape) : std::nullopt;
    }
    const TestFolder folder;
};

std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

TEST_F(Shapes, TablesWithALabel) {
    EXPECT_EQ(guess("a.csv", "review,sentiment\nI loved it,pos\ndull,neg\n")->why,
              "its column 'sentiment' has 2 values");
    EXPECT_EQ(shape("a.jsonl", "{\"text\": \"a b\", \"label\": \"x\"}\n"), RecordShape::labelled);
    EXPECT_EQ(shape("a.json", "[{\"text\": \"a b\", \"label\": \"x\"}]"), RecordShape::labelled);
    std::string rows;
    for (int i = 0; i < 60; ++i)
        rows += "text number " + std::to_string(i) + (i % 2 ? "\tyes\n" : "\tno\n");
    EXPECT_EQ(shape("b.tsv", rows), RecordShape::labelled);
    rows.clear();  // many intents, few texts of each: names, not translations
    for (int i = 0; i < 60; ++i)
        rows += "text number " + std::to_string(i) + "\tintent_" + std::to_string(i / 3) + "\n";
    EXPECT_EQ(shape("c.tsv", rows), RecordShape::labelled);
}

// Names that nobody listed: few values beside one column of texts.
TEST_F(Shapes, TablesWithALabelOfAnyName) {
    const auto rows = [](const std::string& head, const auto& row) {
        std::string text = head;
        for (int i = 0; i < 60; ++i) text += row(i);
        return text;
    };
    const auto said = [](int i) { return "Satz Nummer " + std::to_string(i) + " ist lang"; };
    EXPECT_EQ(shape("a.csv", rows("Zeile,Art\n",
                                  [&](int i) { return said(i) + (i % 2 ? ",ja\n" : ",nein\n"); })),
              RecordShape::labelled);
    EXPECT_EQ(shape("b.jsonl", rows("",
                                    [&](int i) {
                                        return "{\"zeile\": \"" + said(i) + "\", \"art\": \"" +
                                               (i % 3 ? "a" : "b") + "\"}\n";
                                    })),
              RecordShape::labelled);
    EXPECT_EQ(shape("c.csv", rows("Zeile;Art\n",
                                  [&](int i) { return said(i) + (i % 2 ? ";ja\n" : ";nein\n"); })),
              RecordShape::labelled)
        << "semicolons";
    // Which of two columns of texts is meant? Whoever reads it asks.
    EXPECT_FALSE(shape("d.csv", rows("Zeile,Line,Art\n", [&](int i) {
                           return said(i) + "," + said(i + 1) + (i % 2 ? ",ja\n" : ",nein\n");
                       })));
    EXPECT_EQ(guess("e.csv", rows("tweet_id,airline_sentiment,airline,text\n",
                                  [&](int i) {
                                      return std::to_string(i) + (i % 2 ? ",neg," : ",pos,") +
                                             (i % 3 ? "Delta," : "United,") + said(i) + "\n";
                                  }))
                  ->why,
              "its column 'airline_sentiment' has 2 values");
}

TEST_F(Shapes, PairsSummariesAndTexts) {
    EXPECT_EQ(shape("a.tsv", "a cat\teine Katze\na dog\tein Hund\n"), RecordShape::pairs);
    const std::string body = repeated("many words of a long report ", 20);
    EXPECT_EQ(shape("b.tsv", body + "\ta report\n" + body + "\tanother\n"), RecordShape::summaries);
    EXPECT_EQ(shape("c.txt", "Once upon a time\nthere was a text.\n"), RecordShape::texts);
    write_file_atomically(folder / "d.en", "one\ntwo\n");
    write_file_atomically(folder / "d.de", "eins\nzwei\n");
    EXPECT_EQ(guess_shape((folder / "d.en") + "," + (folder / "d.de"))->shape, RecordShape::pairs);
}

TEST_F(Shapes, WordsWithTags) {
    EXPECT_EQ(shape("a.conll", "anything"), RecordShape::tagged);
    EXPECT_EQ(shape("a.txt", "Anna B-person\nsleeps O\n\nOslo B-place\n"), RecordShape::tagged);
    EXPECT_EQ(shape("train.tsv", "gout\tB\nis\tO\n\nno\tO\n"), RecordShape::tagged);
    EXPECT_EQ(shape("b.txt", "Anna is here\nsleeps well\n\nOslo O\n"), RecordShape::texts);
    EXPECT_EQ(shape("a.jsonl", "{\"tokens\": [\"a\"], \"ner_tags\": [\"O\"]}\n"),
              RecordShape::tagged);
    EXPECT_EQ(shape("b.jsonl", "{\"tokens\": [\"a\"], \"slots\": [\"O\"], \"intent\": \"i\"}\n"),
              RecordShape::slots);
}

TEST_F(Shapes, Questions) {
    EXPECT_EQ(
        shape("a.json", "{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": []}]}]}"),
        RecordShape::questions);
    EXPECT_EQ(shape("b.json", "{\"data\": [{\"paragraphs\": [{\"context\": \"c\"}]}]}"),
              RecordShape::texts);
    EXPECT_EQ(shape("c.jsonl", "{\"question\": \"who?\", \"context\": \"he\"}\n"),
              RecordShape::questions);
}

TEST_F(Shapes, Folders) {
    make_folders(folder / "classes/good");
    write_file_atomically(folder / "classes/good/1.txt", "fine");
    EXPECT_EQ(guess_shape(folder / "classes")->shape, RecordShape::labelled);
    make_folders(folder / "snips");
    write_file_atomically(folder / "snips/seq.in", "play it");
    write_file_atomically(folder / "snips/seq.out", "O O");
    EXPECT_EQ(guess_shape(folder / "snips")->shape, RecordShape::slots);
    make_folders(folder / "empty");
    EXPECT_FALSE(guess_shape(folder / "empty"));
}

// Whoever reads such a file says what is wrong with it.
TEST_F(Shapes, NothingIsGuessedOfWhatCannotBeRead) {
    EXPECT_FALSE(guess_shape("-"));
    EXPECT_FALSE(guess_shape(folder / "nowhere.csv"));
    EXPECT_FALSE(shape("empty.tsv", ""));
    EXPECT_FALSE(shape("one_column.tsv", "a\nb\n"));
}

}  // namespace
}  // namespace fovea
