#include "fovea/data/text_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/folder_rows.h"
#include "fovea/data/records.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::int64_t count_characters(const std::string& s) {  // of valid UTF-8
    return std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

}  // namespace

std::int64_t count_words(const std::string& s) {
    std::int64_t n = 0;
    bool inside = false;
    for (const char c : s) {
        n += !is_white(c) && !inside;
        inside = !is_white(c);
    }
    return n;
}

bool has_control_characters(const std::string& s) {
    return std::any_of(s.begin(), s.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
    });
}

std::string without_punctuation(const std::string& s) {
    std::string out;
    for (const char c : s) {
        if (c >= 'A' && c <= 'Z')
            out.push_back(static_cast<char>(c + 32));
        else if (static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') ||
                 (c >= 'a' && c <= 'z'))
            out.push_back(c);
        else if (!out.empty() && out.back() != ' ')
            out.push_back(' ');
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

void LengthReport::add(const std::string& text, std::int64_t line) {
    const bool first = histogram.empty();
    const std::int64_t count = count_words(text);
    words += count;
    characters += count_characters(text);
    empty += count == 0;
    shortest = first ? count : std::min(shortest, count);
    if (first || count > longest) {
        longest = count;
        longest_line = line;
    }
    const auto bin = static_cast<std::size_t>(
        count <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(count - 1)));
    if (histogram.size() <= bin) histogram.resize(bin + 1);
    ++histogram[bin];
}

std::string LengthReport::text(const char* name, std::int64_t texts) const {
    std::string out =
        fmt::format("  {}: {} words, {:.1f} a line (from {} to {}, in line {}), {} empty\n", name,
                    grouped(words), mean_words(texts), shortest, grouped(longest), longest_line,
                    grouped(empty));
    const std::int64_t most =
        histogram.empty() ? 0 : *std::max_element(histogram.begin(), histogram.end());
    for (std::size_t i = 0; i < histogram.size(); ++i) {
        const std::int64_t n = histogram[i];
        const auto width = static_cast<std::size_t>(most > 0 ? (40 * n + most - 1) / most : 0);
        std::string bar;
        for (std::size_t k = 0; k < width; ++k) bar += "▇";
        out += fmt::format("    <= {:>6} {:>11} {}\n", std::int64_t{1} << i, grouped(n), bar);
    }
    return out;
}

Json LengthReport::json(std::int64_t texts) const {
    return {{"words", words},       {"characters", characters}, {"mean_words", mean_words(texts)},
            {"shortest", shortest}, {"longest", longest},       {"longest_line", longest_line},
            {"empty", empty},       {"histogram", histogram}};
}

std::string grouped(std::int64_t n) {
    const std::string digits = std::to_string(n);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) out.push_back(',');
        out.push_back(digits[i]);
    }
    return out;
}

std::string lines_text(const std::vector<std::int64_t>& lines) {
    std::string out;
    for (const std::int64_t n : lines)
        out.append(out.empty() ? " (lines " : ", ").append(std::to_string(n));
    if (!out.empty()) out.append(lines.size() >= 10 ? ", …)" : ")");
    return out;
}

std::string fingerprint_of_files(std::span<const std::string> paths) {
    Hash128 all;
    for (const std::string& path : paths) {
        const FileHash file = hash_file(path);
        all.add(text_of(base_name(path), "\n", file.size, "\n", file.hex, "\n"));
    }
    return all.hex();
}

std::string FilesOnDisk::text() const {
    if (bytes < 0) return "";
    return fmt::format(", {} bytes, fingerprint {}", grouped(bytes), fingerprint);
}

FilesOnDisk files_on_disk(std::span<const std::string> record_paths) {
    std::vector<std::string> paths;
    for (const std::string& entry : record_paths) {
        if (!can_be_read_twice(entry)) return {};
        for (const std::string& path : parallel_paths(entry)) {
            if (is_folder(path))
                for (const std::string& inner : files_of_folder(path)) paths.push_back(inner);
            else
                paths.push_back(path);
        }
    }
    FilesOnDisk on_disk{.bytes = 0, .fingerprint = fingerprint_of_files(paths)};
    for (const std::string& path : paths) on_disk.bytes += file_size(path);
    return on_disk;
}

}  // namespace fovea
