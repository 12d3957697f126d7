#pragma once
// How often each word of a corpus occurs, in bounded memory.
//
// The rule of the bound: when the table outgrows its limit, the least count t is found such that
// dropping every word counted at most t times leaves the table at most half full; those words are
// dropped, and forgotten (Manku & Motwani 2002, "Approximate frequency counts", in its simplest
// form). A word dropped and seen again starts from zero. So every count is at most its true value
// and at least the true value minus undercount(), the sum of all t so far. Where the table never
// outgrew its limit (undercount() == 0), the counts are exact.
//
// The same words in the same order give the same table whatever the threads.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// What a trainer needs for every word it is given, besides the table: counted into its limit.
struct TrainingCost {
    std::int64_t per_word = 0, per_byte = 0;
};

class WordCounts {
public:
    static constexpr std::int64_t no_limit = std::int64_t{1} << 62;
    static constexpr std::int64_t least_limit = 4096;  // smaller limits count as this

    // memory_limit: bytes of the table, of the words' text in it, and of what training will cost.
    explicit WordCounts(std::int64_t memory_limit = no_limit, TrainingCost cost = {});

    void add(std::string_view word, std::int64_t count = 1);
    void add(const WordCounts& other);  // in other's order

    std::size_t size() const { return words_.size(); }  // different words
    std::string_view word(std::size_t i) const {
        return {text_.data() + words_[i].begin, words_[i].length};
    }
    std::int64_t count(std::size_t i) const { return words_[i].count; }
    std::int64_t find(std::string_view word) const;  // its count; 0 where it is not there
    std::int64_t total() const { return total_; }    // words seen, dropped ones too

    std::int64_t undercount() const { return undercount_; }
    std::int64_t dropped() const { return dropped_; }  // words dropped (a word may be so twice)
    std::int64_t memory() const;  // bytes in use, and those that training will cost
    void clear();                 // keeps the memory for the next words

private:
    struct Word {
        std::uint64_t begin;
        std::int64_t count;
        std::uint32_t length, hash;
    };
    std::vector<char> text_;
    std::vector<Word> words_;           // in the order of their first sight
    std::vector<std::uint32_t> table_;  // index + 1 into words_; 0 = free
    std::int64_t limit_;
    TrainingCost cost_;
    std::int64_t total_ = 0, undercount_ = 0, dropped_ = 0;

    std::size_t slot(std::string_view word, std::uint32_t hash) const;
    std::int64_t cost_of(std::size_t words, std::size_t bytes) const;
    void rebuild_table(std::size_t slots);
    void drop_rare();
};

}  // namespace fovea
