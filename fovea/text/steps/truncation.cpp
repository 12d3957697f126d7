#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/steps/post_processors.h"

namespace fovea::text {

namespace {

template <class T>
std::vector<T> part(const std::vector<T>& v, std::size_t begin, std::size_t end) {
    return {v.begin() + static_cast<std::ptrdiff_t>(begin),
            v.begin() + static_cast<std::ptrdiff_t>(end)};
}

Encoding part(const Encoding& e, std::size_t begin, std::size_t end) {
    Encoding p;
    p.ids = part(e.ids, begin, end);
    p.tokens = part(e.tokens, begin, end);
    p.offsets = part(e.offsets, begin, end);
    p.type_ids = part(e.type_ids, begin, end);
    p.word_ids = part(e.word_ids, begin, end);
    p.sequence_ids = part(e.sequence_ids, begin, end);
    p.special_mask = part(e.special_mask, begin, end);
    return p;
}

template <class T>
void append(std::vector<T>& a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
}

void append_tokens(Encoding& a, const Encoding& b) {
    append(a.ids, b.ids);
    append(a.tokens, b.tokens);
    append(a.offsets, b.offsets);
    append(a.type_ids, b.type_ids);
    append(a.word_ids, b.word_ids);
    append(a.sequence_ids, b.sequence_ids);
    append(a.special_mask, b.special_mask);
}

}  // namespace

void append(Encoding& a, const Encoding& b) {
    std::vector<Encoding> parts;
    const auto join = [&](const Encoding& x, const Encoding& y) {
        Encoding whole = part(x, 0, x.size());
        append_tokens(whole, y);
        parts.push_back(std::move(whole));
    };
    for (const Encoding& x : a.overflowing) {
        join(x, b);
        for (const Encoding& y : b.overflowing) join(x, y);
    }
    for (const Encoding& y : b.overflowing) join(a, y);
    append_tokens(a, b);
    a.overflowing = std::move(parts);
}

void truncate(Encoding& e, std::int64_t max_length, std::int64_t stride, Direction direction) {
    const auto size = static_cast<std::int64_t>(e.size());
    if (max_length >= size) return;
    if (max_length <= 0) {
        Encoding all = part(e, 0, e.size());
        e = Encoding{};
        e.overflowing.push_back(std::move(all));
        return;
    }
    expect_input(stride < max_length, "truncation: a stride of ", stride,
                 " leaves no room in parts of ", max_length, " tokens");
    const std::int64_t step = max_length - stride;
    std::vector<Encoding> parts;
    const auto add = [&](std::int64_t begin, std::int64_t end) {
        parts.push_back(part(e, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
    };
    if (direction == Direction::right) {
        for (std::int64_t begin = 0;; begin += step) {
            const std::int64_t end = std::min(begin + max_length, size);
            add(begin, end);
            if (end == size) break;
        }
    } else {
        for (std::int64_t end = size;; end -= step) {
            const std::int64_t begin = std::max<std::int64_t>(end - max_length, 0);
            add(begin, end);
            if (begin == 0) break;
        }
    }
    e = std::move(parts.front());
    e.overflowing.assign(std::make_move_iterator(parts.begin() + 1),
                         std::make_move_iterator(parts.end()));
}

void truncate(std::vector<Encoding>& encodings, const Truncation& how) {
    Encoding& first = encodings[0];
    Encoding* second = encodings.size() > 1 ? &encodings[1] : nullptr;
    const std::int64_t max_length = how.max_length;
    const auto cut = [&](Encoding& e, std::int64_t n) {
        truncate(e, n, how.stride, how.direction);
    };
    if (max_length <= 0) {
        cut(first, 0);
        if (second) cut(*second, 0);
        return;
    }
    auto n1 = static_cast<std::int64_t>(first.size());
    auto n2 = second ? static_cast<std::int64_t>(second->size()) : 0;
    if (n1 + n2 <= max_length) return;
    const std::int64_t too_many = n1 + n2 - max_length;
    if (how.strategy == TruncationStrategy::longest_first) {
        if (!second) return cut(first, max_length);
        // The longer one is cut to the length of the shorter; then both are, to equal shares.
        const bool swapped = n1 > n2;
        if (swapped) std::swap(n1, n2);
        n2 = n1 > max_length ? n1 : std::max(n1, max_length - n1);
        if (n1 + n2 > max_length) {
            n1 = max_length / 2;
            n2 = n1 + max_length % 2;
        }
        if (swapped) std::swap(n1, n2);
        cut(first, n1);
        cut(*second, n2);
        return;
    }
    const bool only_first = how.strategy == TruncationStrategy::only_first;
    expect_input(only_first || second, "truncation: only_second, but there is one text");
    Encoding& target = only_first ? first : *second;
    const auto n = static_cast<std::int64_t>(target.size());
    expect_input(n > too_many, "truncation: the text to cut has ", n, " tokens but ", too_many,
                 " are too many");
    cut(target, n - too_many);
}

}  // namespace fovea::text
