#pragma once
// For tests: a folder of its own, dates to learn, and the real programs run over it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/dates.h"
#include "tests/run_program.h"

namespace fovea {

inline const std::string& folder() {  // one per process, removed at its end
    static const struct Own {
        Own() {
            std::string name = testing::TempDir() + "/fovea_seq2seq_XXXXXX";
            path = ::mkdtemp(name.data());
        }
        ~Own() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
        std::string path;
    } own;
    return own.path;
}

inline std::string dates_file(const std::string& name, std::int64_t count, bool held_out) {
    std::string text;
    for (const TextPair& p : written_dates({.count = count, .held_out = held_out}))
        text += p.source + "\t" + p.target + "\n";
    const std::string path = folder() + "/" + name;
    write_file_atomically(path, text);
    return path;
}

using Ran = test::Outcome;

// The program beside the fovea binary, e.g. "example_train"; arguments are words between spaces.
inline Ran run_program(const std::string& program, const std::string& arguments,
                       const std::string& input = "") {
    std::vector<std::string> words = test::words_of(arguments);
    words.insert(words.begin(),
                 join_path(std::filesystem::path(FOVEA_BINARY).parent_path().string(), program));
    return test::run(words, {.input = input});
}

inline Ran fovea(const std::string& arguments, const std::string& input = "") {
    return run_program("fovea", arguments, input);
}

// A model that learns nothing much in little time; --out is RUN in the test's folder.
inline std::string train_flags(const std::string& run, int steps, const std::string& dev = "none") {
    static const std::string train = dates_file("train.tsv", 400, false);
    return "train --train " + train + " --out " + folder() + "/" + run + " --steps " +
           std::to_string(steps) +
           " --vocab characters --preset tiny --d-model 32 --ffn 48 --heads 2 --encoder-layers 1 "
           "--decoder-layers 1"
           " --max-tokens 300 --save-every 5 --warmup 5 --lr 3e-3 --schedule inverse-sqrt --seed 4"
           " --dev " +
           dev;
}

inline std::string weights(const std::string& run) {
    return read_file(folder() + "/" + run + "/model/model.safetensors");
}

}  // namespace fovea
