#include "fovea/io/hash.h"

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

struct Hash128::State {
    XXH3_state_t* xxh = XXH3_createState();
    ~State() { XXH3_freeState(xxh); }
};

Hash128::Hash128() : state_(std::make_unique<State>()) {
    expect(state_->xxh && XXH3_128bits_reset(state_->xxh) == XXH_OK, "hash: out of memory");
}
Hash128::~Hash128() = default;
Hash128::Hash128(Hash128&&) noexcept = default;
Hash128& Hash128::operator=(Hash128&&) noexcept = default;

void Hash128::add(const void* data, std::int64_t bytes) {
    if (bytes > 0) XXH3_128bits_update(state_->xxh, data, static_cast<std::size_t>(bytes));
}

std::string Hash128::hex() const {
    const XXH128_hash_t h = XXH3_128bits_digest(state_->xxh);
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const XXH64_hash_t half : {h.high64, h.low64})
        for (int shift = 60; shift >= 0; shift -= 4) out.push_back(digits[(half >> shift) & 15]);
    return out;
}

Key128 key_of(std::string_view bytes) {
    const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
    return {h.high64, h.low64};
}

std::string hash_of(std::string_view bytes) {
    Hash128 h;
    h.add(bytes);
    return h.hex();
}

FileHash hash_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw Error(path + ": cannot open: " + std::strerror(errno), ErrorKind::not_found);
    Hash128 hash;
    FileHash result;
    std::vector<char> piece(1 << 16);
    for (;;) {
        const ssize_t n = ::read(fd, piece.data(), piece.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            const std::string reason = std::strerror(errno);
            ::close(fd);
            throw Error(path + ": cannot read: " + reason, ErrorKind::not_found);
        }
        if (n == 0) break;
        hash.add(piece.data(), n);
        result.size += n;
    }
    ::close(fd);
    result.hex = hash.hex();
    return result;
}

}  // namespace fovea
