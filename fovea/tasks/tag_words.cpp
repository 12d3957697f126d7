#include "fovea/tasks/tag_words.h"

#include <algorithm>

#include "fovea/data/word_features.h"

namespace fovea {
namespace {

// Where windows of `room` pieces begin that together hold `pieces`: each shares half with the next.
std::vector<std::int64_t> window_starts(std::int64_t pieces, std::int64_t room) {
    std::vector<std::int64_t> starts{0};
    const std::int64_t step = std::max<std::int64_t>(1, room / 2);
    while (starts.back() + room < pieces)
        starts.push_back(std::min(starts.back() + step, pieces - room));
    return starts;
}

// The window in which a piece stands furthest from an edge (the text's own edges do not count).
std::size_t best_window(const std::vector<std::int64_t>& starts, std::int64_t room,
                        std::int64_t piece) {
    std::size_t best = 0;
    std::int64_t most = -1;
    for (std::size_t w = 0; w < starts.size(); ++w) {
        const std::int64_t left = piece - starts[w], right = starts[w] + room - 1 - piece;
        if (left < 0 || right < 0) continue;
        const std::int64_t distance =
            std::min(w == 0 ? room : left, w + 1 == starts.size() ? room : right);
        if (distance > most) most = distance, best = w;
    }
    return best;
}

// The first piece of each word; of a word without any (characters that a normaliser drops) the
// piece before it.
std::vector<std::int64_t> first_pieces(const Encoding& e, std::span<const TextSpan> words) {
    std::vector<std::int64_t> first;
    std::size_t at = 0;
    for (const TextSpan& w : words) {
        while (at < e.size() && (e.special_mask[at] || e.offsets[at].end <= w.begin)) ++at;
        const bool has_one = at < e.size() && e.offsets[at].begin < w.end;
        first.push_back(static_cast<std::int64_t>(has_one ? at : at > 0 ? at - 1 : std::size_t{0}));
    }
    return first;
}

// Its windows, and the row of each word in them.
void add_pieces(const WordReading& reading, const std::string& text,
                std::span<const TextSpan> words, EncodedWords& out) {
    Encoding e = reading.tokenizer->encode(
        text, {.offsets = OffsetUnit::bytes, .truncation = Truncation{.max_length = 0}});
    if (e.size() == 0) {  // nothing of the text is left: something must stand for its words
        e.ids = {reading.tokenizer->eos_id().value_or(0)};
        e.offsets.resize(1), e.type_ids.resize(1), e.special_mask.assign(1, 1);
    }
    const std::int64_t n = static_cast<std::int64_t>(e.size());
    std::int64_t front = 0, back = 0;
    while (front < n && e.special_mask[static_cast<std::size_t>(front)]) ++front;
    while (front + back < n && e.special_mask[static_cast<std::size_t>(n - 1 - back)]) ++back;
    const std::int64_t room = reading.max_length - front - back;
    const std::int64_t pieces = n - front - back;
    const std::vector<std::int64_t> starts = window_starts(pieces, room);
    const bool typed = std::any_of(e.type_ids.begin(), e.type_ids.end(), [](auto t) { return t; });
    const auto window = [&](const auto& all, std::int64_t start) {  // with the special ones
        Ids ids(all.begin(), all.begin() + front);
        const auto from = all.begin() + front + start;
        ids.insert(ids.end(), from, from + std::min(room, pieces));
        ids.insert(ids.end(), all.end() - back, all.end());
        return ids;
    };
    for (const std::int64_t start : starts) {
        out.windows.push_back(window(e.ids, start));
        if (typed) out.types.push_back(window(e.type_ids, start));
    }
    const std::int64_t length = front + std::min(room, pieces) + back;
    out.tokens = length * static_cast<std::int64_t>(starts.size());
    for (const std::int64_t first : first_pieces(e, words)) {
        const std::int64_t piece = std::min(first, std::max<std::int64_t>(0, front + pieces - 1));
        const std::size_t w = best_window(starts, room, piece - front);
        out.rows.push_back(
            static_cast<std::int32_t>(static_cast<std::int64_t>(w) * length + piece - starts[w]));
    }
}

}  // namespace

WordBatch pack_words(std::span<const EncodedWords> sentences,
                     std::span<const std::int64_t> indices) {
    // Windows are samples of their own: their dropout masks differ.
    constexpr std::uint64_t most_windows = std::uint64_t{1} << 24;
    WordBatch b;
    std::vector<Ids> windows, types;
    std::vector<std::uint64_t> window_names, names;
    std::vector<std::int64_t> lengths;
    bool typed = false;
    std::int64_t before = 0;
    for (const std::int64_t i : indices) {
        const EncodedWords& s = sentences[static_cast<std::size_t>(i)];
        const auto name = static_cast<std::uint64_t>(i);
        for (std::size_t w = 0; w < s.windows.size(); ++w) {
            windows.push_back(s.windows[w]);
            types.push_back(s.types.empty() ? Ids(s.windows[w].size(), 0) : s.types[w]);
            typed = typed || !s.types.empty();
            window_names.push_back(name * most_windows + w);
        }
        for (const std::int32_t row : s.rows)
            b.rows.push_back(static_cast<std::int32_t>(before + row));
        b.features.insert(b.features.end(), s.features.begin(), s.features.end());
        before += s.tokens;
        lengths.push_back(s.words);
        names.push_back(name);
    }
    b.pieces = pack(windows, window_names);
    if (typed) b.pieces.types = pack(types).tokens;
    b.words = Segments::of_lengths(lengths, names);
    return b;
}

std::int64_t words_in(std::span<const EncodedWords> sentences,
                      std::span<const std::int64_t> indices) {
    std::int64_t words = 0;
    for (const std::int64_t i : indices) words += sentences[static_cast<std::size_t>(i)].words;
    return words;
}

EncodedWords encode_words(const WordReading& reading, const std::string& text,
                          std::span<const TextSpan> words) {
    EncodedWords out;
    out.words = out.tokens = static_cast<std::int64_t>(words.size());
    if (words.empty()) return out;
    if (reading.buckets > 0) {
        std::vector<std::string> all;
        for (const TextSpan& w : words)
            all.push_back(text.substr(static_cast<std::size_t>(w.begin),
                                      static_cast<std::size_t>(w.end - w.begin)));
        out.features = word_features(all, reading.buckets);
    }
    if (reading.tokenizer) add_pieces(reading, text, words, out);
    return out;
}

EncodedWords encode_words(const WordReading& reading, std::span<const std::string> words) {
    std::string text;
    std::vector<TextSpan> spans;
    for (const std::string& w : words) {
        if (!spans.empty()) text += ' ';
        const auto begin = static_cast<std::int32_t>(text.size());
        text += w;
        spans.push_back({begin, static_cast<std::int32_t>(text.size())});
    }
    return encode_words(reading, text, spans);
}

}  // namespace fovea
