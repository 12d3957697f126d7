#include "fovea/data/documents.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/check_documents.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

using List = std::vector<std::string>;

List documents(const DocumentFiles& files, std::vector<std::string>* notes = nullptr) {
    List all;
    std::string text;
    for_each_document(
        files,
        [&](std::string_view piece, bool last) {
            text += piece;
            if (last) all.push_back(std::move(text)), text.clear();
        },
        notes);
    EXPECT_TRUE(text.empty()) << "a document without an end";
    return all;
}

struct Written {
    TestFolder folder;
    std::string operator()(const std::string& text, const std::string& name = "t.txt") const {
        write_file_atomically(folder / name, text);
        return folder / name;
    }
};

TEST(Documents, StandBetweenBlankLines) {
    const Written write;
    std::vector<std::string> notes;
    EXPECT_EQ(documents({{write("\n\none\nstill one\r\n\n \t\ntwo\n\n\n")}}, &notes),
              (List{"one\nstill one", "two"}));
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("blank lines stand between"), std::string::npos) << notes[0];
}

TEST(Documents, AFileIsOneAsItStands) {
    const Written write;
    const std::string text = "one\n\n  two\n\n";
    EXPECT_EQ(documents({{write(text)}, DocumentForm::file}), List{text});
    EXPECT_EQ(documents({{write("a\nb\n")}}), List{"a\nb\n"});  // guessed: no blank line
    EXPECT_EQ(documents({{write("x\n", "a.txt"), write("y\n", "b.txt")}}), (List{"x\n", "y\n"}));
}

TEST(Documents, LongLinesAreDocuments) {
    const Written write;
    const std::string a(500, 'a'), b(600, 'b');
    EXPECT_EQ(documents({{write(a + "\n" + b + "\n")}}), (List{a, b}));
    EXPECT_EQ(documents({{write("a\n\nb")}, DocumentForm::line}), (List{"a", "b"}));
    EXPECT_EQ(documents({{write("a\nb\nc")}, DocumentForm::line, 2}), (List{"a", "b"}));
}

TEST(Documents, SquadsArticles) {
    const Written write;
    const std::string json =
        R"({"version": "1.1", "data": [{"title": "A", "paragraphs": [{"context": "One. Two.",
        "qas": []}, {"context": "Three.", "qas": []}]}, {"paragraphs": [{"context": "Four."}]}]})";
    EXPECT_EQ(documents({{write(json, "s.json")}}), (List{"One. Two.\nThree.", "Four."}));
    gzFile f = gzopen((write.folder / "s.json.gz").c_str(), "wb");
    gzwrite(f, json.data(), static_cast<unsigned>(json.size()));
    gzclose(f);
    EXPECT_EQ(documents({{write.folder / "s.json.gz"}}), (List{"One. Two.\nThree.", "Four."}));
    try {
        documents({{write(R"({"data": [{"paragraphs": [{"text": "x"}]}]})", "bad.json")}});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(e.what()).find("context"), std::string::npos) << e.what();
    }
}

TEST(Documents, ComeInPiecesThatAddUp) {
    const Written write;
    std::string text;
    while (text.size() < (std::size_t{5} << 20)) text += "a line of text\n\nand another one\n";
    const std::string path = write(text);
    std::string joined;
    std::vector<std::size_t> sizes;
    int ends = 0;
    for_each_document({{path}, DocumentForm::file}, [&](std::string_view piece, bool last) {
        // cut before a line break that text follows, so that tokenizers see the same words
        if (!joined.empty() && !piece.empty()) {
            EXPECT_EQ(piece[0], '\n');
            EXPECT_NE(piece[1], '\n');
        }
        joined += piece;
        sizes.push_back(piece.size());
        ends += last;
    });
    EXPECT_EQ(joined, text);
    EXPECT_EQ(ends, 1);
    EXPECT_GE(sizes.size(), 3u);
    for (const std::size_t s : sizes) EXPECT_LE(s, std::size_t{2} << 20);
    // one line without any space, of characters of three bytes
    std::string line;
    while (line.size() < (std::size_t{3} << 20)) line += "语";
    EXPECT_EQ(documents({{write(line)}, DocumentForm::line}), List{line});
}

TEST(Documents, BadFilesAreErrors) {
    const Written write;
    EXPECT_THROW(documents({{write.folder / "nothing.txt"}}), Error);
    EXPECT_THROW(documents({{write(std::string(2000, '\1'))}}), Error);
    EXPECT_THROW(documents({{write("caf\xe9 au lait\n")}}), Error);
    EXPECT_EQ(documents({{write("")}}), List{});
    EXPECT_EQ(documents({{write(" \n \n")}}), List{});
    EXPECT_THROW(document_form_of("pages"), Error);
}

TEST(Documents, ACheckCountsThemAndFindsWhatSetsShare) {
    const Written write;
    const NamedDocuments sets[] = {{"train", {{write("One. Two.\n\nThree.\n\nThree.\n", "a.txt")}}},
                                   {"held-out", {{write("Three.\n\nFour.\n", "b.txt")}}}};
    const DocumentsCheck check = check_documents(sets);
    EXPECT_EQ(check.files[0].documents, 3);
    EXPECT_EQ(check.files[0].sentences, 4);
    EXPECT_EQ(check.files[0].words, 4);
    EXPECT_EQ(check.files[0].repeated, 1);
    EXPECT_EQ(check.files[1].shared, 1);
    EXPECT_FALSE(check.clean());
    EXPECT_TRUE(check_documents({sets, 1}).clean());
    EXPECT_NE(check.text().find("1 documents stand in train too"), std::string::npos);
}

}  // namespace
}  // namespace fovea
