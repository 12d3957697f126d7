#include "fovea/data/text_file_writer.h"

#include <unistd.h>

#include <utility>

#include "fovea/base/files.h"
#include "fovea/io/disk.h"

namespace fovea {

TextFileWriter::TextFileWriter(std::string path)
    : path_(std::move(path)), temporary_(path_ + ".tmp-" + disk::unique_suffix()) {
    fd_ = disk::open_new(temporary_);
}

TextFileWriter::~TextFileWriter() {
    if (fd_ >= 0) ::close(fd_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void TextFileWriter::write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= (std::size_t{1} << 20)) flush();
}

void TextFileWriter::flush() {
    disk::write_all(fd_, buffer_.data(), static_cast<std::int64_t>(buffer_.size()), temporary_);
    buffer_.clear();
}

void TextFileWriter::finish() {
    flush();
    disk::sync(fd_, temporary_);
    disk::close(std::exchange(fd_, -1), temporary_);
}

void TextFileWriter::publish() {
    disk::rename_over(temporary_, path_);
    temporary_.clear();
    disk::sync_folder(parent_path(path_));
}

}  // namespace fovea
