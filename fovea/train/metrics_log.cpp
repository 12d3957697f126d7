#include "fovea/train/metrics_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

MetricsLog::MetricsLog(const std::string& path, std::int64_t last_step, std::int64_t last_evaluated)
    : path_(path) {
    if (file_exists(path)) {
        std::string keep, line;
        LineReader lines(path);
        while (lines.next(line)) {
            Json j;
            try {
                j = parse_json(line, path);
            } catch (const Error&) {
                continue;  // the last line of a run that was killed
            }
            if (j.is_object() && j.contains("step") && j["step"].is_number_integer() &&
                j["step"].get<std::int64_t>() <= (j.contains("eval") ? last_evaluated : last_step))
                keep += line + "\n";
        }
        write_file_atomically(path, keep);
    }
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    expect(fd_ >= 0, path, ": cannot open: ", std::strerror(errno));
}

MetricsLog::~MetricsLog() { ::close(fd_); }

void MetricsLog::add(const Json& line) {
    const std::string text = to_text(line) + "\n";
    // A full disk is reported by the checkpoint; the log must not end the run.
    [[maybe_unused]] const ssize_t n = ::write(fd_, text.data(), text.size());
}

void MetricsLog::sync() { ::fdatasync(fd_); }

}  // namespace fovea
