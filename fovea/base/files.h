#pragma once
// Whole files in and out. Reads refuse what is not a regular file or is beyond the caller's limit;
// writes are atomic: the old file or the new one is there, never half of one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// The file's bytes. Throws not_found where it cannot be opened, bad_input where it is larger than
// the limit.
std::string read_file(const std::string& path, std::int64_t limit = std::int64_t{1} << 40);

// Bytes of a file, decompressed where it begins with the gzip mark.
std::string read_file_or_gzip(const std::string& path, std::int64_t limit = std::int64_t{1} << 40);

// Writes to a temporary file in the same folder, fsyncs, renames over `path`, fsyncs the folder.
void write_file_atomically(const std::string& path, std::string_view bytes);

bool file_exists(const std::string& path);  // anything of that name
bool is_folder(const std::string& path);
std::int64_t file_size(const std::string& path);
void make_folders(const std::string& path);                     // as mkdir -p
std::vector<std::string> list_folder(const std::string& path);  // names, sorted
std::string join_path(const std::string& a, const std::string& b);
std::string parent_path(const std::string& path);  // "." where there is none
std::string base_name(const std::string& path);

// A text file line by line ('-' is standard input, .gz is decompressed); knows the line number for
// errors. Lines end at \n; a final \r is removed; a byte-order mark at the start is dropped.
class LineReader {
public:
    explicit LineReader(const std::string& path);
    ~LineReader();
    LineReader(const LineReader&) = delete;
    LineReader& operator=(const LineReader&) = delete;

    bool next(std::string& line);                         // false at the end of the file
    std::int64_t line_number() const { return number_; }  // of the line last read, from 1
    const std::string& path() const { return path_; }

private:
    std::string path_;
    void* file_ = nullptr;  // gzFile
    std::string buffer_;
    std::size_t at_ = 0;
    bool end_ = false;
    bool typed_ = false;  // at a terminal: line by line
    std::int64_t number_ = 0;
    bool fill();
};

}  // namespace fovea
