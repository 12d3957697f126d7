#pragma once
// Words seen lately and their ids. One entry is one cache line and a new word takes the place of
// the one before it, so nothing is ever searched for. It starts small, since many a tokenizer is
// made for one text, and grows with the words it is given, to 2 MiB at most.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fovea/text/hash.h"
#include "fovea/text/models/vocabulary.h"

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
        if (stored_ >= entries_.size() && entries_.size() < most_entries) grow();
        const std::uint64_t hash = hash_bytes64(word);
        Entry& e = entries_[hash & (entries_.size() - 1)];
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        hit = e.tag == tag && e.length == word.size() &&
              std::memcmp(e.word, word.data(), word.size()) == 0;
        if (!hit) pending_tag_ = tag;
        return e;
    }

    // Writes what place() did not find into the place it gave.
    void store(Entry& e, std::string_view word, std::span<const TokenId> ids, float limit = 0) {
        if (ids.size() > most_ids) return;
        ++stored_;
        e.tag = pending_tag_;
        e.limit = limit;
        e.length = static_cast<std::uint8_t>(word.size());
        e.count = static_cast<std::uint8_t>(ids.size());
        // std::copy and not memcpy: a word without ids (characters that the model drops) comes as
        // an empty span, whose null pointer memcpy may not be given.
        std::copy(word.begin(), word.end(), e.word);
        std::copy(ids.begin(), ids.end(), e.ids);
    }

private:
    static constexpr std::size_t first_entries = 1 << 9, most_entries = 1 << 15;

    void grow() {  // empty again: what is used comes back soon
        const std::size_t size = entries_.empty() ? first_entries : 8 * entries_.size();
        entries_.clear();
        entries_.resize(size);
        stored_ = 0;
    }

    std::vector<Entry> entries_;
    std::size_t stored_ = 0;
    std::uint32_t pending_tag_ = 0;
};

}  // namespace fovea::text
