#include "fovea/text/train/train_bpe.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/train/train_characters.h"

namespace fovea {

namespace {

using PairKey = std::uint64_t;  // left symbol above, right symbol below: ordered as the pair is
constexpr PairKey key_of(TokenId left, TokenId right) {
    return static_cast<PairKey>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
}

// Pair -> its number, in the order of first sight. Open addressing, since this is the inner loop.
class PairNumbers {
public:
    PairNumbers() : slots_(1 << 12) {}

    std::uint32_t operator()(PairKey key) {
        std::size_t at = home(key);
        for (; slots_[at].number != 0; at = (at + 1) & (slots_.size() - 1))
            if (slots_[at].key == key) return slots_[at].number - 1;
        slots_[at] = {key, ++size_};
        if (2 * std::size_t{size_} > slots_.size()) grow();
        return size_ - 1;
    }

private:
    struct Slot {
        PairKey key;
        std::uint32_t number;  // + 1; 0 = free
    };
    std::size_t home(PairKey key) const {
        key *= 0x9E3779B97F4A7C15u;
        return (key ^ key >> 32) & (slots_.size() - 1);
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& s : old) {
            if (s.number == 0) continue;
            std::size_t at = home(s.key);
            while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = s;
        }
    }
    std::vector<Slot> slots_;
    std::uint32_t size_ = 0;
};

// Every word as a run of symbols in one array; a merge shortens its run in place.
struct SymbolRuns {
    std::vector<TokenId> symbols;
    std::vector<std::size_t> begin;
    std::vector<std::uint32_t> length;
    std::vector<std::int64_t> count;
};

class BpeTrainer {
public:
    explicit BpeTrainer(const BpeTraining& options) : options_(options) {}

    TrainedBpe train(const WordCounts& words) {
        for (const std::string& s : options_.special_tokens) add_token(s);
        spell(words, choose_alphabet(words, options_.initial_alphabet, options_.limit_alphabet));
        count_pairs();
        merge_all();
        return finish();
    }

private:
    // Positions of a pair lie in positions_[begin, end): numbers of words that held it when the
    // entry was made. Some may hold it no more.
    struct QueueEntry {
        std::int64_t count;
        PairKey pair;
        std::uint32_t number;
        std::size_t begin, end;
        bool operator<(const QueueEntry& other) const {  // the heap's top is the largest
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };
    // While positions are gathered: how many, and the last word, since a word counts once.
    struct Gathering {
        std::uint64_t round = 0;
        std::size_t positions = 0;
        std::uint32_t last_word = 0;
    };
    struct Occurrence {
        std::uint32_t number, word;
    };

    TokenId add_token(const std::string& token) {
        const auto [it, is_new] = ids_.emplace(token, static_cast<TokenId>(vocab_.size()));
        if (is_new) {
            vocab_.push_back(token);
            characters_.push_back(1);
        }
        return it->second;
    }

    // Gives every character its id, and writes the words in ids. Characters outside the alphabet
    // vanish, as in `tokenizers`.
    void spell(const WordCounts& words, const std::vector<std::uint32_t>& alphabet) {
        for (const std::uint32_t c : alphabet) add_token(encode_utf8(c));
        // A character has up to four forms: with or without prefix, with or without suffix.
        const bool prefixes = !options_.continuing_subword_prefix.empty();
        const bool suffixes = !options_.end_of_word_suffix.empty();
        std::vector<TokenId> id_of_form(std::size_t{0x110000} * (prefixes || suffixes ? 4 : 1), -1);
        const auto form = [&](std::uint32_t c, bool first, bool last) {
            if (!prefixes && !suffixes) return std::size_t{c};
            return std::size_t{c} * 4 + (prefixes && !first) * 2 + (suffixes && last);
        };
        std::vector<char> allowed(0x110000, 0);
        for (const std::uint32_t c : alphabet) allowed[c] = 1;
        for (const std::string& s :
             options_.special_tokens) {  // a special token may be one character
            std::size_t at = 0;
            if (s.empty()) continue;
            const std::uint32_t c = next_code_point(s, at);
            if (at == s.size()) allowed[c] = 1;
        }
        const auto each_character = [&](std::string_view w, auto&& visit) {
            for (std::size_t at = 0; at < w.size();) {
                const bool first = at == 0;
                const std::uint32_t c = next_code_point(w, at);
                if (allowed[c]) visit(c, form(c, first, at == w.size()));
            }
        };
        std::vector<std::size_t> seen;
        std::size_t total = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
            each_character(words.word(i), [&](std::uint32_t, std::size_t f) {
                ++total;
                if (id_of_form[f] >= 0) return;
                id_of_form[f] = 0;
                seen.push_back(f);
            });
        }
        std::sort(seen.begin(), seen.end());
        for (const std::size_t f : seen) {
            const bool variants = prefixes || suffixes;
            std::string s = encode_utf8(static_cast<std::uint32_t>(variants ? f / 4 : f));
            if (variants && f & 2) s = options_.continuing_subword_prefix + s;
            if (variants && f & 1) s += options_.end_of_word_suffix;
            id_of_form[f] = add_token(s);
        }
        runs_.symbols.reserve(total);
        runs_.begin.reserve(words.size());
        runs_.length.reserve(words.size());
        runs_.count.reserve(words.size());
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::size_t begin = runs_.symbols.size();
            each_character(words.word(i), [&](std::uint32_t, std::size_t f) {
                runs_.symbols.push_back(id_of_form[f]);
            });
            const std::size_t length = runs_.symbols.size() - begin;
            if (length < 2) {  // has no pair and never will
                runs_.symbols.resize(begin);
                continue;
            }
            runs_.begin.push_back(begin);
            runs_.length.push_back(static_cast<std::uint32_t>(length));
            runs_.count.push_back(words.count(i));
        }
    }

    std::uint32_t number_of(PairKey pair) {
        const std::uint32_t n = numbers_(pair);
        if (n == counts_.size()) {
            counts_.push_back(0);
            pairs_.push_back(pair);
            gathering_.emplace_back();
        }
        return n;
    }

    void note(std::uint32_t number, std::uint32_t word) {
        Gathering& g = gathering_[number];
        if (g.round == round_ && g.last_word == word) return;
        if (g.round != round_) g = {round_, 0, word};
        g.last_word = word;
        ++g.positions;
        found_.push_back({number, word});
    }

    // Groups what note() gathered by pair and puts every pair in the queue.
    void enqueue_found() {
        const std::size_t old = queue_.size();
        std::size_t end = positions_.size();
        positions_.resize(end + found_.size());
        for (const Occurrence& o : found_) {
            Gathering& g = gathering_[o.number];
            if (g.round == round_) {  // the first of this pair: reserve its place
                queue_.push_back(
                    {counts_[o.number], pairs_[o.number], o.number, end, end + g.positions});
                g.round = 0;
                const std::size_t size = g.positions;
                g.positions = end;  // from here on: where the next position goes
                end += size;
            }
            positions_[g.positions++] = o.word;
        }
        found_.clear();
        std::size_t kept = old;
        for (std::size_t i = old; i < queue_.size(); ++i)
            if (queue_[i].count > 0) queue_[kept++] = queue_[i];
        queue_.resize(kept);
        ++round_;
    }

    void count_pairs() {
        found_.reserve(runs_.symbols.size());
        for (std::size_t w = 0; w < runs_.begin.size(); ++w) {
            const TokenId* s = runs_.symbols.data() + runs_.begin[w];
            for (std::uint32_t i = 0; i + 1 < runs_.length[w]; ++i) {
                const std::uint32_t n = number_of(key_of(s[i], s[i + 1]));
                counts_[n] += runs_.count[w];
                note(n, static_cast<std::uint32_t>(w));
            }
        }
        enqueue_found();
        found_.shrink_to_fit();
        std::make_heap(queue_.begin(), queue_.end());
    }

    void merge_all() {
        const std::int64_t first = static_cast<std::int64_t>(vocab_.size());
        while (static_cast<std::int64_t>(vocab_.size()) < options_.vocab_size && !queue_.empty()) {
            std::pop_heap(queue_.begin(), queue_.end());
            QueueEntry& top = queue_.back();
            if (top.count !=
                counts_[top.number]) {  // counted long ago: put back with today's count
                top.count = counts_[top.number];
                std::push_heap(queue_.begin(), queue_.end());
                continue;
            }
            if (top.count < 1 || top.count < options_.min_frequency) break;
            const QueueEntry entry = top;
            queue_.pop_back();
            merge(entry);
            if (options_.progress && merges_.size() % 64 == 0) {
                options_.progress({"merging", static_cast<std::int64_t>(vocab_.size()) - first,
                                   options_.vocab_size - first, "merges"});
            }
        }
    }

    void merge(const QueueEntry& entry) {
        const auto left = static_cast<TokenId>(entry.pair >> 32);
        const auto right = static_cast<TokenId>(entry.pair & 0xFFFFFFFFu);
        std::string_view tail = vocab_[static_cast<std::size_t>(right)];
        const std::string& prefix = options_.continuing_subword_prefix;
        if (!prefix.empty() && tail.substr(0, prefix.size()) == prefix)
            tail.remove_prefix(prefix.size());
        const TokenId made = add_token(vocab_[static_cast<std::size_t>(left)] + std::string(tail));
        const std::int64_t length = characters_[static_cast<std::size_t>(left)] +
                                    characters_[static_cast<std::size_t>(right)];
        characters_[static_cast<std::size_t>(made)] = length;
        merges_.push_back({left, right, made});

        for (std::size_t p = entry.begin; p < entry.end; ++p)
            merge_in_word(positions_[p], left, right, made);
        const std::size_t old = queue_.size();
        enqueue_found();
        for (std::size_t i = old + 1; i <= queue_.size(); ++i)
            std::push_heap(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    void merge_in_word(std::uint32_t word, TokenId left, TokenId right, TokenId made) {
        TokenId* s = runs_.symbols.data() + runs_.begin[word];
        const std::uint32_t n = runs_.length[word];
        const std::int64_t count = runs_.count[word];
        const std::int64_t made_length = characters_[static_cast<std::size_t>(made)];
        // tokenizers wants the sum strictly below its max_token_length; so do we.
        const auto may_join = [&](TokenId other) {
            return options_.max_token_length == 0 ||
                   characters_[static_cast<std::size_t>(other)] + made_length <
                       options_.max_token_length;
        };
        std::uint32_t out = 0;
        for (std::uint32_t i = 0; i < n; ++i, ++out) {
            if (s[i] != left || i + 1 == n || s[i + 1] != right) {
                s[out] = s[i];
                continue;
            }
            if (out > 0) {
                counts_[number_of(key_of(s[out - 1], left))] -= count;
                if (may_join(s[out - 1])) add_occurrence(s[out - 1], made, word, count);
            }
            if (i + 2 < n) {
                counts_[number_of(key_of(right, s[i + 2]))] -= count;
                if (may_join(s[i + 2])) add_occurrence(made, s[i + 2], word, count);
            }
            s[out] = made;
            ++i;
        }
        runs_.length[word] = out;
    }

    void add_occurrence(TokenId left, TokenId right, std::uint32_t word, std::int64_t count) {
        const std::uint32_t n = number_of(key_of(left, right));
        counts_[n] += count;
        note(n, word);
    }

    // Two merges may make the same token, and then a pair can be merged twice; its last turn
    // counts.
    TrainedBpe finish() {
        std::unordered_map<PairKey, std::size_t> last;
        for (std::size_t i = 0; i < merges_.size(); ++i)
            last[key_of(merges_[i].left, merges_[i].right)] = i;
        TrainedBpe result{std::move(vocab_), {}};
        for (std::size_t i = 0; i < merges_.size(); ++i)
            if (last[key_of(merges_[i].left, merges_[i].right)] == i)
                result.merges.push_back(merges_[i]);
        return result;
    }

    const BpeTraining& options_;
    std::vector<std::string> vocab_;
    std::unordered_map<std::string, TokenId> ids_;
    std::vector<std::int64_t> characters_;  // of each token
    SymbolRuns runs_;
    PairNumbers numbers_;
    std::vector<std::int64_t> counts_;  // by the pair's number
    std::vector<PairKey> pairs_;        // by their number
    std::vector<Gathering> gathering_;
    std::uint64_t round_ = 1;
    std::vector<Occurrence> found_;
    std::vector<std::uint32_t> positions_;
    std::vector<QueueEntry> queue_;
    std::vector<Merge> merges_;
};

}  // namespace

TrainedBpe train_bpe(const WordCounts& words, const BpeTraining& options) {
    expect(options.vocab_size >= 1, "bpe training: a vocabulary of ", options.vocab_size,
           " tokens is none");
    expect(words.size() < 0xFFFFFFFFu, "bpe training: too many different words");
    return BpeTrainer(options).train(words);
}

}  // namespace fovea
