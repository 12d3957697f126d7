#pragma once
// Figures about texts, for the reports of `fovea data check`. Thread-safety: pure functions; a
// report in the making belongs to one thread.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

inline constexpr std::size_t lines_to_show = 10;

struct LengthReport {  // of one side, in words between white space
    std::int64_t words = 0, characters = 0;
    std::int64_t shortest = 0, longest = 0, longest_line = 0;
    std::int64_t empty = 0;
    std::vector<std::int64_t>
        histogram;  // [i]: texts with 2^(i-1) < words <= 2^i; [0]: at most one
    double mean_words(std::int64_t texts) const {
        return texts > 0 ? static_cast<double>(words) / static_cast<double>(texts) : 0;
    }
    void add(const std::string& text, std::int64_t line);
    std::string text(const char* name, std::int64_t texts) const;  // for people, indented
    Json json(std::int64_t texts) const;
};

std::int64_t count_words(const std::string& text);
bool has_control_characters(const std::string& text);  // other than tab and newline

// The words of the text in lower case (ASCII), anything else between them one space: "Hello,
// World!" and "hello world" are one sentence, "we'll" and "well" are not.
std::string without_punctuation(const std::string& text);

std::string grouped(std::int64_t n);                             // 1,234,567
std::string lines_text(const std::vector<std::int64_t>& lines);  // " (lines 3, 5)"

// Files as they lie on the disk. A stream (standard input, a pipe) has neither size nor hash.
struct FilesOnDisk {
    std::int64_t bytes = -1;   // -1: a stream
    std::string fingerprint;   // of names, sizes and contents; empty: a stream
    std::string text() const;  // ", 1,234 bytes, fingerprint …"; for a stream nothing
};
FilesOnDisk files_on_disk(std::span<const std::string> record_paths);

// XXH3 of the files' names (without folders), sizes and contents: another file or another byte,
// another fingerprint.
std::string fingerprint_of_files(std::span<const std::string> paths);

}  // namespace fovea
