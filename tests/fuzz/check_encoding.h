#pragma once
// The definition of check_encoding(), for the targets that have a tokenizer.
#include <utf8proc.h>

#include "fuzz_targets.h"

namespace fovea {

// By utf8proc, which shares no code with ours.
inline bool valid_by_utf8proc(std::string_view s) {
    for (std::size_t i = 0; i < s.size();) {
        utf8proc_int32_t c = 0;
        const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data()) + i,
                                        static_cast<utf8proc_ssize_t>(s.size() - i), &c);
        if (n <= 0) return false;
        i += static_cast<std::size_t>(n);
    }
    return true;
}

// Of a long text only the start: runs matter more than length.
inline void check_tokenizer_on(const Tokenizer& t, std::string_view text) {
    text = text.substr(0, 300);
    const Encoding e = t.encode(text);
    const std::size_t n = e.ids.size();
    property(e.tokens.size() == n && e.offsets.size() == n && e.type_ids.size() == n &&
                 e.word_ids.size() == n && e.sequence_ids.size() == n && e.special_mask.size() == n,
             "the arrays of an encoding have one entry per token");
    const auto length = static_cast<std::int32_t>(text.size());
    for (std::size_t i = 0; i < n; ++i) {
        property(e.ids[i] >= 0 && e.ids[i] < t.vocab_size(), "ids are in the vocabulary");
        property(0 <= e.offsets[i].begin && e.offsets[i].begin <= e.offsets[i].end &&
                     e.offsets[i].end <= length,
                 "offsets lie in the text");
        property(valid_by_utf8proc(e.tokens[i]), "tokens are UTF-8");
    }
    if (e.overflowing.empty())
        property(t.encode_ids(text) == e.ids, "encode_ids gives the ids of encode");
    property(valid_by_utf8proc(t.decode(e.ids)), "decoded text is UTF-8");
    property(valid_by_utf8proc(t.decode(e.ids, false)), "decoded text is UTF-8");
}

}  // namespace fovea
