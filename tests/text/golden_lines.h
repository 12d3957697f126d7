#pragma once
// The lines that tokenizers are compared on, and the hash of what a tokenizer makes of one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/bench/sample_lines.h"
#include "fovea/text/encoding.h"

namespace fovea {

inline constexpr std::uint64_t golden_seed = 20261115;
inline constexpr std::int64_t golden_samples = 10000;

// 10,000 lines of all languages, then every code point once.
inline std::vector<std::string> golden_lines(std::uint64_t seed = golden_seed) {
    std::vector<std::string> lines;
    for (std::int64_t i = 0; i < golden_samples; ++i) lines.push_back(sample_line(seed, i));
    for (std::string& line : lines_of_every_code_point()) lines.push_back(std::move(line));
    return lines;
}

// A polynomial in an odd number modulo 2^64: one line of numpy on the other side.
class LineHash {
public:
    void add(std::int64_t v) { h_ = h_ * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(v + 1); }
    template <class Values>
    void add_all(const Values& values) {
        add(static_cast<std::int64_t>(values.size()));
        for (const auto v : values) add(static_cast<std::int64_t>(v));
    }
    std::uint64_t value() const { return h_; }

private:
    std::uint64_t h_ = 0;
};

inline void add_offsets(LineHash& h, const Encoding& e) {
    for (const TextSpan& s : e.offsets) {
        h.add(s.begin);
        h.add(s.end);
    }
}

inline std::uint64_t hash_of_encoding(const Encoding& e) {
    LineHash h;
    h.add_all(e.ids);
    add_offsets(h, e);
    return h.value();
}

inline std::uint64_t hash_of_pair(const Encoding& e) {
    LineHash h;
    h.add_all(e.ids);
    add_offsets(h, e);
    h.add_all(e.type_ids);
    h.add_all(e.word_ids);
    h.add_all(e.special_mask);
    return h.value();
}

inline std::uint64_t hash_of_ids(const std::vector<TokenId>& ids) {
    LineHash h;
    h.add_all(ids);
    return h.value();
}

inline std::uint64_t hash_of_text(std::string_view text) {
    LineHash h;
    h.add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) h.add(static_cast<unsigned char>(c));
    return h.value();
}

}  // namespace fovea
