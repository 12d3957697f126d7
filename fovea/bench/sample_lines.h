#pragma once
// Lines of text made from a seed, for tests and benchmarks: English, German, Chinese, Japanese,
// Arabic, Hindi and glimpses of others, emoji, code, numbers, odd white space, spellings that
// tokenizers treat in special ways. Words and sentence patterns are our own; the sense of a line
// is not the point. The same seed and number give the same line on every machine.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

std::string sample_line(std::uint64_t seed, std::int64_t number);

// Plain English-like sentences only, about `bytes` of them, a line each: text with the word
// frequencies of prose (Zipf's law) for benchmarks where no corpus is at hand.
std::string sample_prose(std::uint64_t seed, std::int64_t bytes);

// Every Unicode scalar value once (U+0000 and the private ones too), in order, over about 1,500
// lines, with spaces and letters between.
std::vector<std::string> lines_of_every_code_point();

}  // namespace fovea
