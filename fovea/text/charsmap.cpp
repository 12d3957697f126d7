#include "fovea/text/charsmap.h"

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/text/utf8.h"

namespace fovea::text {

namespace {

// The bits of a unit (Yata, darts-clone): a leaf's value, or label, leaf mark and offset of a node.
bool has_leaf(std::uint32_t u) { return (u >> 8 & 1) != 0; }
std::uint32_t value(std::uint32_t u) { return u & 0x7FFFFFFFu; }
std::uint32_t label(std::uint32_t u) { return u & 0x800000FFu; }
std::uint32_t offset(std::uint32_t u) { return (u >> 10) << ((u & 1u << 9) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob, const std::string& where) {
    if (blob.empty()) return;
    std::uint32_t bytes = 0;
    expect_input(blob.size() > 4, where, ": character map has ", blob.size(),
                 " bytes but needs more than 4");
    std::memcpy(&bytes, blob.data(), 4);
    expect_input(bytes > 0 && bytes % 4 == 0 && bytes <= blob.size() - 4, where,
                 ": character map says that its trie has ", bytes, " bytes but ", blob.size() - 4,
                 " follow");
    units_.resize(bytes / 4);
    std::memcpy(units_.data(), blob.data() + 4, bytes);
    replacements_.assign(blob.substr(4 + bytes));
    expect_input(is_valid_utf8(replacements_), where, ": character map is not valid UTF-8");
    for (int b = 1; b < 256; ++b) {
        const std::uint32_t at = offset(units_[0]) ^ static_cast<std::uint32_t>(b);
        starts_[static_cast<std::size_t>(b)] =
            at < units_.size() && label(units_[at]) == static_cast<std::uint32_t>(b);
    }
}

template <bool stop_at_first>
Charsmap::Match Charsmap::find(std::string_view text) const {
    Match best;
    if (units_.empty() || text.empty() || !starts_[static_cast<unsigned char>(text[0])])
        return best;
    std::uint32_t at = offset(units_[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == 0) break;
        at ^= byte;
        if (at >= units_.size() || label(units_[at]) != byte) break;
        const bool leaf = has_leaf(units_[at]);
        at ^= offset(units_[at]);
        if (at >= units_.size()) break;
        if (!leaf) continue;
        const std::uint32_t begin = value(units_[at]);
        // A hostile map may point anywhere: only starts of characters are taken.
        if (begin >= replacements_.size() || is_continuation(replacements_[begin])) continue;
        const char* start = replacements_.data() + begin;
        const auto* end =
            static_cast<const char*>(std::memchr(start, 0, replacements_.size() - begin));
        best = {
            i + 1,
            {start, end ? static_cast<std::size_t>(end - start) : replacements_.size() - begin}};
        if (stop_at_first) break;
    }
    // A key that ends inside a character would cut it: not taken either.
    if (best.length < text.size() && best.length > 0 && is_continuation(text[best.length]))
        return {};
    return best;
}

Charsmap::Match Charsmap::shortest(std::string_view text) const { return find<true>(text); }
Charsmap::Match Charsmap::longest(std::string_view text) const { return find<false>(text); }

}  // namespace fovea::text
