#include "fovea/text/steps/added_tokens.h"

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/text/hash.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

std::uint64_t edge_key(std::int32_t node, unsigned char c) {
    return (std::uint64_t{static_cast<std::uint32_t>(node)} << 8 | c) + 1;
}
}  // namespace

StringFinder::StringFinder(const std::vector<std::string>& strings) : nodes_(1) {
    std::size_t bytes = 16;
    for (const std::string& s : strings) bytes += s.size();
    std::size_t capacity = 64;
    while (capacity < 2 * bytes) capacity *= 2;
    edges_.assign(capacity, {0, 0});
    std::vector<std::pair<std::int32_t, unsigned char>> by_node{{0, 0}};  // parent and byte
    for (std::size_t i = 0; i < strings.size(); ++i) {
        lengths_.push_back(static_cast<std::uint32_t>(strings[i].size()));
        std::int32_t node = 0;
        for (const char ch : strings[i]) {
            const auto c = static_cast<unsigned char>(ch);
            std::int32_t next = edge(node, c);
            if (next == 0) {
                next = static_cast<std::int32_t>(nodes_.size());
                std::uint64_t at = hash_of_number(edge_key(node, c)) & (capacity - 1);
                while (edges_[at].key != 0) at = (at + 1) & (capacity - 1);
                edges_[at] = {edge_key(node, c), next};
                Node n;
                n.depth = nodes_[static_cast<std::size_t>(node)].depth + 1;
                nodes_.push_back(n);
                by_node.push_back({node, c});
            }
            node = next;
        }
        if (!strings[i].empty()) {
            starts_[static_cast<unsigned char>(strings[i][0])] = true;
            Node& n = nodes_[static_cast<std::size_t>(node)];
            if (n.string < 0) n.string = static_cast<std::int32_t>(i);
        }
    }
    // Suffix links from the root outwards.
    std::vector<std::int32_t> order(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return nodes_[static_cast<std::size_t>(a)].depth <
               nodes_[static_cast<std::size_t>(b)].depth;
    });
    for (const std::int32_t i : order) {
        if (i == 0) continue;
        Node& n = nodes_[static_cast<std::size_t>(i)];
        const auto [parent, c] = by_node[static_cast<std::size_t>(i)];
        if (parent != 0) {
            std::int32_t f = nodes_[static_cast<std::size_t>(parent)].fail;
            while (f != 0 && edge(f, c) == 0) f = nodes_[static_cast<std::size_t>(f)].fail;
            n.fail = edge(f, c);
        }
        const Node& f = nodes_[static_cast<std::size_t>(n.fail)];
        n.suffix_string = n.string >= 0 ? n.string : f.suffix_string;
    }
}

// 0 where there is no such edge (nothing leads back to the root).
std::int32_t StringFinder::edge(std::int32_t node, unsigned char c) const {
    const std::uint64_t key = edge_key(node, c);
    const std::uint64_t mask = edges_.size() - 1;
    for (std::uint64_t at = hash_of_number(key) & mask;; at = (at + 1) & mask) {
        if (edges_[at].key == key) return edges_[at].to;
        if (edges_[at].key == 0) return 0;
    }
}

bool StringFinder::find(std::string_view text, std::size_t from, Hit& hit) const {
    std::int32_t node = 0;
    bool found = false;
    for (std::size_t i = from; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (node == 0 && !starts_[c]) continue;
        std::int32_t next = edge(node, c);
        while (next == 0 && node != 0) {
            node = nodes_[static_cast<std::size_t>(node)].fail;
            next = edge(node, c);
        }
        node = next;
        const Node& n = nodes_[static_cast<std::size_t>(node)];
        // What is being read starts after the hit: no longer or earlier one can come.
        if (found && i + 1 - n.depth > hit.begin) return true;
        if (n.suffix_string >= 0) {
            const auto s = static_cast<std::size_t>(n.suffix_string);
            const std::size_t begin = i + 1 - lengths_[s];
            if (!found || begin < hit.begin || (begin == hit.begin && i + 1 > hit.end)) {
                hit = {begin, i + 1, s};
                found = true;
            }
        }
    }
    return found;
}

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens,
                                   const std::vector<std::string>& patterns)
    : tokens_(std::move(tokens)), finder_(patterns) {}

void AddedTokenFinder::find(std::string_view text, std::vector<AddedMatch>& matches) const {
    matches.clear();
    std::size_t covered = 0;  // end of the last match, white space included
    StringFinder::Hit hit{};
    for (std::size_t from = 0; finder_.find(text, from, hit); from = hit.end) {
        std::size_t begin = hit.begin, end = hit.end;
        const AddedToken& token = tokens_[hit.string];
        const auto char_before = [&](std::size_t i) {
            do --i;
            while (i > 0 && is_continuation(text[i]));
            return i;
        };
        if (token.single_word) {
            const bool left =
                begin > 0 && has(read_char(text.data() + char_before(begin)).code, is_word);
            const bool right = end < text.size() && has(read_char(text.data() + end).code, is_word);
            if (left || right) continue;
        }
        if (token.lstrip) {
            while (begin > covered) {
                const std::size_t i = char_before(begin);
                if (!has(read_char(text.data() + i).code, is_space)) break;
                begin = i;
            }
            begin = std::max(begin, covered);
        }
        if (token.rstrip) {
            while (end < text.size() && has(read_char(text.data() + end).code, is_space))
                end += static_cast<std::size_t>(utf8_size(text[end]));
        }
        matches.push_back(
            {{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}, hit.string});
        covered = end;
    }
}

}  // namespace fovea::text
