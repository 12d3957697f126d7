#include "fovea/io/word_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

WordVectorFile example() {
    WordVectorFile f;
    f.words = {"</s>", "Straße", "the"};
    f.counts = {7, 3, 5'000'000'000};
    f.buckets = 2;
    f.min_n = 2;
    f.max_n = 4;
    f.input = Tensor::of({5, 2}, {0.1f, -2.5e-7f, 3, 4, -5, 1.0f / 3, 7, 8, 9, 10});
    f.output = Tensor::of({3, 2}, {1, 2, 3, 4, 5, 6});
    return f;
}

WordVectorFile words_only() {
    WordVectorFile f = example();
    f.buckets = 0;
    f.input = Tensor::of({3, 2}, f.input.span().first(6));
    return f;
}

std::string written(const WordVectorFile& f, WordVectorFormat format) {
    const std::string path = testing::TempDir() + "/fovea_word_vectors";
    write_word_vectors(path, f, format);
    return read_file(path);
}

TEST(WordVectorFiles, EveryFormatComesBackToTheLastBit) {
    for (const auto format :
         {WordVectorFormat::text, WordVectorFormat::word2vec, WordVectorFormat::fasttext}) {
        const bool whole = format == WordVectorFormat::fasttext;
        const WordVectorFile f = whole ? example() : words_only();
        const WordVectorFile back = parse_word_vectors(written(f, format), "file");
        EXPECT_EQ(back.words, f.words);
        EXPECT_EQ(back.input.values(), f.input.values());
        EXPECT_EQ(back.counts, whole ? f.counts : std::vector<std::int64_t>{});
        if (!whole) continue;
        EXPECT_EQ(back.output.values(), f.output.values());
        EXPECT_EQ(back.buckets, 2);
        EXPECT_EQ(back.min_n, 2);
        EXPECT_EQ(back.max_n, 4);
        EXPECT_TRUE(back.skip_gram);
    }
}

TEST(WordVectorFiles, TextIsReadWithAndWithoutAFirstLine) {
    for (const std::string text :
         {"2 3\na 1 2 3\nb 4 5e-1 -6 \n", "a 1 2 3\nb 4 0.5 -6\n", "a\t1 2 3\r\nb 4 0.5 -6\r\n"}) {
        const WordVectorFile f = parse_word_vectors(text, "file");
        EXPECT_EQ(f.words, (std::vector<std::string>{"a", "b"}));
        EXPECT_EQ(f.input.values(), (std::vector<float>{1, 2, 3, 4, 0.5, -6}));
    }
    const WordVectorFile twice = parse_word_vectors("a 1\na 2\nb 3\n", "file");
    EXPECT_EQ(twice.words.size(), 2u);
    EXPECT_EQ(twice.input.values(), (std::vector<float>{1, 3}));
    ASSERT_EQ(twice.notes.size(), 1u);
}

TEST(WordVectorFiles, DamagedFilesAreOneClearError) {
    const std::string fasttext = written(example(), WordVectorFormat::fasttext),
                      word2vec = written(words_only(), WordVectorFormat::word2vec);
    const auto refuses = [](const std::string& bytes, const std::string& word) {
        try {
            parse_word_vectors(bytes, "file");
            ADD_FAILURE() << "no error: " << word;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        }
    };
    refuses("", "no word");
    refuses("2 2\na 1 2\n", "line 1 says 2 words");
    refuses("1 2\na 1 x\n", "file:2: \"x\" is not a number");
    refuses("a 1 2\nb 1\n", "file:2: has 1 numbers");
    refuses("a 1 inf\n", "is not a number");
    refuses("9000000000000 4000\na 1\n", "9000000000000");
    refuses(std::string("\x01\x02\x00\x03zzz\x05\x06\x07", 10), "neither");
    for (std::size_t cut = 1; cut < fasttext.size(); cut += 3)
        EXPECT_THROW(parse_word_vectors(fasttext.substr(0, cut), "file"), Error) << cut;
    for (std::size_t cut = word2vec.find('\n') + 12; cut + 1 < word2vec.size(); cut += 3)
        EXPECT_THROW(parse_word_vectors(word2vec.substr(0, cut), "file"), Error) << cut;
    const auto changed = [&](std::size_t at, std::int32_t value) {
        std::string bytes = fasttext;
        std::memcpy(bytes.data() + at, &value, 4);
        return bytes;
    };
    refuses(changed(4, 11), "version 11");
    refuses(changed(8, 1 << 30), "sizes that cannot be");
    refuses(changed(64, 2'000'000'000), "dictionary of 2000000000 entries");
    std::string huge = fasttext;
    const std::int64_t rows = std::int64_t{1} << 40;
    // The input table: behind the dictionary's three words.
    const std::size_t table = fasttext.size() - (1 + 16 + 40) - (1 + 16 + 24) + 1;
    std::memcpy(huge.data() + table, &rows, 8);
    refuses(huge, "the input table is said to be");
    std::string quantised = fasttext;
    quantised[table - 1] = 1;
    refuses(quantised, "quantised");
}

TEST(WordVectorFiles, WordsWithSpacesAreNotWrittenAsText) {
    WordVectorFile f = words_only();
    f.words[1] = "two words";
    EXPECT_THROW(written(f, WordVectorFormat::text), Error);
    EXPECT_EQ(parse_word_vectors(written(f, WordVectorFormat::fasttext), "file").words[1],
              "two words");
}

}  // namespace
}  // namespace fovea
