#include "fovea/text/models/vocabulary.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/text/hash.h"

namespace fovea {

namespace {
constexpr std::int32_t none = -1;
constexpr std::size_t at_once = 32;  // look-ups whose cache misses overlap
// Ids up to this much beyond the number of tokens are looked up by index; wilder ones by search.
constexpr std::int64_t dense_slack = 1 << 20;
}  // namespace

Vocabulary::Vocabulary(const std::vector<std::string>& tokens_by_id) {
    std::size_t bytes = 0;
    for (const std::string& t : tokens_by_id) bytes += t.size();
    reserve(tokens_by_id.size(), bytes);
    TokenId id = 0;
    for (const std::string& t : tokens_by_id) add(t, id++);
}

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
    bytes_.reserve(bytes);
    entries_.reserve(tokens);
    by_id_.reserve(tokens);
    std::size_t size = 16;
    while (size < 2 * tokens) size *= 2;
    if (size > table_.size()) {
        table_.assign(size, none);
        for (std::size_t i = 0; i < entries_.size(); ++i)
            table_[slot_of(view(entries_[i]), entries_[i].hash)] = static_cast<std::int32_t>(i);
    }
}

// The slot that holds the token, or the free one where it belongs.
std::size_t Vocabulary::slot_of(std::string_view token, std::uint32_t hash) const {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const std::int32_t i = table_[at];
        if (i == none) return at;
        const Slot& s = entries_[static_cast<std::size_t>(i)];
        if (s.hash == hash && s.length == token.size() &&
            std::memcmp(bytes_.data() + s.begin, token.data(), token.size()) == 0)
            return at;
    }
}

void Vocabulary::add(std::string_view token, TokenId id) {
    add_hashed(token, id, hash_bytes(token));
}

void Vocabulary::add(std::span<const std::string_view> tokens, std::span<const TokenId> ids) {
    reserve(entries_.size() + tokens.size(), bytes_.size());
    std::uint32_t hashes[at_once];
    for (std::size_t i = 0; i < tokens.size(); i += at_once) {
        const std::size_t n = std::min(at_once, tokens.size() - i);
        for (std::size_t k = 0; k < n; ++k) {
            hashes[k] = hash_bytes(tokens[i + k]);
            __builtin_prefetch(&table_[hashes[k] & (table_.size() - 1)], 1);
        }
        for (std::size_t k = 0; k < n; ++k) add_hashed(tokens[i + k], ids[i + k], hashes[k]);
    }
}

void Vocabulary::find(std::span<const std::string_view> tokens, std::span<TokenId> ids) const {
    if (table_.empty()) {
        std::fill(ids.begin(), ids.end(), none);
        return;
    }
    const std::size_t mask = table_.size() - 1;
    std::uint32_t hashes[at_once];
    for (std::size_t i = 0; i < tokens.size(); i += at_once) {
        const std::size_t n = std::min(at_once, tokens.size() - i);
        for (std::size_t k = 0; k < n; ++k) {
            hashes[k] = hash_bytes(tokens[i + k]);
            __builtin_prefetch(&table_[hashes[k] & mask]);
        }
        const auto first = [&](std::size_t k) -> const Slot* {
            const std::int32_t at = table_[hashes[k] & mask];
            return at == none ? nullptr : &entries_[static_cast<std::size_t>(at)];
        };
        for (std::size_t k = 0; k < n; ++k)
            if (const Slot* s = first(k)) __builtin_prefetch(s);
        for (std::size_t k = 0; k < n; ++k)
            if (const Slot* s = first(k)) __builtin_prefetch(bytes_.data() + s->begin);
        for (std::size_t k = 0; k < n; ++k) {
            const std::int32_t at = table_[slot_of(tokens[i + k], hashes[k])];
            ids[i + k] = at == none ? none : entries_[static_cast<std::size_t>(at)].id;
        }
    }
}

void Vocabulary::add_hashed(std::string_view token, TokenId id, std::uint32_t hash) {
    expect_input(id >= 0 && id < std::numeric_limits<TokenId>::max(), "vocabulary: token \"", token,
                 "\" has id ", id, " but ids are from 0 to 2147483646");
    expect_input(bytes_.size() + token.size() < std::numeric_limits<std::uint32_t>::max(),
                 "vocabulary: more than 4 GiB of tokens");
    if (2 * (entries_.size() + 1) > table_.size()) reserve(entries_.size() + 1, bytes_.size());
    std::int32_t& slot = table_[slot_of(token, hash)];
    if (slot == none) {
        slot = static_cast<std::int32_t>(entries_.size());
        entries_.push_back({static_cast<std::uint32_t>(bytes_.size()),
                            static_cast<std::uint32_t>(token.size()), hash, id});
        bytes_.append(token);
    } else {
        Slot& old = entries_[static_cast<std::size_t>(slot)];
        const auto old_id = static_cast<std::size_t>(old.id);
        if (old_id < by_id_.size() && by_id_[old_id] == slot) by_id_[old_id] = none;
        old.id = id;
    }
    if (unique_ && id < end_id_) {
        const std::string_view other = this->token(id);
        unique_ = other.data() == nullptr || other == token;
    }
    end_id_ = std::max(end_id_, id + 1);
    if (id < static_cast<std::int64_t>(entries_.size()) * 4 + dense_slack) {
        if (static_cast<std::size_t>(id) >= by_id_.size())
            by_id_.resize(static_cast<std::size_t>(id) + 1, none);
        by_id_[static_cast<std::size_t>(id)] = slot;
    } else {
        sparse_ = true;
    }
}

TokenId Vocabulary::find(std::string_view token) const {
    if (table_.empty()) return -1;
    const std::int32_t i = table_[slot_of(token, hash_bytes(token))];
    return i == none ? -1 : entries_[static_cast<std::size_t>(i)].id;
}

std::optional<TokenId> Vocabulary::id(std::string_view token) const {
    const TokenId i = find(token);
    return i < 0 ? std::nullopt : std::optional(i);
}

std::string_view Vocabulary::token(TokenId id) const {
    if (id < 0) return {};
    if (static_cast<std::size_t>(id) < by_id_.size()) {
        const std::int32_t i = by_id_[static_cast<std::size_t>(id)];
        if (i != none) return view(entries_[static_cast<std::size_t>(i)]);
    }
    if (!sparse_) return {};
    for (std::size_t i = entries_.size(); i-- > 0;)
        if (entries_[i].id == id) return view(entries_[i]);
    return {};
}

std::vector<Vocabulary::Entry> Vocabulary::by_id() const {
    std::vector<Entry> all;
    all.reserve(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) all.push_back(entry(i));
    std::stable_sort(all.begin(), all.end(),
                     [](const Entry& a, const Entry& b) { return a.id < b.id; });
    return all;
}

}  // namespace fovea
