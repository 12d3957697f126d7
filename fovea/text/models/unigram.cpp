#include "fovea/text/models/unigram.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea::text {

namespace {
constexpr double unk_penalty = 10.0;
constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Unigram::Unigram(const UnigramSpec& spec) : spec_(&spec) {
    if (spec.unk_id)
        expect_input(
            *spec.unk_id >= 0 && static_cast<std::size_t>(*spec.unk_id) < spec.vocab.size(),
            "Unigram: unk_id is ", *spec.unk_id, " but the vocabulary has ", spec.vocab.size(),
            " pieces");
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(spec.vocab.size());
    scores_.reserve(spec.vocab.size());
    double lowest = std::numeric_limits<double>::infinity();
    for (const UnigramPiece& p : spec.vocab) {
        keys.push_back({p.piece, static_cast<std::int32_t>(keys.size())});
        scores_.push_back(p.score);
        lowest = std::min(lowest, p.score);
    }
    unk_score_ = lowest - unk_penalty;
    trie_ = ByteTrie(std::move(keys));
    byte_ids_.fill(-1);
    if (spec.byte_fallback) {
        static const char digits[] = "0123456789ABCDEF";
        for (unsigned b = 0; b < 256; ++b) {
            const char name[] = {'<', '0', 'x', digits[b >> 4], digits[b & 15], '>'};
            byte_ids_[b] = find({name, sizeof name});
        }
    }
}

TokenId Unigram::find(std::string_view piece) const {
    ByteTrie::Base at = trie_.root();
    std::int32_t value = ByteTrie::no_value;
    for (const char c : piece)
        if (!trie_.step(at, static_cast<unsigned char>(c), value)) return -1;
    return value;
}

void Unigram::encode(std::string_view word, WordTokens& out, UnigramScratch& scratch) const {
    out.clear();
    const std::size_t size = word.size();
    auto& ends = scratch.ends;
    ends.assign(size + 1, {0, 0, unreached});
    const TokenId unk = spec_->unk_id.value_or(-1);
    for (std::size_t begin = 0; begin < size;) {
        const double here = ends[begin].score;
        const auto char_size = static_cast<std::size_t>(utf8_size(word[begin]));
        const auto offer = [&](std::size_t end, double score, TokenId id) {
            UnigramScratch::Node& n = ends[end];
            if (n.start == unreached || score > n.score)
                n = {score, id, static_cast<std::uint32_t>(begin)};
        };
        bool whole_char = false;
        ByteTrie::Base at = trie_.root();
        std::int32_t id = 0;
        for (std::size_t i = begin; i < size; ++i) {
            if (!trie_.step(at, static_cast<unsigned char>(word[i]), id)) break;
            if (id < 0) continue;
            offer(i + 1, scores_[static_cast<std::size_t>(id)] + here, id);
            whole_char |= i + 1 - begin == char_size;
        }
        if (!whole_char) {
            expect_input(unk >= 0,
                         "Unigram: the text has an unknown character but the model has no unk_id");
            offer(begin + char_size, unk_score_ + here, unk);
        }
        begin += char_size;
    }

    // Back from the end; neighbouring unknown pieces become one.
    bool plain = true;
    for (std::size_t end = size; end > 0;) {
        const UnigramScratch::Node& n = ends[end];
        const ByteRange range{n.start, static_cast<std::uint32_t>(end)};
        if (n.id == unk && !out.ids.empty() && out.ids.back() == unk &&
            out.ranges.back().begin == range.end)
            out.ranges.back().begin = range.begin;
        else {
            out.ids.push_back(n.id);
            out.ranges.push_back(range);
        }
        plain &= n.id != unk;
        end = n.start;
    }
    std::reverse(out.ids.begin(), out.ids.end());
    std::reverse(out.ranges.begin(), out.ranges.end());
    if (plain) {
        out.ranges.clear();
        return;
    }
    // Unknown text may be the spelling of a piece after all ("<unk>" itself), or fall to bytes.
    WordTokens resolved;
    for (std::size_t i = 0; i < out.ids.size(); ++i) {
        const ByteRange r = out.ranges[i];
        if (out.ids[i] != unk) {
            resolved.ids.push_back(out.ids[i]);
            resolved.ranges.push_back(r);
            continue;
        }
        const std::string_view text = word.substr(r.begin, r.end - r.begin);
        const TokenId known = find(text);
        bool bytes = known < 0 && spec_->byte_fallback;
        for (const char c : text) bytes = bytes && byte_ids_[static_cast<unsigned char>(c)] >= 0;
        if (bytes) {
            for (const char c : text) {
                resolved.ids.push_back(byte_ids_[static_cast<unsigned char>(c)]);
                resolved.ranges.push_back(r);
            }
        } else {
            resolved.ids.push_back(known >= 0 ? known : unk);
            resolved.ranges.push_back(r);
        }
    }
    std::swap(out, resolved);
}

}  // namespace fovea::text
