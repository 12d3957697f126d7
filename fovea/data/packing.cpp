#include "fovea/data/packing.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

constexpr std::uint32_t shift_purpose = 0x73686966, pair_purpose = 0x70616972,
                        view_purpose = 0x76696577;

class PairMaker {
public:
    PairMaker(const TokenDocuments& documents, const PairOptions& options)
        : documents_(documents), options_(options), half_(options.length / 2) {}

    void take(std::int64_t d, std::vector<PackedText>& out) {
        // Nothing but the document's name, the seed and the epoch decides what is drawn for it.
        Rng rng(options_.seed ^ documents_.name(d), pair_purpose);
        rng.seek(static_cast<std::uint64_t>(options_.epoch) << 34);
        const TokenRange sentences = documents_.sentences_of(d);
        for (std::int64_t next = sentences.begin; next < sentences.end;) {
            std::int64_t seam = behind(next, sentences.end);
            // The document's last sentences: what would be one text is cut into two.
            const bool at_end = seam == sentences.end;
            if (at_end) seam = middle(next, sentences.end);
            if (seam == next) return;  // one sentence alone has no second text
            const std::int64_t stop = behind(seam, sentences.end);
            PackedText t{range(next, seam), range(seam, stop)};
            next = stop;
            if (rng.below(2) == 0) {
                t.follows = false;
                t.second = elsewhere(d, t.second.size(), rng);
                if (!at_end) next = seam;
            }
            out.push_back(t);
        }
    }

private:
    TokenRange range(std::int64_t first, std::int64_t stop) const {
        return {documents_.sentence(first).begin, text_end(stop - 1)};
    }
    // Where a sentence's own tokens end: the joint behind a document is no part of it.
    std::int64_t text_end(std::int64_t s) const { return documents_.sentence(s).end; }

    // One behind the last of the sentences from `first` that fit into a half; at least one.
    std::int64_t behind(std::int64_t first, std::int64_t end) const {
        const std::int64_t begin = documents_.sentence(first).begin;
        std::int64_t s = first + 1;
        while (s < end && text_end(s) - begin <= half_) ++s;
        return s;
    }

    // The seam nearest to the middle of the tokens; `first` where there is one sentence.
    std::int64_t middle(std::int64_t first, std::int64_t end) const {
        if (end - first < 2) return first;
        const std::int64_t begin = documents_.sentence(first).begin,
                           half = begin + (text_end(end - 1) - begin) / 2;
        std::int64_t s = first + 1;
        while (s + 1 < end && documents_.sentence(s).begin < half) ++s;
        return s;
    }

    // Whole sentences of another document, about `size` tokens of them.
    TokenRange elsewhere(std::int64_t d, std::int64_t size, Rng& rng) const {
        const TokenRange own = documents_.document(d);
        // A token of all those that are not of this document: longer documents are met more often.
        std::int64_t token = rng.below(documents_.size() - own.size());
        if (token >= own.begin) token += own.size();
        const std::int64_t other = documents_.document_at(token);
        const TokenRange sentences = documents_.sentences_of(other);
        const std::int64_t first = documents_.sentence_at(token);
        std::int64_t stop = first + 1;
        const std::int64_t begin = documents_.sentence(first).begin;
        while (stop < sentences.end && text_end(stop) - begin <= size) ++stop;
        return range(first, stop);
    }

    const TokenDocuments& documents_;
    PairOptions options_;
    std::int64_t half_;
};

bool is_together(const TranslationOptions& o, std::uint64_t document) {
    if (o.view != TranslationView::either) return o.view == TranslationView::together;
    Rng rng(o.seed ^ document, view_purpose);
    rng.seek(static_cast<std::uint64_t>(o.epoch) << 34);
    return rng.below(2) == 0;
}

}  // namespace

std::vector<PackedText> translations(const TokenDocuments& documents, const TranslationOptions& o) {
    expect(o.length >= 2 && o.alone_length >= 1, "translations: sequences of ", o.length, " and ",
           o.alone_length, " tokens");
    std::vector<PackedText> out;
    for (std::int64_t d = 0; d < documents.documents(); ++d) {
        const TokenRange texts = documents.sentences_of(d);
        if (texts.size() != 2) continue;
        TokenRange first = documents.sentence(texts.begin),
                   second = documents.sentence(texts.begin + 1);
        if (is_together(o, documents.name(d))) {
            while (first.size() + second.size() > o.length)
                --(first.size() > second.size() ? first : second).end;
            out.push_back({first, second});
        } else {
            first.end = std::min(first.end, first.begin + o.alone_length);
            second.end = std::min(second.end, second.begin + o.alone_length);
            out.push_back({first, {}});
            out.push_back({{}, second});
        }
    }
    return out;
}

std::vector<PackedText> causal_contexts(std::int64_t tokens, const ContextOptions& o) {
    expect(o.length >= 1 && o.shift >= 0, "contexts of ", o.length, " tokens from ", o.shift);
    std::vector<PackedText> contexts;
    // The last token is a target only.
    for (std::int64_t at = o.shift; at + 1 < tokens; at += o.length) {
        const std::int64_t end = std::min(at + o.length, tokens - 1);
        if (end - at < o.length && !o.keep_rest && !contexts.empty()) break;
        contexts.push_back({{at, end}});
    }
    return contexts;
}

std::int64_t context_shift(std::int64_t length, std::uint64_t seed, std::int64_t epoch) {
    Rng rng(seed, shift_purpose);
    rng.seek(static_cast<std::uint64_t>(epoch));
    return rng.below(length);
}

std::vector<PackedText> sentence_blocks(const TokenDocuments& documents, std::int64_t length) {
    std::vector<PackedText> blocks;
    TokenRange block;
    for (std::int64_t s = 0; s < documents.sentences(); ++s) {
        const TokenRange sentence = documents.sentence(s);
        expect(sentence.size() <= length + 1, "blocks: a sentence has ", sentence.size(),
               " tokens, but a block takes ", length);
        if (sentence.end - block.begin > length && block.size() > 0) {
            blocks.push_back({block});
            block.begin = sentence.begin;
        }
        block.end = std::min(sentence.end, block.begin + length);
    }
    if (block.size() > 0) blocks.push_back({block});
    return blocks;
}

std::vector<PackedText> sentence_pairs(const TokenDocuments& documents, const PairOptions& o) {
    expect(documents.documents() >= 2, "pairs: there is ", documents.documents(),
           " document, but a second text comes from another one");
    std::vector<PackedText> pairs;
    PairMaker maker(documents, o);
    for (std::int64_t d = 0; d < documents.documents(); ++d) maker.take(d, pairs);
    return pairs;
}

}  // namespace fovea
