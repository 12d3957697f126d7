#pragma once
// TensorBoard event files: records of length, masked CRC-32C, an Event message, masked CRC-32C.
// Scalars only. Append-only; each record reaches the file whole.
// Not thread-safe: one writer, one thread.
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

class TensorBoard {
public:
    // Makes events.out.tfevents.<seconds>.<pid>.fovea in `folder`.
    explicit TensorBoard(const std::string& folder);
    ~TensorBoard();
    TensorBoard(const TensorBoard&) = delete;
    TensorBoard& operator=(const TensorBoard&) = delete;

    void scalar(std::string_view tag, double value, std::int64_t step);
    const std::string& path() const { return path_; }

private:
    void write(const std::string& event);
    std::string path_;
    int fd_ = -1;
};

std::uint32_t crc32c(std::string_view bytes);

}  // namespace fovea
