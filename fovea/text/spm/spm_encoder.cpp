#include "fovea/text/spm/spm_encoder.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <unordered_map>

#include "fovea/base/utf8.h"

namespace fovea::text {

namespace {

constexpr float spm_unk_penalty = 10.0f;

ByteTrie trie_of(const SentencePieceModel& model, bool user_defined_only) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(model.pieces.size());
    for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        const PieceType t = model.pieces[i].type;
        const bool take =
            user_defined_only
                ? t == PieceType::user_defined
                : t == PieceType::normal || t == PieceType::user_defined || t == PieceType::unused;
        if (take) keys.push_back({model.pieces[i].text, static_cast<std::int32_t>(i)});
    }
    return ByteTrie(std::move(keys));
}

// The byte that a piece "<0x4F>" stands for, -1 where it is not of that form.
int byte_of_piece(std::string_view piece) {
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
    const int high = digit(piece[3]), low = digit(piece[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

SpmEncoder::SpmEncoder(SentencePieceModel model, const std::string& where)
    : model_(std::move(model)),
      trie_(trie_of(model_, false)),
      user_symbols_(trie_of(model_, true)),
      normalizer_(model_.normalizer, model_.treat_whitespace_as_suffix, user_symbols_, where) {
    // Highest and lowest score of normal pieces. The library starts the highest at FLT_MIN, so it
    // is practically 0 for log probabilities: kept, for it decides about user-defined symbols.
    float lowest = FLT_MAX, highest = FLT_MIN;
    for (const SentencePiece& p : model_.pieces) {
        if (p.type != PieceType::normal) continue;
        lowest = std::min(lowest, p.score);
        highest = std::max(highest, p.score);
    }
    unk_score_ = lowest - spm_unk_penalty;
    words_apart_ = model_.kind == SentencePieceKind::unigram && highest <= 0.0001f;
    if (model_.kind == SentencePieceKind::bpe)
        for (const SentencePiece& p : model_.pieces) {
            if (p.type != PieceType::normal && p.type != PieceType::user_defined &&
                p.type != PieceType::unused)
                continue;
            Utf8Char left = read_char(p.text.data());
            for (std::size_t i = static_cast<std::size_t>(left.size); i < p.text.size();) {
                const Utf8Char right = read_char(p.text.data() + i);
                joined_.add(left.code, right.code);
                left = right;
                i += static_cast<std::size_t>(right.size);
            }
        }
    for (const SentencePiece& p : model_.pieces) {
        const bool usable = p.type == PieceType::normal || p.type == PieceType::user_defined;
        words_apart_ &= !usable || p.text.find(space_mark, 1) == std::string::npos;
    }
    byte_ids_.fill(-1);
    scores_.reserve(model_.pieces.size());
    for (std::size_t i = 0; i < model_.pieces.size(); ++i) {
        const SentencePiece& p = model_.pieces[i];
        const auto id = static_cast<TokenId>(i);
        const bool user = p.type == PieceType::user_defined;
        scores_.push_back(user ? static_cast<float>(p.text.size()) * highest - 0.1f : p.score);
        unused_.push_back(p.type == PieceType::unused);
        any_unused_ |= p.type == PieceType::unused;
        if (p.type == PieceType::control || p.type == PieceType::unknown ||
            p.type == PieceType::byte)
            reserved_.add(p.text, id);
        if (p.type == PieceType::byte)
            if (const int b = byte_of_piece(p.text); b >= 0)
                byte_ids_[static_cast<std::size_t>(b)] = id;
    }
}

TokenId SpmEncoder::find(std::string_view piece) const {
    const TokenId reserved = reserved_.find(piece);
    if (reserved >= 0) return reserved;
    ByteTrie::Base at = trie_.root();
    std::int32_t value = ByteTrie::no_value;
    for (const char c : piece)
        if (!trie_.step(at, static_cast<unsigned char>(c), value)) return -1;
    return value;
}

TokenId SpmEncoder::piece_or_unk(std::string_view piece) const {
    const TokenId id = find(piece);
    return id >= 0 ? id : model_.unk_id;
}

// The library searches the whole text at once. Where no piece contains a mark but at its start,
// every way passes through the place before each mark, so words are searched one by one, with the
// score so far carried along: sums are rounded to single precision, and the rounding can decide
// between segmentations that are nearly equal.
void SpmEncoder::encode_unigram(SpmScratch& scratch) const {
    const std::string_view text = scratch.text;
    float score = 0, limit = 0;
    if (!words_apart_) {
        encode_unigram_word(0, text.size(), score, scratch, limit);
        return;
    }
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = text.find(space_mark, begin + 1);
        if (end == std::string_view::npos) end = text.size();
        const std::string_view word = text.substr(begin, end - begin);
        if (!WordCache::fits(word)) {
            score = encode_unigram_word(begin, end, score, scratch, limit);
        } else {
            bool hit = false;
            WordCache::Entry& e = scratch.cache.place(word, hit);
            if (hit && -score <= e.limit) {
                score = add_cached(e.tokens(), begin, score, scratch);
            } else {
                const std::size_t first = scratch.pieces.size();
                score = encode_unigram_word(begin, end, score, scratch, limit);
                scratch.ids.clear();
                for (std::size_t i = first; i < scratch.pieces.size(); ++i)
                    scratch.ids.push_back(scratch.pieces[i].first);
                if (!hit) scratch.cache.store(e, word, scratch.ids, limit);
            }
        }
        begin = end;
    }
}

float SpmEncoder::add_cached(std::span<const TokenId> ids, std::size_t begin, float score,
                             SpmScratch& scratch) const {
    for (const TokenId id : ids) {
        const bool unknown = id == model_.unk_id;
        const std::size_t size = unknown ? static_cast<std::size_t>(utf8_size(scratch.text[begin]))
                                         : model_.pieces[static_cast<std::size_t>(id)].text.size();
        scratch.pieces.push_back(
            {id, {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + size)}});
        score = (unknown ? unk_score_ : scores_[static_cast<std::size_t>(id)]) + score;
        begin += size;
    }
    return score;
}

// Adds the best pieces of [from, to) and returns the score after them. `limit`: with any score
// before the word between -limit and 0 the result is the same pieces. For a sum of k terms of size
// s has an error below k s 2^-24, and all differences that were decided on are larger than twice
// that.
float SpmEncoder::encode_unigram_word(std::size_t from, std::size_t to, float score,
                                      SpmScratch& scratch, float& limit) const {
    const std::string_view text = scratch.text;
    auto& ends = scratch.ends;
    ends.assign(to - from + 1, {0.0f, -1, -1});
    ends[0].score = score;
    float closest = FLT_MAX, lowest_sum = score;
    int chars = 1;
    for (std::size_t begin = from; begin < to; ++chars) {
        const float here = ends[begin - from].score;
        const auto char_size = static_cast<std::size_t>(utf8_size(text[begin]));
        const auto offer = [&](std::size_t end, float sum, TokenId id) {
            SpmScratch::Node& n = ends[end - from];
            lowest_sum = std::min(lowest_sum, sum);
            if (n.start == -1) {
                n = {sum, id, static_cast<std::int32_t>(begin)};
                return;
            }
            closest = std::min(closest, std::fabs(sum - n.score));
            if (sum > n.score) n = {sum, id, static_cast<std::int32_t>(begin)};
        };
        bool whole_char = false;
        ByteTrie::Base at = trie_.root();
        std::int32_t id = 0;
        for (std::size_t i = begin; i < to; ++i) {
            if (!trie_.step(at, static_cast<unsigned char>(text[i]), id)) break;
            if (id < 0 || (any_unused_ && unused_[static_cast<std::size_t>(id)])) continue;
            offer(i + 1, scores_[static_cast<std::size_t>(id)] + here, id);
            whole_char |= i + 1 - begin == char_size;
        }
        if (!whole_char) offer(begin + char_size, unk_score_ + here, model_.unk_id);
        begin += char_size;
    }
    auto& pieces = scratch.pieces;
    const auto first = static_cast<std::ptrdiff_t>(pieces.size());
    for (std::size_t end = to; end > from;) {
        const SpmScratch::Node& n = ends[end - from];
        const auto start = static_cast<std::uint32_t>(n.start);
        pieces.push_back({n.id, {start, static_cast<std::uint32_t>(end)}});
        end = start;
    }
    std::reverse(pieces.begin() + first, pieces.end());
    const float own = std::fabs(lowest_sum - score);  // size of the sums within the word
    limit = closest / (static_cast<float>(2 * chars) * 0x1p-24f) - 2 * own - std::fabs(score);
    return ends[to - from].score;
}

// Parts that no piece can join are encoded (and remembered) one by one.
void SpmEncoder::encode_bpe(SpmScratch& scratch) const {
    const std::string_view text = scratch.text;
    for (std::size_t begin = 0; begin < text.size();) {
        Utf8Char left = read_char(text.data() + begin);
        std::size_t end = begin + static_cast<std::size_t>(left.size);
        while (end < text.size()) {
            const Utf8Char right = read_char(text.data() + end);
            if (!joined_.contains(left.code, right.code)) break;
            left = right;
            end += static_cast<std::size_t>(right.size);
        }
        const std::string_view part = text.substr(begin, end - begin);
        bool hit = false;
        WordCache::Entry* e = WordCache::fits(part) ? &scratch.cache.place(part, hit) : nullptr;
        if (hit) {
            add_cached(e->tokens(), begin, 0, scratch);
        } else {
            const std::size_t first = scratch.pieces.size();
            encode_bpe_part(begin, end, scratch);
            scratch.ids.clear();
            for (std::size_t i = first; i < scratch.pieces.size(); ++i)
                scratch.ids.push_back(scratch.pieces[i].first);
            if (e) scratch.cache.store(*e, part, scratch.ids);
        }
        begin = end;
    }
}

void SpmEncoder::encode_bpe_part(std::size_t from, std::size_t to, SpmScratch& scratch) const {
    const std::string_view text = std::string_view(scratch.text).substr(0, to);
    auto& symbols = scratch.symbols;
    auto& heap = scratch.heap;
    symbols.clear();
    heap.clear();
    for (std::size_t i = from; i < text.size();) {
        std::size_t size = user_symbol(user_symbols_, text.substr(i));
        const bool frozen = size > 0;
        if (!frozen) size = static_cast<std::size_t>(utf8_size(text[i]));
        const auto n = static_cast<std::int32_t>(symbols.size());
        symbols.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(size), n - 1,
                           i + size < text.size() ? n + 1 : -1, frozen});
        i += size;
    }
    const auto at = [&](std::int32_t i) -> SpmScratch::Symbol& {
        return symbols[static_cast<std::size_t>(i)];
    };
    // The best score first, of equal ones the leftmost.
    const auto later = [](const SpmScratch::Pair& a, const SpmScratch::Pair& b) {
        return a.score < b.score || (a.score == b.score && a.left > b.left);
    };
    std::unordered_map<std::string_view, std::uint32_t> halves;  // of unused pieces: left part
    const auto propose = [&](std::int32_t left, std::int32_t right) {
        if (left < 0 || right < 0 || at(left).frozen || at(right).frozen) return false;
        const std::uint32_t size = at(left).size + at(right).size;
        const std::string_view piece = text.substr(at(left).begin, size);
        ByteTrie::Base base = trie_.root();
        std::int32_t id = ByteTrie::no_value;
        for (const char c : piece)
            if (!trie_.step(base, static_cast<unsigned char>(c), id)) return false;
        if (id < 0) return false;
        heap.push_back({model_.pieces[static_cast<std::size_t>(id)].score, left, right, size});
        if (unused_[static_cast<std::size_t>(id)]) halves[piece] = at(left).size;
        return true;
    };
    for (std::size_t i = 1; i < symbols.size(); ++i)
        propose(static_cast<std::int32_t>(i) - 1, static_cast<std::int32_t>(i));
    std::make_heap(heap.begin(), heap.end(), later);
    const auto push = [&](std::int32_t left, std::int32_t right) {
        if (propose(left, right)) std::push_heap(heap.begin(), heap.end(), later);
    };
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const SpmScratch::Pair top = heap.back();
        heap.pop_back();
        SpmScratch::Symbol &left = at(top.left), &right = at(top.right);
        if (left.size == 0 || right.size == 0 || left.size + right.size != top.size) continue;
        left.size = top.size;
        left.next = right.next;
        if (right.next >= 0) at(right.next).prev = top.left;
        right.size = 0;
        push(left.prev, top.left);
        push(top.left, left.next);
    }
    // Pieces that are not to be used are taken apart again, the way they were put together.
    std::vector<ByteRange> open;
    for (std::int32_t i = symbols.empty() ? -1 : 0; i != -1; i = at(i).next) {
        open.push_back({at(i).begin, at(i).begin + at(i).size});
        while (!open.empty()) {
            const ByteRange r = open.back();
            open.pop_back();
            const std::string_view piece = text.substr(r.begin, r.end - r.begin);
            const TokenId id = piece_or_unk(piece);
            const auto half = any_unused_ && id >= 0 && unused_[static_cast<std::size_t>(id)]
                                  ? halves.find(piece)
                                  : halves.end();
            if (half == halves.end()) {
                scratch.pieces.push_back({id, r});
            } else {
                open.push_back({r.begin + half->second, r.end});
                open.push_back({r.begin, r.begin + half->second});
            }
        }
    }
}

// A word starts at each mark (or ends there, where white space is a suffix).
void SpmEncoder::encode_words(SpmScratch& scratch) const {
    const std::string_view text = scratch.text;
    std::size_t begin = 0;
    const auto add = [&](std::size_t end) {
        if (end > begin)
            scratch.pieces.push_back(
                {piece_or_unk(text.substr(begin, end - begin)),
                 {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)}});
        begin = end;
    };
    for (std::size_t i = 0; i < text.size(); i += static_cast<std::size_t>(utf8_size(text[i]))) {
        if (text.compare(i, space_mark.size(), space_mark) != 0) continue;
        add(model_.treat_whitespace_as_suffix ? i + space_mark.size() : i);
    }
    add(text.size());
}

void SpmEncoder::encode_characters(SpmScratch& scratch) const {
    const std::string_view text = scratch.text;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t size = user_symbol(user_symbols_, text.substr(i));
        if (size == 0) size = static_cast<std::size_t>(utf8_size(text[i]));
        scratch.pieces.push_back(
            {piece_or_unk(text.substr(i, size)),
             {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + size)}});
        i += size;
    }
}

void SpmEncoder::encode(std::string_view text, bool origins, std::vector<SpmToken>& out,
                        SpmScratch& scratch) const {
    normalizer_.normalize(text, scratch.text, origins ? &scratch.origin : nullptr);
    scratch.pieces.clear();
    if (scratch.text.empty()) return;
    switch (model_.kind) {
        case SentencePieceKind::unigram:
            encode_unigram(scratch);
            break;
        case SentencePieceKind::bpe:
            encode_bpe(scratch);
            break;
        case SentencePieceKind::word:
            encode_words(scratch);
            break;
        case SentencePieceKind::character:
            encode_characters(scratch);
            break;
    }
    bool after_unknown = false;
    for (const auto& [id, piece] : scratch.pieces) {
        ByteRange origin{};
        if (origins) origin = {scratch.origin[piece.begin], scratch.origin[piece.end]};
        const bool unknown = id == model_.unk_id;
        if (unknown && model_.byte_fallback) {
            // The last byte stands for the character, the others for nothing.
            for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
                const auto b = static_cast<unsigned char>(scratch.text[i]);
                const TokenId byte = byte_ids_[b] >= 0 ? byte_ids_[b] : model_.unk_id;
                const bool last = i + 1 == piece.end;
                out.push_back(
                    {byte, {i, i + 1}, last ? origin : ByteRange{origin.begin, origin.begin}});
            }
        } else if (unknown && after_unknown) {
            out.back().piece.end = piece.end;
            out.back().origin.end = origin.end;
        } else {
            out.push_back({id, piece, origin});
        }
        after_unknown = unknown;
    }
}

std::string SpmEncoder::decode(const std::vector<std::string_view>& pieces) const {
    std::string out, bytes;
    const bool drop_first_space =
        model_.normalizer.add_dummy_prefix || model_.normalizer.remove_extra_whitespaces;
    bool at_start = true;
    const auto flush = [&] {  // runs of bytes: characters, or one U+FFFD a byte
        for (std::size_t i = 0; i < bytes.size();) {
            const auto n = static_cast<std::size_t>(utf8_size(bytes[i]));
            if (i + n <= bytes.size() && is_utf8(std::string_view(bytes).substr(i, n))) {
                out.append(bytes, i, n);
                i += n;
            } else {
                out += "\xEF\xBF\xBD";
                ++i;
            }
        }
        bytes.clear();
    };
    for (std::string_view piece : pieces) {
        const TokenId id = find(piece);
        const PieceType type =
            id >= 0 ? model_.pieces[static_cast<std::size_t>(id)].type : PieceType::normal;
        if (const int b = type == PieceType::byte ? byte_of_piece(piece) : -1; b >= 0) {
            bytes.push_back(static_cast<char>(b));
            continue;
        }
        if (!bytes.empty()) {
            flush();
            at_start = false;
        }
        if (type == PieceType::control) continue;
        if (type == PieceType::unknown) {
            out += model_.unk_surface;
            at_start = false;
            continue;
        }
        if (at_start && drop_first_space && piece.starts_with(space_mark)) {
            piece.remove_prefix(space_mark.size());
            // Where extra white space is removed, all of it goes; else only the dummy prefix.
            if (!model_.normalizer.remove_extra_whitespaces) at_start = false;
        }
        if (!piece.empty()) at_start = false;
        for (std::size_t i = 0; i < piece.size();) {
            if (piece.compare(i, space_mark.size(), space_mark) == 0) {
                out += ' ';
                i += space_mark.size();
            } else {
                out += piece[i++];
            }
        }
    }
    flush();
    return out;
}

}  // namespace fovea::text
