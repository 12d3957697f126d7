#include "fovea/text/train/train_word_counts.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/text/hash.h"

namespace fovea {

WordCounts::WordCounts(std::int64_t memory_limit, TrainingCost cost)
    : limit_(std::max(memory_limit, least_limit)), cost_(cost) {
    rebuild_table(64);
}

std::size_t WordCounts::slot(std::string_view w, std::uint32_t hash) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash & mask;
    for (;; at = (at + 1) & mask) {
        const std::uint32_t entry = table_[at];
        if (entry == 0) return at;
        const Word& known = words_[entry - 1];
        if (known.hash == hash && known.length == w.size() &&
            std::memcmp(text_.data() + known.begin, w.data(), w.size()) == 0)
            return at;
    }
}

void WordCounts::add(std::string_view w, std::int64_t count) {
    expect(w.size() < (std::size_t{1} << 32), "word counts: a word of ", w.size(), " bytes");
    total_ += count;
    const std::uint32_t hash = hash_bytes(w);
    std::size_t at = slot(w, hash);
    if (table_[at] != 0) {
        words_[table_[at] - 1].count += count;
        return;
    }
    // The memory after this word, with the table at most half full and vectors that double.
    const auto grown = [](std::size_t need, std::size_t have) {
        return need <= have ? have : std::max(need, 2 * have);
    };
    const std::size_t text = grown(text_.size() + w.size(), text_.capacity());
    const std::size_t words = grown(words_.size() + 1, words_.capacity());
    const std::size_t slots = table_.size() * (2 * (words_.size() + 1) > table_.size() ? 2 : 1);
    const std::size_t bytes = text + words * sizeof(Word) + slots * sizeof(std::uint32_t);
    const std::int64_t needed =
        static_cast<std::int64_t>(bytes) + cost_of(words_.size() + 1, text_.size() + w.size());
    if (needed > limit_ && !words_.empty()) {
        drop_rare();
        at = slot(w, hash);
    } else if (slots != table_.size()) {
        rebuild_table(slots);
        at = slot(w, hash);
    }
    expect(words_.size() < 0xFFFFFFFEu, "word counts: more than 2^32 different words");
    words_.push_back({text_.size(), count, static_cast<std::uint32_t>(w.size()), hash});
    text_.insert(text_.end(), w.begin(), w.end());
    table_[at] = static_cast<std::uint32_t>(words_.size());
}

void WordCounts::add(const WordCounts& other) {
    for (std::size_t i = 0; i < other.size(); ++i) add(other.word(i), other.count(i));
    total_ += other.total_;
    for (std::size_t i = 0; i < other.size(); ++i) total_ -= other.count(i);
    undercount_ += other.undercount_;
    dropped_ += other.dropped_;
}

std::int64_t WordCounts::find(std::string_view w) const {
    const std::uint32_t entry = table_[slot(w, hash_bytes(w))];
    return entry == 0 ? 0 : words_[entry - 1].count;
}

std::int64_t WordCounts::cost_of(std::size_t words, std::size_t bytes) const {
    return cost_.per_word * static_cast<std::int64_t>(words) +
           cost_.per_byte * static_cast<std::int64_t>(bytes);
}

std::int64_t WordCounts::memory() const {
    return cost_of(words_.size(), text_.size()) +
           static_cast<std::int64_t>(text_.capacity() + words_.capacity() * sizeof(Word) +
                                     table_.capacity() * sizeof(std::uint32_t));
}

void WordCounts::clear() {
    text_.clear();
    words_.clear();
    std::fill(table_.begin(), table_.end(), 0u);
    total_ = undercount_ = dropped_ = 0;
}

void WordCounts::rebuild_table(std::size_t slots) {
    table_.assign(slots, 0);
    const std::size_t mask = slots - 1;
    for (std::size_t i = 0; i < words_.size(); ++i) {
        std::size_t at = words_[i].hash & mask;
        while (table_[at] != 0) at = (at + 1) & mask;
        table_[at] = static_cast<std::uint32_t>(i + 1);
    }
}

void WordCounts::drop_rare() {
    // The least t that leaves at most half of the words and at most half of the text.
    std::vector<std::uint32_t> order(words_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return words_[a].count > words_[b].count; });
    std::size_t kept = 0, text = 0;
    for (; kept < order.size() / 2; ++kept) {
        text += words_[order[kept]].length;
        if (text > text_.size() / 2) break;
    }
    const std::int64_t t = words_[order[kept]].count;
    std::vector<std::uint32_t>().swap(order);

    std::size_t out = 0, end = 0;
    for (Word& w : words_) {  // in place: words and text only move towards the front
        if (w.count <= t) continue;
        std::memmove(text_.data() + end, text_.data() + w.begin, w.length);
        w.begin = end;
        end += w.length;
        words_[out++] = w;
    }
    dropped_ += static_cast<std::int64_t>(words_.size() - out);
    undercount_ += t;
    words_.resize(out);
    text_.resize(end);
    rebuild_table(table_.size());
}

}  // namespace fovea
