#include "fovea/text/train/train_corpus.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/base/utf8.h"

namespace fovea {

namespace {
constexpr std::size_t block_bytes = std::size_t{256} << 10;
constexpr std::size_t shares_at_once = 4;
}  // namespace

CorpusReader::CorpusReader(const std::string& path, bool keep_newlines, std::size_t longest_line)
    : path_(path == "-" ? "standard input" : path),
      name_(path),
      keep_newlines_(keep_newlines),
      longest_line_(longest_line) {
    if (path == "-") {
        file_ = gzdopen(dup(STDIN_FILENO), "rb");
    } else {
        if (is_folder(path))
            fail_with(ErrorKind::not_found, "name the text files in it", path, ": is a folder");
        file_ = gzopen(path.c_str(), "rb");
    }
    if (!file_)
        fail_with(ErrorKind::not_found, "", path_, ": cannot be opened: ", std::strerror(errno));
    gzbuffer(static_cast<gzFile>(file_), static_cast<unsigned>(block_bytes));
}

CorpusReader::~CorpusReader() { gzclose(static_cast<gzFile>(file_)); }

bool CorpusReader::fill() {
    if (end_) return false;
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t old = buffer_.size();
    buffer_.resize(old + block_bytes);
    const int n = gzread(static_cast<gzFile>(file_), buffer_.data() + old,
                         static_cast<unsigned>(block_bytes));
    int code = 0;
    const char* message = gzerror(static_cast<gzFile>(file_), &code);
    expect_input(n >= 0 && (n > 0 || code == Z_OK || code == Z_STREAM_END), path_,
                 ": cannot be read after byte ", bytes_read_, ": ",
                 code == Z_ERRNO ? std::strerror(errno) : message);
    buffer_.resize(old + static_cast<std::size_t>(std::max(n, 0)));
    if (bytes_read_ == 0 && old == 0) {
        check_first_block();
        if (buffer_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    }
    bytes_read_ += n;
    end_ = n <= 0;
    return n > 0;
}

std::string CorpusReader::hint() const {
    constexpr std::size_t looked_at = std::size_t{64} << 10;
    return encoding_hint(std::string_view(buffer_).substr(at_, looked_at), name_);
}

void CorpusReader::check_first_block() const {
    const std::string_view first = std::string_view(buffer_).substr(0, std::size_t{4} << 10);
    if (!looks_binary(first)) return;
    const bool wide = guess_encoding(first).starts_with("UTF-");  // every second byte is zero
    fail_with(ErrorKind::bad_input, hint(), path_,
              wide ? ":1: the text is not UTF-8" : ": is not a text file");
}

void CorpusReader::check_utf8(std::string_view text) const {
    if (!is_utf8(text))
        fail_with(ErrorKind::bad_input, hint(), path_, ":", line_, ": the text is not UTF-8");
}

bool CorpusReader::next(std::string& line) {
    std::size_t scanned = at_;
    for (;;) {
        const std::size_t newline = buffer_.find('\n', scanned);
        std::size_t end = newline;
        bool whole = newline != std::string::npos;
        if (!whole) {
            if (buffer_.size() - at_ <= longest_line_) {
                const std::size_t seen = buffer_.size() - at_;
                if (fill()) {
                    scanned = at_ + seen;
                    continue;
                }
                if (at_ == buffer_.size()) return false;
            }
            end = buffer_.size();
        }
        if (end - at_ > longest_line_) {  // cut: after white space, else between characters
            whole = false;
            end = at_ + longest_line_;
            const std::size_t space = buffer_.find_last_of(" \t", end - 1);
            if (space != std::string::npos && space > at_)
                end = space + 1;
            else
                while (end > at_ + 1 && (buffer_[end] & '\xC0') == '\x80') --end;
        }
        std::size_t text_end = end;
        if (whole) {
            ++end;  // the newline
            if (keep_newlines_)
                text_end = end;
            else if (text_end > at_ && buffer_[text_end - 1] == '\r')
                --text_end;
        }
        const std::string_view part = std::string_view(buffer_).substr(at_, text_end - at_);
        check_utf8(part);
        line += part;
        line_ += whole;
        at_ = end;
        return true;
    }
}

namespace {

// A few megabytes of lines, end to end, cut into shares.
struct Batch {
    std::string text;
    std::vector<std::size_t> ends;         // of each line
    std::vector<std::size_t> share_begin;  // first line of each share

    void clear() {
        text.clear();
        ends.clear();
        share_begin.clear();
    }
};

void count_batch(const Batch& batch, const WordSplitter& splitter, std::vector<WordCounts>& shares,
                 WordCounts& total) {
    const std::size_t n = batch.share_begin.size();
    while (shares.size() < n) shares.emplace_back();
    parallel_for(static_cast<std::int64_t>(n), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
            WordCounts& counts = shares[k];
            counts.clear();
            const std::size_t last = k + 1 < n ? batch.share_begin[k + 1] : batch.ends.size();
            for (std::size_t i = batch.share_begin[k]; i < last; ++i) {
                const std::size_t from = i == 0 ? 0 : batch.ends[i - 1];
                splitter.split(std::string_view(batch.text).substr(from, batch.ends[i] - from),
                               [&](std::string_view word) { counts.add(word); });
            }
        }
    });
    for (std::size_t k = 0; k < n; ++k) total.add(shares[k]);
}

}  // namespace

WordCounts count_words(const std::vector<std::string>& files, const WordSplitter& splitter,
                       const CorpusOptions& options) {
    WordCounts total(options.table_limit, options.cost);
    std::int64_t expected = 0, before = 0;  // bytes; expected only where no file is compressed
    for (const std::string& file : files) {
        const bool plain = file != "-" && file_exists(file) && !is_folder(file) &&
                           !(file.size() > 3 && file.ends_with(".gz"));
        expected = plain && expected >= 0 ? expected + file_size(file) : -1;
    }
    Batch batch;
    std::vector<WordCounts> shares;
    std::size_t share_end = 0;
    for (const std::string& file : files) {
        CorpusReader reader(file, options.keep_newlines, options.longest_line);
        for (;;) {
            const bool more = reader.next(batch.text);
            if (more) {
                if (batch.ends.empty() || batch.ends.back() >= share_end) {
                    batch.share_begin.push_back(batch.ends.size());
                    share_end = (batch.ends.empty() ? 0 : batch.ends.back()) + options.share_bytes;
                }
                batch.ends.push_back(batch.text.size());
            }
            if (batch.text.size() < shares_at_once * options.share_bytes && more) continue;
            count_batch(batch, splitter, shares, total);
            batch.clear();
            share_end = 0;
            if (options.progress) {
                options.progress({"reading", before + reader.bytes_read(),
                                  std::max<std::int64_t>(expected, 0), "bytes"});
            }
            if (!more) break;
        }
        before += reader.bytes_read();
    }
    return total;
}

}  // namespace fovea
