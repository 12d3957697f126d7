#include "fovea/text/spm/sentencepiece_charsmap.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "fovea/base/error.h"

namespace fovea {

namespace {

// One unit of a darts-clone double array (Susumu Yata): bit 31 marks a leaf, whose other bits are
// its value; else bits 0-7 hold the label, bit 8 says that a leaf follows, and bits 9-30 hold the
// offset to the children (shifted by 8 more where bit 9 is set).
constexpr std::uint32_t leaf_mark = 1u << 31;
constexpr std::uint32_t has_leaf = 1u << 8;
constexpr std::uint32_t label_bits = leaf_mark | 0xFFu;
constexpr std::size_t offset_of(std::uint32_t unit) {
    return std::size_t{unit >> 10} << ((unit & (1u << 9)) >> 6);
}

std::uint32_t load_u32(const char* p) {
    std::uint32_t v = 0;
    std::memcpy(&v, p, 4);
    return v;
}

}  // namespace

SentencePieceCharsmap::SentencePieceCharsmap(std::string_view blob, const std::string& where) {
    if (blob.empty()) return;
    expect_input(blob.size() >= 4, where, ": charsmap: ", blob.size(),
                 " bytes cannot hold the size of its trie");
    const std::size_t trie = load_u32(blob.data());
    const std::size_t rest = blob.size() - 4;
    expect_input(trie <= rest, where, ": charsmap: the trie claims ", trie, " bytes but ", rest,
                 " are there");
    expect_input(trie >= 4 && trie % 4 == 0, where, ": charsmap: a trie of ", trie,
                 " bytes is not a whole number of units");
    units_.resize(trie / 4);
    std::memcpy(units_.data(), blob.data() + 4, trie);
    replacements_ = blob.substr(4 + trie);
    expect_input(!replacements_.empty() && replacements_.back() == '\0', where,
                 ": charsmap: the replacements do not end with NUL");
    for (std::size_t i = 0; i < units_.size(); ++i) {
        const std::uint32_t unit = units_[i];
        if ((unit & leaf_mark) || !(unit & has_leaf)) continue;
        const std::size_t leaf = i ^ offset_of(unit);
        expect_input(leaf < units_.size(), where, ": charsmap: unit ", i, " points to unit ", leaf,
                     " of ", units_.size());
        const std::size_t value = units_[leaf] & ~leaf_mark;
        expect_input(value < replacements_.size(), where, ": charsmap: unit ", i,
                     " points to byte ", value, " of ", replacements_.size(),
                     " bytes of replacements");
    }
}

template <bool first_only>
SentencePieceCharsmap::Match SentencePieceCharsmap::find(std::string_view text) const {
    Match best;
    if (units_.empty()) return best;
    std::size_t node = offset_of(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        node ^= byte;
        if (node >= units_.size()) break;
        const std::uint32_t unit = units_[node];
        if ((unit & label_bits) != byte) break;
        node ^= offset_of(unit);
        if (unit & has_leaf) {  // in range: checked when the map was made
            best.length = i + 1;
            best.replacement = replacements_.c_str() + (units_[node] & ~leaf_mark);
            if constexpr (first_only) break;
        }
    }
    return best;
}

bool SentencePieceCharsmap::starts_key(std::string_view prefix) const {
    if (units_.empty()) return false;
    std::size_t node = offset_of(units_[0]);
    for (const char c : prefix) {
        const auto byte = static_cast<unsigned char>(c);
        node ^= byte;
        if (node >= units_.size() || (units_[node] & label_bits) != byte) return false;
        node ^= offset_of(units_[node]);
    }
    return true;
}

SentencePieceCharsmap::Match SentencePieceCharsmap::longest(std::string_view text) const {
    return find<false>(text);
}
SentencePieceCharsmap::Match SentencePieceCharsmap::shortest(std::string_view text) const {
    return find<true>(text);
}

namespace {

// Places each trie node's children at node ^ offset ^ label: for each node in breadth-first order
// the first offset whose slots are all free. Offsets below 2^21 are stored as they are, larger ones
// in steps of 256 (darts-clone's two forms).
class DoubleArrayBuilder {
public:
    using Entry = std::pair<std::string, std::uint32_t>;  // key, value

    explicit DoubleArrayBuilder(const std::vector<Entry>& sorted) : entries_(sorted) {
        grow(256);
        used_[0] = base_taken_[0] = true;  // at base 0 a NUL would lead from the root to itself
        units_[0] = 0;
        place(0, 0, entries_.size(), 0);
    }
    std::vector<std::uint32_t> take() { return std::move(units_); }

private:
    struct Child {
        int label;  // -1: the key ends here
        std::size_t begin, end;
    };

    // The node's keys are entries [begin, end), equal in their first `depth` bytes.
    void place(std::size_t node, std::size_t begin, std::size_t end, std::size_t depth) {
        std::vector<Child> children;
        for (std::size_t i = begin; i < end; ++i) {
            const std::string& key = entries_[i].first;
            const int label = key.size() == depth ? -1 : static_cast<unsigned char>(key[depth]);
            if (children.empty() || children.back().label != label)
                children.push_back({label, i, i});
            children.back().end = i + 1;
        }
        const std::size_t base = find_base(node, children);
        const std::size_t offset = node ^ base;
        units_[node] |= offset < (1u << 21) ? static_cast<std::uint32_t>(offset << 10)
                                            : static_cast<std::uint32_t>(offset << 2) | 1u << 9;
        for (const Child& c : children) {
            const std::size_t slot = base ^ static_cast<std::size_t>(std::max(c.label, 0));
            used_[slot] = true;
            if (c.label < 0) {
                units_[node] |= has_leaf;
                units_[slot] = entries_[c.begin].second | leaf_mark;
            } else {
                units_[slot] = static_cast<std::uint32_t>(c.label);
            }
        }
        for (const Child& c : children) {
            if (c.label >= 0) {
                place(base ^ static_cast<std::size_t>(c.label), c.begin, c.end, depth + 1);
            }
        }
    }

    std::size_t find_base(std::size_t node, const std::vector<Child>& children) {
        const int first = std::max(children.front().label, 0);
        while (first_free_ < used_.size() && used_[first_free_]) ++first_free_;
        for (std::size_t slot = first_free_;; ++slot) {
            if (slot >= used_.size()) grow(used_.size() + 256);
            if (used_[slot]) continue;
            const std::size_t base = slot ^ static_cast<std::size_t>(first);
            const std::size_t offset = node ^ base;
            if (offset >= (1u << 21) && (offset & 0xFF) != 0) continue;
            expect(offset < (std::size_t{1} << 29),
                   "charsmap: too many entries for a double array");
            const bool fits = std::all_of(children.begin(), children.end(), [&](const Child& c) {
                return !used_[base ^ static_cast<std::size_t>(std::max(c.label, 0))];
            });
            // A base in use by another node would give both the same children.
            if (fits && !base_taken_[base]) {
                base_taken_[base] = true;
                return base;
            }
        }
    }

    // Free units look like leaves: no byte leads to them, so none is taken for a child.
    void grow(std::size_t n) {
        units_.resize(n, leaf_mark);
        used_.resize(n, false);
        base_taken_.resize(n, false);
    }

    const std::vector<Entry>& entries_;
    std::vector<std::uint32_t> units_;
    std::vector<bool> used_, base_taken_;
    std::size_t first_free_ = 1;
};

}  // namespace

std::string build_charsmap(std::vector<std::pair<std::string, std::string>> entries) {
    if (entries.empty()) return {};
    std::sort(entries.begin(), entries.end());
    std::string replacements;
    std::map<std::string, std::uint32_t> where;
    std::vector<DoubleArrayBuilder::Entry> keys;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& [key, value] = entries[i];
        expect(!key.empty() && key.find('\0') == std::string::npos &&
                   value.find('\0') == std::string::npos,
               "charsmap: a key is empty or an entry holds NUL");
        expect(i == 0 || key != entries[i - 1].first, "charsmap: the key \"", key,
               "\" is there twice");
        const auto [it, is_new] =
            where.emplace(value, static_cast<std::uint32_t>(replacements.size()));
        if (is_new) replacements.append(value).push_back('\0');
        keys.emplace_back(key, it->second);
    }
    const std::vector<std::uint32_t> units = DoubleArrayBuilder(keys).take();
    std::string blob(4 + units.size() * 4, '\0');
    const auto bytes = static_cast<std::uint32_t>(units.size() * 4);
    std::memcpy(blob.data(), &bytes, 4);
    std::memcpy(blob.data() + 4, units.data(), bytes);
    return blob + replacements;
}

}  // namespace fovea
