#include "fovea/data/conll.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/word_features.h"
#include "fovea/data/word_spans.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

using Words = std::vector<std::string>;

TaggedData read_text(const std::string& text, TaggedFiles files = {},
                     const std::string& name = "a.conll") {
    const TestFolder folder;
    write_file_atomically(folder / name, text);
    files.paths = {folder / name};
    return read_tagged(files);
}

std::string error_of(const std::string& text, const TaggedFiles& files = {},
                     const std::string& name = "a.conll") {
    try {
        read_text(text, files, name);
    } catch (const Error& e) {
        EXPECT_FALSE(e.hint().empty()) << e.what();
        const std::string what = e.what();
        return what.substr(what.find(name));
    }
    return "no error";
}

TEST(Conll, ReadsColumnsBetweenTabsOrSpaces) {
    for (const char* between : {"\t", " ", "   "}) {
        const std::string s = between;
        const TaggedData d = read_text("\nAnna" + s + "B-per\nlacht" + s + "O\n\n\n#tag" + s +
                                       "O\nOslo" + s + "B-loc\n \nja" + s + "O");
        ASSERT_EQ(d.sentences.size(), 3u);
        EXPECT_EQ(d.sentences[0].words, (Words{"Anna", "lacht"}));
        EXPECT_EQ(d.sentences[0].tags, (Words{"B-per", "O"}));
        EXPECT_EQ(d.sentences[0].line, 2);
        EXPECT_EQ(d.sentences[1].words, (Words{"#tag", "Oslo"}));
        EXPECT_EQ(d.sentences[2].line, 9);
        EXPECT_EQ(d.scheme, TagScheme::bio);
        ASSERT_EQ(d.problems.notes.size(), 1u);
        EXPECT_NE(d.problems.notes[0].find("words from column 1, tags from column 2 of 2"),
                  std::string::npos);
    }
}

TEST(Conll, ATabbedWordMayHoldSpaces) {
    const TaggedData d = read_text("New York\tB-loc\nrules\tO\n");
    EXPECT_EQ(d.sentences[0].words, (Words{"New York", "rules"}));
}

// As corpora of one kind of entity are written (diseases, genes).
TEST(Conll, TagsWithoutATypeGetOne) {
    const TaggedData d = read_text("the\tO\ncolon\tB\ncancer\tI\n\ngout\tB\n");
    EXPECT_EQ(d.scheme, TagScheme::bio);
    EXPECT_EQ(d.sentences[0].tags, (Words{"O", "B-entity", "I-entity"}));
    EXPECT_EQ(d.sentences[1].tags, (Words{"B-entity"}));
    EXPECT_NE(d.problems.notes.back().find("the tags have no type"), std::string::npos);
    EXPECT_EQ(read_text("a\tB\nb\tX\n").scheme, TagScheme::plain) << "B is a tag like any other";
    EXPECT_EQ(
        read_text("a\tB\nb\tO\n", {.paths = {}, .scheme = TagScheme::plain}).sentences[0].tags,
        (Words{"B", "O"}));
}

TEST(Conll, ReadsConll2003) {
    const std::string text =
        "-DOCSTART- -X- O O\n\nU.N. NNP I-NP I-ORG\nofficial NN I-NP O\nEkeus NNP I-NP I-PER\n\n"
        "-DOCSTART- -X- O O\n\nPeter NNP I-NP I-PER\nBlackburn NNP I-NP I-PER\nAnna NNP I-NP "
        "B-PER\n";
    TaggedData d = read_text(text);
    ASSERT_EQ(d.sentences.size(), 2u);
    EXPECT_EQ(d.scheme, TagScheme::iob1);
    EXPECT_EQ(d.sentences[0].tags, (Words{"B-ORG", "O", "B-PER"}));
    EXPECT_EQ(d.sentences[1].tags, (Words{"B-PER", "I-PER", "B-PER"}));
    ASSERT_EQ(d.problems.notes.size(), 2u);
    EXPECT_NE(d.problems.notes[1].find("the tags are IOB1"), std::string::npos);
    d = read_text(text, {.paths = {}, .tag_key = "2"});
    EXPECT_EQ(d.scheme, TagScheme::plain);
    EXPECT_EQ(d.sentences[0].tags, (Words{"NNP", "NN", "NNP"}));
}

TEST(Conll, FindsColumnsByName) {
    const std::string text = "id\tToken\tPOS\tNER\n1\tAnna\tN\tB-a\n2\truft\tV\tO\n";
    TaggedData d = read_text(text);
    EXPECT_EQ(d.sentences[0].words, (Words{"Anna", "ruft"}));
    EXPECT_EQ(d.sentences[0].tags, (Words{"B-a", "O"}));
    d = read_text(text, {.paths = {}, .tag_key = "pos"});
    EXPECT_EQ(d.sentences[0].tags, (Words{"N", "V"}));
    d = read_text("alpha\tbeta\nAnna\tX\n", {.paths = {}, .word_key = "alpha", .tag_key = "beta"});
    EXPECT_EQ(d.sentences[0].words, Words{"Anna"});
}

TEST(Conll, ReadsConllU) {
    const std::string text =
        "# sent_id = 1\n# text = im Haus\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tin\tin\tADP\t_\t_\t3\tcase\t_\t_\n2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_\n"
        "2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_\n3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\t_\n\n";
    TaggedData d = read_text(text, {}, "a.conllu");
    EXPECT_EQ(d.sentences[0].words, (Words{"in", "dem", "Haus"}));
    EXPECT_EQ(d.sentences[0].tags, (Words{"ADP", "DET", "NOUN"}));
    d = read_text(text, {.paths = {}, .tag_key = "deprel"}, "a.conllu");
    EXPECT_EQ(d.sentences[0].tags, (Words{"case", "det", "root"}));
    d = read_text("# global.columns = FORM NER\nOslo\tB-l\n");
    EXPECT_EQ(d.sentences[0].words, Words{"Oslo"});
}

TEST(Conll, CommentsAreNoWordsAndHashesAre) {
    const TaggedData d = read_text("# a comment of a person here\n# O\n1 B-n\n\n# id = 4\nja O\n");
    ASSERT_EQ(d.sentences.size(), 2u);
    EXPECT_EQ(d.sentences[0].words, (Words{"#", "1"}));
    EXPECT_EQ(d.sentences[1].words, Words{"ja"});
}

TEST(Conll, ReadsJsonLines) {
    const TaggedData d =
        read_text(R"({"id": 1, "tokens": ["New York", "rules"], "ner_tags": ["B-l", "O"]})"
                  "\n"
                  R"({"id": 2, "tokens": ["x"], "ner_tags": ["O"]})"
                  "\n",
                  {}, "a.jsonl");
    ASSERT_EQ(d.sentences.size(), 2u);
    EXPECT_EQ(d.sentences[0].words, (Words{"New York", "rules"}));
    EXPECT_EQ(d.sentences[1].line, 2);
    const TaggedData n = read_text("{\"w\": [\"a\", \"b\"], \"n\": [3, 1]}\n",
                                   {.paths = {}, .word_key = "w", .tag_key = "n"}, "a.jsonl");
    EXPECT_EQ(n.sentences[0].tags, (Words{"3", "1"}));
    EXPECT_EQ(n.scheme, TagScheme::plain);
}

TEST(Conll, BadLinesAreOneClearError) {
    EXPECT_EQ(error_of(""), "a.conll: holds no sentence");
    EXPECT_EQ(error_of("\n\n-DOCSTART-\tO\n\n"), "a.conll: holds no sentence");
    EXPECT_EQ(error_of("a\nb\n"),
              "a.conll: the lines have one column, but words and tags are wanted");
    EXPECT_EQ(error_of("a\tO\nb\tx\tO\n"), "a.conll:2: 3 columns, but the lines before have 2");
    EXPECT_EQ(error_of("a b O\n\nb\n"), "a.conll:3: 1 column, but the lines before have 3");
    EXPECT_EQ(error_of("a\tO\nb\t\n"), "a.conll:2: the tag is empty");
    EXPECT_EQ(error_of("a\tO\n\tO\n"), "a.conll:2: the word is empty");
    EXPECT_EQ(error_of("a\tB-x\n\xff\tO\n"), "a.conll:2: the word is not valid UTF-8");
    EXPECT_EQ(error_of("a\tB-x\nb\tO\nc\tI-x\n"), "a.conll:3: the tag I-x cannot follow O");
    EXPECT_EQ(error_of("a\tB-x\n\nc\tI-x\n"), "a.conll:3: the tag I-x cannot begin a sentence");
    EXPECT_EQ(error_of("a\tB-x\nb\tB-y\nc\tI-x\n"), "a.conll:3: the tag I-x cannot follow B-y");
    EXPECT_EQ(error_of("a\tB-x\nb\tE-x\nc\tI-x\n"), "a.conll:3: the tag I-x cannot follow E-x");
    EXPECT_EQ(error_of("a\tB-x\nb\tO\nc\tS-x\n"), "a.conll:2: the tag O cannot follow B-x");
    EXPECT_EQ(error_of("a\tS-x\n\nb\tB-x\n"),
              "a.conll:3: the tag B-x cannot end a sentence: its entity has no end");
    std::string many;
    for (int i = 0; i < 20; ++i) many += "a\tB-x\n";
    EXPECT_EQ(error_of(many + "b\tperson\n"),
              "a.conll:21: the tag \"person\" is neither O nor B-TYPE or I-TYPE");
    EXPECT_EQ(error_of("a\tO\n", {.paths = {}, .tag_key = "3"}),
              "a.conll: there is no column 3 for the tags: it has 2 columns");
    EXPECT_EQ(error_of("a\tO\n", {.paths = {}, .tag_key = "ner"}),
              "a.conll: there is no column \"ner\" for the tags: its columns have no names");
    EXPECT_EQ(error_of("word\tner\na\tO\n", {.paths = {}, .tag_key = "pos"}),
              "a.conll: there is no column \"pos\" for the tags: it has word, ner");
    EXPECT_EQ(error_of("a\tO\n", {.paths = {}, .tag_key = "1"}),
              "a.conll: column 1 cannot hold both the words and the tags");
    EXPECT_EQ(error_of("{\"tokens\": [\"a\"], \"tags\": []}\n", {}, "a.jsonl"),
              "a.jsonl:1: 1 words but 0 tags");
    EXPECT_EQ(error_of("{\"tokens\": \"a b\", \"tags\": [\"O\"]}\n", {}, "a.jsonl"),
              "a.jsonl:1: no list under \"tokens\"");
    EXPECT_EQ(error_of("{\"tokens\": [\"a\"], \"tags\": [[\"O\"]]}\n", {}, "a.jsonl"),
              "a.jsonl:1: the list \"tags\" holds [\"O\"], which is no text");
    EXPECT_EQ(error_of("{\"sentence\": [\"a\"]}\n", {}, "a.jsonl").substr(0, 35),
              "a.jsonl: there is no list of tokens");
}

TEST(Conll, BadSentencesAreSkippedWhole) {
    const TaggedData d = read_text("a\tO\nb\nc\tO\nd\n\ne\tB-x\n\nf\tO\ng\tI-x\n\nh\tO\n",
                                   {.paths = {}, .skip_bad = 2});
    ASSERT_EQ(d.sentences.size(), 2u);
    EXPECT_EQ(d.sentences[0].words, Words{"e"});
    EXPECT_EQ(d.sentences[1].words, Words{"h"});
    EXPECT_EQ(d.problems.skipped, 2);
}

TEST(TagScheme, EverythingBecomesBio) {
    const auto bio = [](TagScheme scheme, Words tags) {
        EXPECT_FALSE(turn_into_bio(scheme, tags).has_value());
        return tags;
    };
    EXPECT_EQ(bio(TagScheme::iob1, {"I-a", "I-a", "B-a", "I-b", "O", "I-b"}),
              (Words{"B-a", "I-a", "B-a", "B-b", "O", "B-b"}));
    EXPECT_EQ(bio(TagScheme::bioes, {"S-a", "B-a", "I-a", "E-a", "O", "B-b", "E-b", "U-c"}),
              (Words{"B-a", "B-a", "I-a", "I-a", "O", "B-b", "I-b", "B-c"}));
    EXPECT_EQ(bio(TagScheme::plain, {"N", "I-x"}), (Words{"N", "I-x"}));
    const std::vector<Words> only_outside = {{"O"}}, one_i = {{"I-a"}},
                             mixed = {{"I-a", "O", "B-a"}};
    EXPECT_EQ(recognised_scheme(only_outside), TagScheme::bio);
    EXPECT_EQ(recognised_scheme(one_i), TagScheme::iob1);
    EXPECT_EQ(recognised_scheme(mixed), TagScheme::bio);  // and then it is a bad one
}

std::vector<std::string> words_in(const std::string& text) {
    std::vector<std::string> words;
    for (const TextSpan s : word_spans(text))
        words.push_back(text.substr(static_cast<std::size_t>(s.begin),
                                    static_cast<std::size_t>(s.end - s.begin)));
    return words;
}

TEST(WordSpans, PunctuationStandsByItself) {
    EXPECT_EQ(words_in("Anna (born 1.5.1990) paid $1,000.50..."),
              (Words{"Anna", "(", "born", "1.5.1990", ")", "paid", "$", "1,000.50", "..."}));
    EXPECT_EQ(words_in("I'm sure they don't, O'Neil's"),
              (Words{"I", "'m", "sure", "they", "do", "n't", ",", "O'Neil", "'s"}));
    EXPECT_EQ(words_in("see https://a.b/c?d=1, @you #now!! e-mail U.S. “ja”"),
              (Words{"see", "https://a.b/c?d=1", ",", "@you", "#now", "!!", "e-mail", "U.S", ".",
                     "“", "ja", "”"}));
    EXPECT_EQ(words_in("北京abc 大"), (Words{"北", "京", "abc", "大"}));
    EXPECT_TRUE(words_in(" \t\u00a0").empty());
    EXPECT_EQ(words_in("' 's x’s"), (Words{"'", "'s", "x", "’s"}));
}

TEST(WordFeatures, LookAtAWordAndItsNeighboursOnly) {
    const Words a = {"The", "Big", "Apple", "fell", "off"}, b = {"A", "Big", "Apple", "fell", "by"};
    const Ids x = word_features(a, 1 << 16), y = word_features(b, 1 << 16);
    ASSERT_EQ(x.size(), 5u * word_feature_count);
    for (const std::int32_t id : x) EXPECT_TRUE(id >= 0 && id < 1 << 16);
    const auto word = [](const Ids& ids, int i) {
        return Ids(ids.begin() + i * word_feature_count,
                   ids.begin() + (i + 1) * word_feature_count);
    };
    int same = 0;
    for (int f = 0; f < word_feature_count; ++f) same += word(x, 2)[f] == word(y, 2)[f];
    EXPECT_EQ(same, word_feature_count - 2);  // two before and two after differ
    EXPECT_NE(word(x, 0), word(y, 0));
    EXPECT_EQ(x[0], 54747);  // the hash is part of what a saved model is
}

}  // namespace
}  // namespace fovea
