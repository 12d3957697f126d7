// `fovea tokenizer train --memory SIZE` keeps its promise: the peak memory of the process is below
// SIZE + 1 KB a token, on texts that are larger and made to be bad for it.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "committed.h"
#include "fovea/base/rng.h"
#include "fovea/bench/sample_lines.h"
#include "tests/run_program.h"

namespace fovea {
namespace {

std::string random_word(Rng& rng, std::int64_t length, std::int64_t letters) {
    std::string w;
    for (; length > 0; --length) w += static_cast<char>('a' + rng.below(letters));
    return w;
}

// Text of about `bytes`. "full table" repeats as many words as 64 MiB have room for, so that all of
// them reach the trainer; the words of most others are new ones and soon forgotten.
void write_corpus(const std::string& path, const std::string& kind, std::int64_t bytes) {
    std::ofstream out(path, std::ios::binary);
    Rng rng(6);
    std::string part, table;
    for (int i = 0; kind == "full table" && i < 1150; ++i) table += random_word(rng, 200, 8) + "\n";
    for (std::int64_t done = 0; done < bytes; done += static_cast<std::int64_t>(part.size())) {
        part.clear();
        if (kind == "prose") part = sample_prose(static_cast<std::uint64_t>(done), 1 << 20);
        if (kind == "full table") part = table;
        if (kind == "new words")
            for (int i = 0; i < 20000; ++i)
                part += random_word(rng, 4 + rng.below(6), 26) + (i % 11 ? " " : "\n");
        if (kind == "long words")
            for (int i = 0; i < 500; ++i) part += random_word(rng, 200, 8) + "\n";
        if (kind == "one word")  // a line without an end
            part = random_word(rng, 1 << 18, 26);
        out << part;
    }
}

void expect_below(const std::string& kind, std::int64_t corpus_bytes, std::int64_t memory_mib,
                  const std::vector<std::string>& recipes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer needs memory of its own";
#endif
    const TemporaryFile text("memory.txt"), out("memory.json");
    write_corpus(text.path, kind, corpus_bytes);
    constexpr std::int64_t tokens = 4000;
    const std::int64_t bound = (memory_mib << 20) + (tokens << 10);
    ASSERT_GT(file_size(text.path), bound) << "the corpus should be larger than the bound";
    for (const std::string& recipe : recipes) {
        SCOPED_TRACE(kind + ", " + recipe);
        const test::Outcome trained =
            test::run({FOVEA_BINARY, "-q", "tokenizer", "train", text.path, "--like", recipe,
                       "--vocab-size", std::to_string(tokens), "--memory",
                       std::to_string(memory_mib) + "M", "--out", out.path, "--force"});
        EXPECT_EQ(trained.code, 0) << trained.err;
        EXPECT_LT(trained.peak_bytes, bound) << (trained.peak_bytes >> 20) << " MiB";
        EXPECT_GT(Tokenizer::load(out.path).vocab_size(), 0);
        std::printf("%s, %s: %d MiB\n", kind.c_str(), recipe.c_str(),
                    int(trained.peak_bytes >> 20));
    }
}

TEST(TrainingMemory, StaysBelowItsBound) { expect_below("full table", 72 << 20, 64, {"gpt2"}); }

TEST(TrainingMemorySlow, StaysBelowItsBoundForEveryKindAndText) {
    const std::vector<std::string> all = {"gpt2", "bert-uncased", "gpt", "t5", "llama", "word"};
    for (const char* kind : {"full table", "prose", "new words", "long words", "one word"})
        expect_below(kind, 72 << 20, 64, all);
    expect_below("new words", 300 << 20, 256, {"gpt2", "bert-uncased", "t5"});
    expect_below("long words", 300 << 20, 256, {"gpt2", "t5"});
}

}  // namespace
}  // namespace fovea
