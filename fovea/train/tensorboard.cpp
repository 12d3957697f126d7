#include "fovea/train/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1u) ? 0x82f63b78u ^ (c >> 1) : c >> 1;
        t[i] = c;
    }
    return t;
}();

std::uint32_t masked(std::string_view bytes) {
    const std::uint32_t c = crc32c(bytes);
    return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

template <class T>
void append_raw(std::string& out, T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    out.append(raw, sizeof value);
}

void append_varint(std::string& out, std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
    out.push_back(static_cast<char>(v));
}

void append_bytes(std::string& out, char key, std::string_view bytes) {
    out.push_back(key);
    append_varint(out, bytes.size());
    out.append(bytes);
}

double wall_time() {
    using namespace std::chrono;
    return duration<double>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    std::uint32_t c = ~0u;
    for (const char b : bytes)
        c = crc_table[(c ^ static_cast<unsigned char>(b)) & 0xffu] ^ (c >> 8);
    return ~c;
}

TensorBoard::TensorBoard(const std::string& folder) {
    make_folders(folder);
    path_ = join_path(folder, text_of("events.out.tfevents.", static_cast<long long>(wall_time()),
                                      ".", ::getpid(), ".fovea"));
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    expect(fd_ >= 0, path_, ": cannot create: ", std::strerror(errno));
    std::string event;
    event.push_back('\x09');  // wall_time: field 1, double
    append_raw(event, wall_time());
    append_bytes(event, '\x1a', "brain.Event:2");  // file_version: field 3
    write(event);
}

TensorBoard::~TensorBoard() {
    if (fd_ >= 0) ::close(fd_);
}

void TensorBoard::scalar(std::string_view tag, double value, std::int64_t step) {
    std::string v;  // Summary.Value: tag = 1, simple_value = 2 (float)
    append_bytes(v, '\x0a', tag);
    v.push_back('\x15');
    append_raw(v, static_cast<float>(value));
    std::string summary;
    append_bytes(summary, '\x0a', v);
    std::string event;
    event.push_back('\x09');
    append_raw(event, wall_time());
    event.push_back('\x10');  // step: field 2
    append_varint(event, static_cast<std::uint64_t>(step));
    append_bytes(event, '\x2a', summary);  // summary: field 5
    write(event);
}

void TensorBoard::write(const std::string& event) {
    std::string length, record;
    append_raw(length, static_cast<std::uint64_t>(event.size()));
    record = length;
    append_raw(record, masked(length));
    record += event;
    append_raw(record, masked(event));
    // A lost event is not worth a lost training: a full disk is reported by the checkpoints.
    [[maybe_unused]] const ssize_t n = ::write(fd_, record.data(), record.size());
}

}  // namespace fovea
