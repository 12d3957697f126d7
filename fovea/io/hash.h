#pragma once
// XXH3-128, the checksum of our files: finds damage, not forgery.
// Not thread-safe: a hash in the making belongs to one thread.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fovea {

class Hash128 {
public:
    Hash128();
    ~Hash128();
    Hash128(Hash128&&) noexcept;
    Hash128& operator=(Hash128&&) noexcept;

    void add(const void* data, std::int64_t bytes);
    void add(std::string_view text) { add(text.data(), static_cast<std::int64_t>(text.size())); }
    std::string hex() const;  // 32 digits, of everything added so far

private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string hash_of(std::string_view bytes);

// The same as a key of a hash table, in one go.
struct Key128 {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Key128&) const = default;
    struct Hash {
        std::size_t operator()(const Key128& k) const { return static_cast<std::size_t>(k.low); }
    };
};
Key128 key_of(std::string_view bytes);

struct FileHash {
    std::int64_t size = 0;
    std::string hex;
};
FileHash hash_file(const std::string& path);  // reads it whole, in pieces

}  // namespace fovea
