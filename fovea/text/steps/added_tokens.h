#pragma once
// Tokens that are found in the text before everything else. All are looked for at once by an
// Aho-Corasick automaton (1975), the leftmost and of those the longest; time is linear whatever
// the number of tokens.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {

// Finds the leftmost-longest occurrences of a set of strings.
class StringFinder {
public:
    // Of equal strings the first one counts; empty ones are never found.
    explicit StringFinder(const std::vector<std::string>& strings);

    bool empty() const { return nodes_.size() <= 1; }

    struct Hit {
        std::size_t begin, end;
        std::size_t string;
    };
    // The next occurrence at or after `from`; false where there is none.
    bool find(std::string_view text, std::size_t from, Hit& hit) const;

private:
    struct Node {
        std::int32_t fail = 0;            // longest proper suffix that is a prefix of some string
        std::int32_t string = -1;         // string that ends here
        std::int32_t suffix_string = -1;  // or the longest one that is a suffix of this
        std::uint32_t depth = 0;
    };
    struct Edge {
        std::uint64_t key;  // node << 8 | byte, + 1; 0 = free
        std::int32_t to;
    };
    std::vector<Node> nodes_;
    std::vector<Edge> edges_;  // open-addressed
    std::vector<std::uint32_t> lengths_;
    bool starts_[256] = {};

    std::int32_t edge(std::int32_t node, unsigned char c) const;
};

struct AddedMatch {
    ByteRange range;  // white space taken along included
    std::size_t token;
};

// One set of added tokens (those for the raw or those for the normalised text).
class AddedTokenFinder {
public:
    // `patterns[i]` is what tokens[i] looks like in the text.
    AddedTokenFinder(std::vector<AddedToken> tokens, const std::vector<std::string>& patterns);

    bool empty() const { return finder_.empty(); }
    const AddedToken& token(std::size_t i) const { return tokens_[i]; }
    void find(std::string_view text, std::vector<AddedMatch>& matches) const;

private:
    std::vector<AddedToken> tokens_;
    StringFinder finder_;
};

}  // namespace fovea::text
