#include "fovea/text/train/train_unigram_text.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/train/train_characters.h"

namespace fovea {

UnigramText::UnigramText(const WordCounts& words, std::vector<std::uint32_t> code_points)
    : alphabet(std::move(code_points)) {
    std::vector<Symbol> symbol_of(0x110000, 0);
    for (std::size_t i = 0; i < alphabet.size(); ++i)
        symbol_of[alphabet[i]] = static_cast<Symbol>(i + 1);
    begin.push_back(0);
    const auto end_word = [&](std::int64_t count) {
        if (symbols.size() == begin.back()) return;
        begin.push_back(symbols.size());
        counts.push_back(count);
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view w = words.word(i);
        for (std::size_t at = 0; at < w.size();) {
            const Symbol s = symbol_of[next_code_point(w, at)];
            if (s != 0)
                symbols.push_back(s);
            else
                end_word(words.count(i));
        }
        end_word(words.count(i));
    }
}

std::string UnigramText::spelled(std::span<const Symbol> piece) const {
    std::string s;
    for (const Symbol c : piece) s += encode_utf8(alphabet[c - 1]);
    return s;
}

namespace {

struct Suffix {
    std::uint64_t key;  // the next three symbols, 21 bits each; 0 past the word's end
    std::uint32_t at;
    std::uint32_t word;
};

constexpr std::size_t key_symbols = 3;

// Sorts all suffixes of all words by their first max_length symbols: by three symbols, then every
// group of equals by the next three, and so on.
class SuffixSorter {
public:
    SuffixSorter(const UnigramText& text, std::size_t max_length)
        : text_(text), max_length_(max_length) {
        expect(text.symbols.size() < 0xFFFFFFFFu, "unigram training: more than 2^32 characters");
        suffixes_.resize(text.symbols.size());
        for (std::size_t w = 0, i = 0; w < text.words(); ++w)
            for (; i < text.begin[w + 1]; ++i)
                suffixes_[i] = {0, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(w)};
        std::vector<Range> open = {{0, suffixes_.size(), 0}};
        while (!open.empty()) {
            const Range r = open.back();
            open.pop_back();
            sort_range(r);
            for (std::size_t i = r.begin; i < r.end;) {
                std::size_t j = i + 1;
                while (j < r.end && suffixes_[j].key == suffixes_[i].key) ++j;
                const bool ended = (suffixes_[i].key & 0x1FFFFF) == 0;
                if (j - i > 1 && !ended && r.depth + key_symbols < max_length_)
                    open.push_back({i, j, r.depth + key_symbols});
                i = j;
            }
        }
    }
    std::vector<Suffix> take() { return std::move(suffixes_); }

private:
    struct Range {
        std::size_t begin, end, depth;
    };
    void sort_range(const Range& r) {
        for (std::size_t i = r.begin; i < r.end; ++i) {
            Suffix& s = suffixes_[i];
            s.key = 0;
            const std::size_t end =
                std::min(text_.begin[s.word + 1], std::size_t{s.at} + max_length_);
            for (std::size_t k = 0; k < key_symbols; ++k) {
                const std::size_t at = s.at + r.depth + k;
                s.key = s.key << 21 | (at < end ? text_.symbols[at] : 0);
            }
        }
        std::sort(suffixes_.begin() + static_cast<std::ptrdiff_t>(r.begin),
                  suffixes_.begin() + static_cast<std::ptrdiff_t>(r.end),
                  [](const Suffix& a, const Suffix& b) {
                      return a.key != b.key ? a.key < b.key : a.at < b.at;
                  });
    }

    const UnigramText& text_;
    std::size_t max_length_;
    std::vector<Suffix> suffixes_;
};

}  // namespace

std::vector<SeedPiece> find_seeds(const UnigramText& text, std::size_t max_length,
                                  std::size_t limit) {
    const std::vector<Suffix> suffixes = SuffixSorter(text, max_length).take();
    const auto length_of = [&](const Suffix& s) {
        return std::min(text.begin[s.word + 1] - s.at, max_length);
    };
    // Symbols that neighbours in the order share.
    const auto shared = [&](std::size_t i) -> std::size_t {
        if (i == 0 || i >= suffixes.size()) return 0;
        const std::size_t most = std::min(length_of(suffixes[i - 1]), length_of(suffixes[i]));
        const Symbol* a = text.symbols.data() + suffixes[i - 1].at;
        const Symbol* b = text.symbols.data() + suffixes[i].at;
        std::size_t n = 0;
        while (n < most && a[n] == b[n]) ++n;
        return n;
    };
    std::vector<SeedPiece> seeds;
    const auto offer = [&](const Suffix& s, std::size_t length, std::int64_t count) {
        if (length < 2 || count < 2) return;
        seeds.push_back({s.at, static_cast<std::uint32_t>(length),
                         static_cast<double>(count) * static_cast<double>(length)});
    };
    // The intervals of suffixes that share their first `length` symbols, by a stack over the
    // neighbours' shared lengths (Abouelhoda et al. 2004, "Replacing suffix trees", algorithm 4.1).
    struct Open {
        std::size_t length, first;
        std::int64_t counted_before;
    };
    std::vector<Open> open;
    std::int64_t counted = 0;  // occurrences of the suffixes so far
    for (std::size_t i = 0, before = 0; i < suffixes.size(); ++i) {
        const std::size_t after = shared(i + 1);
        const std::int64_t count = text.counts[suffixes[i].word];
        const std::size_t own = length_of(suffixes[i]);
        if (own > std::max(before, after)) offer(suffixes[i], own, count);  // a leaf of its own
        Open next{after, i, counted};
        counted += count;
        while (!open.empty() && open.back().length > after) {
            const Open& done = open.back();
            offer(suffixes[done.first], done.length, counted - done.counted_before);
            next = {after, done.first, done.counted_before};
            open.pop_back();
        }
        if (after > 0 && (open.empty() || open.back().length < after)) open.push_back(next);
        before = after;
    }
    std::sort(seeds.begin(), seeds.end(), [&](const SeedPiece& a, const SeedPiece& b) {
        if (a.weight != b.weight) return a.weight > b.weight;
        return std::lexicographical_compare(
            text.symbols.begin() + static_cast<std::ptrdiff_t>(a.at),
            text.symbols.begin() + static_cast<std::ptrdiff_t>(a.at + a.length),
            text.symbols.begin() + static_cast<std::ptrdiff_t>(b.at),
            text.symbols.begin() + static_cast<std::ptrdiff_t>(b.at + b.length));
    });
    if (seeds.size() > limit) seeds.resize(limit);
    return seeds;
}

}  // namespace fovea
