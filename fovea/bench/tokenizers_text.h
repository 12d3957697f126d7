#pragma once
// The text that tokenizers are measured on.
#include <cstdint>
#include <string>

namespace fovea::bench {

// About `bytes` of lines: from the file where one is named (repeated where it is short), else from
// the data sets of ../shared/data in turns (questions and paragraphs, German and English sentences,
// plays), else made from a seed. `source` says which.
struct BenchText {
    std::string text;
    std::string source;
};
BenchText tokenizer_bench_text(const std::string& file, std::int64_t bytes);

// ../shared of the project, or FOVEA_SHARED; empty where there is none.
std::string shared_folder();

}  // namespace fovea::bench
