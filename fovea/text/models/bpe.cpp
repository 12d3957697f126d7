#include "fovea/text/models/bpe.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/hash.h"
#include "fovea/text/steps/byte_level.h"

namespace fovea::text {

namespace {

constexpr std::uint64_t free_slot = ~std::uint64_t{0};
constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();
// Up to here the next pair is found by looking at all ranks, beyond by a heap.
constexpr std::size_t short_word = 48;

std::uint64_t pair_of(TokenId left, TokenId right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
}
std::string byte_token(unsigned byte) {
    static const char hex[] = "0123456789ABCDEF";
    return {'<', '0', 'x', hex[byte >> 4], hex[byte & 15], '>'};
}

std::size_t power_of_two(std::size_t at_least) {
    std::size_t n = 16;
    while (n < at_least) n *= 2;
    return n;
}

}  // namespace

bool Bpe::can_take_bytes(const BpeSpec& spec) {
    if (spec.byte_fallback ||
        (spec.continuing_subword_prefix && !spec.continuing_subword_prefix->empty()) ||
        (spec.end_of_word_suffix && !spec.end_of_word_suffix->empty()) || !spec.vocab.unique_ids())
        return false;
    std::string one;
    for (int b = 0; b < 256; ++b) {
        one.clear();
        append_utf8(one, byte_to_char(static_cast<unsigned char>(b)));
        if (!spec.vocab.contains(one)) return false;
    }
    return true;
}

Bpe::Bpe(const BpeSpec& spec, bool bytes) : spec_(&spec), bytes_(bytes) {
    if (spec.unk_token) {
        unk_ = spec.vocab.find(*spec.unk_token);
        expect_input(unk_ >= 0, "BPE: the unk_token \"", *spec.unk_token,
                     "\" is not in the vocabulary");
    }
    prefix_size_ = spec.continuing_subword_prefix.value_or("").size();
    suffix_size_ = spec.end_of_word_suffix.value_or("").size();
    // A table by id: forty bytes of a hostile file must not ask for gigabytes.
    constexpr std::size_t most_holes = std::size_t{1} << 20;
    const auto end = static_cast<std::size_t>(spec.vocab.end_id());
    expect_input(end <= 4 * spec.vocab.size() + most_holes, "BPE: the vocabulary has only ",
                 spec.vocab.size(), " tokens, but ids up to ", end - 1);
    lengths_.assign(end, 0);
    std::string raw;
    if (bytes_ && spec.ignore_merges) raw_.reserve(spec.vocab.size(), spec.vocab.size() * 6);
    for (std::size_t i = 0; i < spec.vocab.size(); ++i) {
        const auto [token, id] = spec.vocab.entry(i);
        auto& length = lengths_[static_cast<std::size_t>(id)];
        length = static_cast<std::uint32_t>(token.size());
        if (!bytes_) continue;
        raw.clear();
        if (!unspell_bytes(token, raw)) continue;  // no text has such bytes
        length = static_cast<std::uint32_t>(raw.size());
        if (raw.size() == 1) byte_ids_[static_cast<unsigned char>(raw[0])] = id;
        if (spec.ignore_merges) raw_.add(raw, id);
    }
    add_merges();
    if (!bytes_ && spec.byte_fallback) {
        byte_fallback_ = true;
        for (unsigned b = 0; b < 256; ++b) byte_ids_[b] = spec.vocab.find(byte_token(b));
    }
    find_parts();
}

void Bpe::add_merges() {
    const std::vector<Merge>& list = spec_->merges;
    const std::size_t n = power_of_two(list.size() * 3 / 2);
    merges_.assign(n, {free_slot, 0, 0});
    mask_ = n - 1;
    lengthens_ = spec_->vocab.unique_ids();
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i + ahead < list.size())
            __builtin_prefetch(
                &merges_[hash_of_number(pair_of(list[i + ahead].left, list[i + ahead].right)) &
                         mask_],
                1);
        const Merge& m = list[i];
        const std::uint64_t pair = pair_of(m.left, m.right);
        std::uint64_t at = hash_of_number(pair) & mask_;
        while (merges_[at].pair != free_slot && merges_[at].pair != pair) at = (at + 1) & mask_;
        // of equal pairs the last one counts
        merges_[at] = {pair, static_cast<std::uint32_t>(i), m.merged};
        lengthens_ &= lengths_[static_cast<std::size_t>(m.right)] > prefix_size_ &&
                      lengths_[static_cast<std::size_t>(m.left)] > 0;
    }
}

const Bpe::Slot* Bpe::find_merge(TokenId left, TokenId right) const {
    const std::uint64_t pair = pair_of(left, right);
    for (std::uint64_t at = hash_of_number(pair) & mask_;; at = (at + 1) & mask_) {
        const Slot& s = merges_[at];
        if (s.pair == pair) return &s;
        if (s.pair == free_slot) return nullptr;
    }
}

// Collects which neighbouring characters can ever end up in one token.
void Bpe::find_parts() {
    if (prefix_size_ > 0 || suffix_size_ > 0 || spec_->ignore_merges || !lengthens_) return;
    if (byte_fallback_)  // with some bytes missing characters can be lost or change places
        for (const TokenId id : byte_ids_)
            if (id < 0) return;
    const Vocabulary& vocab = spec_->vocab;
    // First and last character (byte) of every token.
    std::vector<std::pair<char32_t, char32_t>> ends(lengths_.size());
    for (std::size_t i = 0; i < vocab.size(); ++i) {
        const auto [token, id] = vocab.entry(i);
        if (token.empty()) continue;
        std::size_t last = token.size() - 1;
        while (last > 0 && is_continuation(token[last])) --last;
        ends[static_cast<std::size_t>(id)] = {read_char(token.data()).code,
                                              read_char(token.data() + last).code};
    }
    std::vector<bool> is_byte(byte_fallback_ ? lengths_.size() : 0);
    for (const TokenId id : byte_ids_)
        if (byte_fallback_) is_byte[static_cast<std::size_t>(id)] = true;
    for (const Merge& m : spec_->merges) {
        // Merges of the tokens for unknown text join what the characters do not show.
        const auto left = static_cast<std::size_t>(m.left),
                   right = static_cast<std::size_t>(m.right);
        if (m.left == unk_ || m.right == unk_) return;
        if (byte_fallback_ && (is_byte[left] || is_byte[right])) return;
        const char32_t a = ends[left].second, b = ends[right].first;
        if (bytes_) {
            const int x = char_to_byte(a), y = char_to_byte(b);
            if (x < 0 || y < 0) continue;
            const auto bit = static_cast<std::size_t>(x) * 256 + static_cast<std::size_t>(y);
            joined_bytes_[bit / 64] |= std::uint64_t{1} << (bit % 64);
        } else {
            joined_chars_.add(a, b);
        }
    }
    parts_ = true;
}

std::size_t Bpe::part_end(std::string_view text, std::size_t begin) const {
    if (!parts_) return text.size();
    if (bytes_) {
        for (std::size_t i = begin + 1; i < text.size(); ++i) {
            const std::size_t bit =
                static_cast<std::size_t>(static_cast<unsigned char>(text[i - 1])) * 256 +
                static_cast<unsigned char>(text[i]);
            if (!(joined_bytes_[bit / 64] >> (bit % 64) & 1)) return i;
        }
        return text.size();
    }
    const auto known = [&](std::size_t i, int size) {
        return spec_->vocab.contains(text.substr(i, static_cast<std::size_t>(size)));
    };
    // Runs of unknown characters become one token (fuse_unk), or vanish and let their neighbours
    // meet (no unk_token): no part ends at them then.
    const bool fuses = spec_->fuse_unk && unk_ >= 0;
    const bool loses = unk_ < 0 && !byte_fallback_;
    Utf8Char left = read_char(text.data() + begin);
    bool open = loses && !known(begin, left.size);
    std::size_t i = begin + static_cast<std::size_t>(left.size);
    while (i < text.size()) {
        const Utf8Char right = read_char(text.data() + i);
        const bool lost = loses && !known(i, right.size);
        if (!lost) {
            if (!open && !joined_chars_.contains(left.code, right.code) &&
                !(fuses && !known(i, right.size)))
                return i;
            left = right;
            open = false;
        }
        i += static_cast<std::size_t>(right.size);
    }
    return text.size();
}

// The symbols before any merge. False where some are not as long as their token: unknown
// characters and bytes that stand in for them.
bool Bpe::first_symbols(std::string_view word, BpeScratch& scratch) const {
    auto& symbols = scratch.symbols;
    symbols.clear();
    const auto add = [&](TokenId id, std::size_t length) {
        const auto n = static_cast<std::int32_t>(symbols.size());
        if (n > 0) symbols.back().next = n;
        symbols.push_back({id, static_cast<std::uint32_t>(length), n - 1, -1});
    };
    if (bytes_) {
        symbols.resize(word.size());
        const auto n = static_cast<std::int32_t>(word.size());
        for (std::int32_t i = 0; i < n; ++i)
            symbols[static_cast<std::size_t>(i)] = {
                byte_ids_[static_cast<unsigned char>(word[static_cast<std::size_t>(i)])], 1, i - 1,
                i + 1 < n ? i + 1 : -1};
        return true;
    }
    bool plain = spec_->vocab.unique_ids();
    std::size_t unknown = 0;  // bytes of unknown characters not yet made a symbol
    for (std::size_t i = 0; i < word.size();) {
        const auto size = static_cast<std::size_t>(utf8_size(word[i]));
        std::string_view piece = word.substr(i, size);
        const bool first = i == 0, last = i + size == word.size();
        if ((!first && prefix_size_ > 0) || (last && suffix_size_ > 0)) {
            scratch.key.clear();
            if (!first && prefix_size_ > 0) scratch.key += *spec_->continuing_subword_prefix;
            scratch.key += piece;
            if (last && suffix_size_ > 0) scratch.key += *spec_->end_of_word_suffix;
            piece = scratch.key;
        }
        i += size;
        const TokenId id = spec_->vocab.find(piece);
        if (id >= 0) {
            if (unknown > 0) add(unk_, std::exchange(unknown, 0));
            add(id, size);
            continue;
        }
        plain = false;
        if (byte_fallback_) {
            bool all = true;
            for (const char c : piece) all &= byte_ids_[static_cast<unsigned char>(c)] >= 0;
            if (all) {  // an unknown character before it stays behind, as in tokenizers
                for (const char c : piece) add(byte_ids_[static_cast<unsigned char>(c)], 1);
                continue;
            }
        }
        if (unk_ < 0) continue;  // no unk_token: the character is lost
        if (unknown > 0 && !spec_->fuse_unk) add(unk_, std::exchange(unknown, 0));
        unknown += size;
    }
    if (unknown > 0) add(unk_, unknown);
    return plain;
}

void Bpe::merge_short(BpeScratch& scratch) const {
    auto& symbols = scratch.symbols;
    auto& ranks = scratch.ranks;
    std::size_t n = symbols.size();
    ranks.resize(n);
    const auto rank_at = [&](std::size_t i) {
        const Slot* s = find_merge(symbols[i].id, symbols[i + 1].id);
        return s ? s->rank : no_rank;
    };
    for (std::size_t i = 0; i + 1 < n; ++i) ranks[i] = rank_at(i);
    while (n > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < n; ++i)
            if (ranks[i] < ranks[best]) best = i;
        if (ranks[best] == no_rank) break;
        symbols[best].id = spec_->merges[ranks[best]].merged;
        symbols[best].length += symbols[best + 1].length;
        --n;
        for (std::size_t i = best + 1; i < n; ++i) {
            symbols[i] = symbols[i + 1];
            ranks[i] = ranks[i + 1];
        }
        if (best + 1 < n) ranks[best] = rank_at(best);
        if (best > 0) ranks[best - 1] = rank_at(best - 1);
    }
    symbols.resize(n);
}

void Bpe::merge_long(BpeScratch& scratch, Rng* dropout) const {
    auto& symbols = scratch.symbols;
    auto& heap = scratch.heap;
    using Candidate = BpeScratch::Candidate;
    const auto later = [](const Candidate& a, const Candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
    };
    const auto at = [&](std::int32_t i) -> BpeScratch::Symbol& {
        return symbols[static_cast<std::size_t>(i)];
    };
    const auto propose = [&](std::int32_t left, std::int32_t right) {
        if (const Slot* s = find_merge(at(left).id, at(right).id)) {
            heap.push_back({s->rank, static_cast<std::uint32_t>(left), s->merged});
            return true;
        }
        return false;
    };
    heap.clear();
    scratch.skipped.clear();
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
        propose(static_cast<std::int32_t>(i), static_cast<std::int32_t>(i + 1));
    std::make_heap(heap.begin(), heap.end(), later);
    const auto push = [&](std::int32_t left, std::int32_t right) {
        if (propose(left, right)) std::push_heap(heap.begin(), heap.end(), later);
    };
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const Candidate top = heap.back();
        heap.pop_back();
        if (dropout && dropout->uniform() < static_cast<double>(*spec_->dropout)) {
            scratch.skipped.push_back(top);
            continue;
        }
        for (const Candidate& c : scratch.skipped) {
            heap.push_back(c);
            std::push_heap(heap.begin(), heap.end(), later);
        }
        scratch.skipped.clear();
        const auto position = static_cast<std::int32_t>(top.position);
        BpeScratch::Symbol& left = at(position);
        if (left.length == 0 || left.next < 0) continue;  // stale
        BpeScratch::Symbol& right = at(left.next);
        const Slot* s = find_merge(left.id, right.id);
        if (!s || s->merged != top.merged) continue;  // stale
        left.id = top.merged;
        left.length += right.length;
        left.next = right.next;
        right.length = 0;
        if (left.next >= 0) at(left.next).prev = position;
        if (left.prev >= 0) push(left.prev, position);
        if (left.next >= 0) push(position, left.next);
    }
    symbols.erase(std::remove_if(symbols.begin(), symbols.end(),
                                 [](const BpeScratch::Symbol& s) { return s.length == 0; }),
                  symbols.end());
}

void Bpe::encode(std::string_view word, WordTokens& out, BpeScratch& scratch, Rng* dropout) const {
    out.clear();
    if (dropout && (!spec_->dropout || *spec_->dropout <= 0)) dropout = nullptr;
    if (spec_->ignore_merges) {
        const TokenId id = bytes_ ? raw_.find(word) : spec_->vocab.find(word);
        if (id >= 0) {
            out.ids.push_back(id);
            if (!spec_->vocab.unique_ids() || suffix_size_ > 0)
                out.ranges.push_back({0, static_cast<std::uint32_t>(word.size())});
            return;
        }
    }
    const bool plain = first_symbols(word, scratch);
    if (!dropout && lengthens_ && scratch.symbols.size() <= short_word)
        merge_short(scratch);
    else
        merge_long(scratch, dropout);
    std::uint32_t begin = 0;
    for (const BpeScratch::Symbol& s : scratch.symbols) {
        out.ids.push_back(s.id);
        if (!plain) out.ranges.push_back({begin, begin + s.length});
        begin += s.length;
    }
}

}  // namespace fovea::text
