#pragma once
// Words seen lately and their ids. One entry is one cache line and a new word takes the place of
// the one before it, so the memory is fixed and nothing is ever searched for.
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/text/hash.h"
#include "fovea/text/vocabulary.h"

namespace fovea::text {

class WordCache {
public:
    static constexpr std::size_t longest_word = 22;  // bytes
    static constexpr std::size_t most_ids = 8;

    struct alignas(64) Entry {
        std::uint32_t tag = 0;
        float limit = 0;          // for the caller: up to where the ids hold
        std::uint8_t length = 0;  // 0: free
        std::uint8_t count = 0;
        char word[longest_word];
        TokenId ids[most_ids];

        std::span<const TokenId> tokens() const { return {ids, count}; }
    };
    static_assert(sizeof(Entry) == 64);

    static bool fits(std::string_view word) { return word.size() - 1 < longest_word; }

    // The place of a word (fits() must hold) and whether the word is in it.
    Entry& place(std::string_view word, bool& hit) {
        if (entries_.empty()) entries_.resize(capacity);
        const std::uint64_t hash = hash_bytes64(word);
        Entry& e = entries_[hash & (capacity - 1)];
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        hit = e.tag == tag && e.length == word.size() &&
              std::memcmp(e.word, word.data(), word.size()) == 0;
        if (!hit) pending_tag_ = tag;
        return e;
    }

    // Writes what place() did not find into the place it gave.
    void store(Entry& e, std::string_view word, std::span<const TokenId> ids, float limit = 0) {
        if (ids.size() > most_ids) return;
        e.tag = pending_tag_;
        e.limit = limit;
        e.length = static_cast<std::uint8_t>(word.size());
        e.count = static_cast<std::uint8_t>(ids.size());
        std::memcpy(e.word, word.data(), word.size());
        std::memcpy(e.ids, ids.data(), ids.size() * sizeof(TokenId));
    }

private:
    static constexpr std::size_t capacity = 1 << 15;  // 2 MiB
    std::vector<Entry> entries_;
    std::uint32_t pending_tag_ = 0;
};

}  // namespace fovea::text
