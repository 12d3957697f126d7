#include "fovea/data/word_features.h"

#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/hash.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

struct WordLook {
    std::string word, lower, shape, short_shape;
    std::u32string letters;  // lower case

    std::string first(std::size_t n) const {
        return encode_utf8(std::u32string_view(letters).substr(0, n));
    }
    std::string last(std::size_t n) const {
        return encode_utf8(
            std::u32string_view(letters).substr(letters.size() - std::min(n, letters.size())));
    }
};

char32_t shape_of(char32_t c) {
    if (text::has(c, text::is_upper)) return 'X';
    if (text::has(c, text::is_letter)) return 'x';
    return text::has(c, text::is_number) ? U'd' : c;
}

WordLook look_of(const std::string& word) {
    WordLook look;
    look.word = word;
    std::u32string shape, runs;
    for (const char32_t c : decode_utf8(word)) {
        char32_t lower[2];
        const int n = text::to_lower(c, lower);
        look.letters.append(lower, static_cast<std::size_t>(n));
        shape += shape_of(c);
        if (runs.empty() || runs.back() != shape.back()) runs += shape.back();
    }
    look.lower = encode_utf8(look.letters);
    look.shape = encode_utf8(shape);
    look.short_shape = encode_utf8(runs);
    return look;
}

}  // namespace

Ids word_features(std::span<const std::string> words, int buckets) {
    expect(buckets > 0, "word_features: there are ", buckets, " buckets");
    const WordLook nothing = look_of("");
    std::vector<WordLook> looks;
    for (const std::string& w : words) looks.push_back(look_of(w));
    Ids ids;
    ids.reserve(words.size() * word_feature_count);
    for (std::size_t i = 0; i < looks.size(); ++i) {
        const auto near = [&](int by) -> const WordLook& {
            const auto at = static_cast<std::int64_t>(i) + by;
            return at < 0 || at >= static_cast<std::int64_t>(looks.size())
                       ? nothing
                       : looks[static_cast<std::size_t>(at)];
        };
        const WordLook &w = looks[i], &before = near(-1), &after = near(1);
        const std::string features[word_feature_count] = {
            w.word,
            w.lower,
            before.lower,
            after.lower,
            near(-2).lower,
            near(2).lower,
            w.first(1),
            w.first(2),
            w.first(3),
            w.last(1),
            w.last(2),
            w.last(3),
            w.last(4),
            w.shape,
            w.short_shape,
            before.short_shape,
            after.short_shape,
            before.lower + "\t" + w.lower,
            w.lower + "\t" + after.lower,
            before.short_shape + "\t" + w.short_shape + "\t" + after.short_shape,
        };
        for (int f = 0; f < word_feature_count; ++f) {
            const Key128 key = key_of(std::to_string(f) + "\t" + features[f]);
            ids.push_back(static_cast<std::int32_t>(key.low % static_cast<std::uint64_t>(buckets)));
        }
    }
    return ids;
}

}  // namespace fovea
