#include "fovea/text/pipeline.h"

#include <algorithm>
#include <limits>

#include "fovea/base/error.h"

namespace fovea::text {

namespace {

std::string normalized(const NormalizerChain& chain, std::string_view s) {
    NormalizedText text;
    NormalizerScratch scratch;
    text.assign(s, 0, false);
    chain.apply(text, scratch);
    return text.text();
}

}  // namespace

Pipeline::Pipeline(TokenizerSpec spec)
    : spec_(std::move(spec)), normalizer_(spec_.normalizer), pre_tokenizer_(spec_.pre_tokenizer) {
    if (const auto* m = std::get_if<WordPieceSpec>(&spec_.model)) model_.emplace<WordPiece>(*m);
    if (const auto* m = std::get_if<UnigramSpec>(&spec_.model)) model_.emplace<Unigram>(*m);
    if (const auto* m = std::get_if<WordLevelSpec>(&spec_.model)) model_.emplace<WordLevel>(*m);
    if (const auto* m = std::get_if<BpeSpec>(&spec_.model)) {
        raw_bytes_ = pre_tokenizer_.ends_in_bytes() && Bpe::can_take_bytes(*m);
        model_.emplace<Bpe>(*m, raw_bytes_);
    }
    if (const auto* m = std::get_if<SentencePieceSpec>(&spec_.model))
        spm_ = std::make_unique<SpmEncoder>(parse_sentencepiece(m->proto, "SentencePiece model"),
                                            "SentencePiece model");
    add_tokens();
    find_added_tokens();
}

// Ids as tokenizers gives them when it reads a file: that of the model where it has the token, else
// the next free one. What the file says is not looked at.
void Pipeline::add_tokens() {
    std::vector<AddedToken> kept;
    TokenId next = static_cast<TokenId>(model_size());
    for (AddedToken& t : spec_.added_tokens) {
        if (t.content.empty()) continue;
        if (t.special) specials_.insert(t.content);
        const TokenId known = find(t.content);
        t.id = known >= 0 ? known : next;
        added_.add(t.content, t.id);
        if (t.id >= next) next = t.id + 1;
        const auto same = std::find_if(kept.begin(), kept.end(),
                                       [&](const AddedToken& k) { return k.content == t.content; });
        if (same != kept.end())
            *same = std::move(t);
        else
            kept.push_back(std::move(t));
    }
    spec_.added_tokens = std::move(kept);
    end_id_ = added_.end_id();
    std::visit(
        [&](const auto& m) {
            using T = std::decay_t<decltype(m)>;
            TokenId end = 0;
            if constexpr (std::is_same_v<T, UnigramSpec>)
                end = static_cast<TokenId>(m.vocab.size());
            else if constexpr (std::is_same_v<T, SentencePieceSpec>)
                end =
                    m.remap ? m.remap->end_id() : static_cast<TokenId>(spm_->model().pieces.size());
            else
                end = m.vocab.end_id();
            end_id_ = std::max(end_id_, end);
        },
        spec_.model);
}

void Pipeline::find_added_tokens() {
    std::vector<AddedToken> raw, normal;
    std::vector<std::string> raw_patterns, normal_patterns;
    for (const bool special : {true, false})
        for (const AddedToken& t : spec_.added_tokens) {
            if (t.special != special) continue;
            if (t.normalized) {
                normal.push_back(t);
                normal_patterns.push_back(normalized(normalizer_, t.content));
                if (normal_patterns.back() != t.content) shown_[t.id] = normal_patterns.back();
            } else {
                raw.push_back(t);
                raw_patterns.push_back(t.content);
            }
        }
    raw_finder_ = std::make_unique<AddedTokenFinder>(std::move(raw), raw_patterns);
    normalized_finder_ = std::make_unique<AddedTokenFinder>(std::move(normal), normal_patterns);
}

std::size_t Pipeline::model_size() const {
    return std::visit(
        [&](const auto& m) -> std::size_t {
            using T = std::decay_t<decltype(m)>;
            if constexpr (std::is_same_v<T, SentencePieceSpec>)
                return m.remap ? m.remap->size() : spm_->model().pieces.size();
            else
                return m.vocab.size();
        },
        spec_.model);
}

TokenId Pipeline::model_find(std::string_view token) const {
    return std::visit(
        [&](const auto& m) -> TokenId {
            using T = std::decay_t<decltype(m)>;
            if constexpr (std::is_same_v<T, UnigramSpec>)
                return std::get<Unigram>(model_).find(token);
            else if constexpr (std::is_same_v<T, SentencePieceSpec>)
                return m.remap ? m.remap->find(token) : spm_->find(token);
            else
                return m.vocab.find(token);
        },
        spec_.model);
}

std::string_view Pipeline::model_token(TokenId id) const {
    return std::visit(
        [&](const auto& m) -> std::string_view {
            using T = std::decay_t<decltype(m)>;
            const auto i = static_cast<std::size_t>(id);
            if constexpr (std::is_same_v<T, UnigramSpec>) {
                return id >= 0 && i < m.vocab.size() ? m.vocab[i].piece : std::string_view();
            } else if constexpr (std::is_same_v<T, SentencePieceSpec>) {
                if (m.remap) return m.remap->token(id);
                const auto& pieces = spm_->model().pieces;
                return id >= 0 && i < pieces.size() ? pieces[i].text : std::string_view();
            } else {
                return m.vocab.token(id);
            }
        },
        spec_.model);
}

TokenId Pipeline::find(std::string_view token) const {
    const TokenId id = added_.find(token);
    return id >= 0 ? id : model_find(token);
}

std::string_view Pipeline::token(TokenId id) const {
    if (!shown_.empty())
        if (const auto at = shown_.find(id); at != shown_.end()) return at->second;
    const std::string_view t = added_.token(id);
    return t.data() ? t : model_token(id);
}

// ---- encoding ----

struct Pipeline::Run {
    const Pipeline& p;
    Workspace& work;
    bool full;
    Rng* dropout;
    Sequence& out = work.sequence;

    void add(TokenId id, TextSpan span) {
        out.ids.push_back(id);
        if (full) {
            out.spans.push_back(span);
            out.words.push_back(out.word_count);
        }
    }

    void added_token(const AddedToken& t, TextSpan span, std::string_view text) {
        if (full) out.names.push_back({out.ids.size(), std::string(text)});
        add(t.id, span);
        ++out.word_count;
    }

    // The whole text: what lies between tokens that are looked for as they stand.
    void text(std::string_view s) {
        if (p.raw_finder_->empty()) return segment(s, 0);
        p.raw_finder_->find(s, work.raw_matches);
        std::size_t at = 0;
        for (const AddedMatch& m : work.raw_matches) {
            if (at < m.range.begin) segment(s.substr(at, m.range.begin - at), at);
            added_token(
                p.raw_finder_->token(m.token),
                {static_cast<std::int32_t>(m.range.begin), static_cast<std::int32_t>(m.range.end)},
                s.substr(m.range.begin, m.range.end - m.range.begin));
            at = m.range.end;
        }
        if (at < s.size()) segment(s.substr(at), at);
    }

    // A part without such tokens: normalised, then cut at tokens of the normalised text.
    void segment(std::string_view s, std::size_t start) {
        if (s.empty()) return;
        work.text.assign(s, start, full || p.pre_tokenizer_.needs_origins());
        p.normalizer_.apply(work.text, work.pre.normalizer);
        NormalizedText& t = work.text;
        if (!p.normalized_finder_->empty()) {
            p.normalized_finder_->find(t.text(), work.matches);
            if (!work.matches.empty()) return pieces(t);
        }
        words(t);
    }

    void pieces(const NormalizedText& t) {
        const auto between = [&](std::size_t begin, std::size_t end) {
            work.piece.assign(t, begin, end);
            words(work.piece);
        };
        std::size_t at = 0;
        for (const AddedMatch& m : work.matches) {
            if (at < m.range.begin) between(at, m.range.begin);
            added_token(
                p.normalized_finder_->token(m.token),
                full ? t.origin(m.range.begin, m.range.end) : TextSpan{},
                std::string_view(t.text()).substr(m.range.begin, m.range.end - m.range.begin));
            at = m.range.end;
        }
        if (at < t.text().size()) between(at, t.text().size());
    }

    void words(NormalizedText& t) {
        if (t.text().empty()) return;
        if (p.spm_) return sentence(t);
        p.pre_tokenizer_.apply(t, work.words, work.pre, p.raw_bytes_);
        std::visit(
            [&](const auto& m) {
                if constexpr (!std::is_same_v<std::decay_t<decltype(m)>, std::monostate>)
                    for (const ByteRange& w : work.words) word(m, t, w);
            },
            p.model_);
    }

    template <class Model>
    void word(const Model& m, const NormalizedText& t, ByteRange w) {
        const std::string_view s = std::string_view(t.text()).substr(w.begin, w.end - w.begin);
        if constexpr (std::is_same_v<Model, Bpe>) {
            // Long words (whole texts, where there is no pre-tokeniser) fall into parts.
            if (m.has_parts() && !WordCache::fits(s) && !dropout) {
                std::uint32_t done = w.begin;
                for (std::size_t begin = 0; begin < s.size();) {
                    const std::size_t end = m.part_end(s, begin);
                    done = part(m, t, s.substr(begin, end - begin), done);
                    begin = end;
                }
                ++out.word_count;
                return;
            }
        }
        part(m, t, s, w.begin);
        ++out.word_count;
    }

    // Adds the tokens of a word whose first byte is at `at`; returns the end of the last one.
    template <class Model>
    std::uint32_t part(const Model& m, const NormalizedText& t, std::string_view s,
                       std::uint32_t at) {
        WordTokens& tokens = work.tokens;
        if (WordCache::fits(s) && !dropout) {
            bool hit = false;
            WordCache::Entry& e = work.cache.place(s, hit);
            if (hit) return plain(m, t, e.tokens(), s.size(), at);
            run(m, s, tokens);
            if (tokens.plain()) work.cache.store(e, s, tokens.ids);
        } else {
            run(m, s, tokens);
        }
        if (tokens.plain()) return plain(m, t, tokens.ids, s.size(), at);
        std::uint32_t end = at;
        for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
            const ByteRange r = tokens.ranges[i];
            end = at + r.end;
            if (full && is_unknown(tokens.ids[i]))
                out.names.push_back(
                    {out.ids.size(), std::string(s.substr(r.begin, r.end - r.begin))});
            add(tokens.ids[i], full && r.end > r.begin ? t.origin(at + r.begin, end) : TextSpan{});
        }
        return end;
    }

    template <class Model>
    std::uint32_t plain(const Model& m, const NormalizedText& t, std::span<const TokenId> ids,
                        std::size_t size, std::uint32_t at) {
        if (!full) {
            out.ids.insert(out.ids.end(), ids.begin(), ids.end());
            return at + static_cast<std::uint32_t>(size);
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::size_t n = m.length(ids[i], i == 0, i + 1 == ids.size(), size);
            add(ids[i], t.origin(at, at + n));
            at += static_cast<std::uint32_t>(n);
        }
        return at;
    }

    template <class Model>
    void run(const Model& m, std::string_view s, WordTokens& tokens) {
        if constexpr (std::is_same_v<Model, Bpe>)
            m.encode(s, tokens, work.bpe, dropout);
        else if constexpr (std::is_same_v<Model, Unigram>)
            m.encode(s, tokens, work.unigram);
        else
            m.encode(s, tokens);
    }

    // Only unigram shows unknown text as it is.
    bool is_unknown(TokenId id) const {
        const auto* u = std::get_if<UnigramSpec>(&p.spec_.model);
        return u && u->unk_id == id;
    }

    void sentence(const NormalizedText& t) {
        const auto& spec = std::get<SentencePieceSpec>(p.spec_.model);
        work.spm_tokens.clear();
        p.spm_->encode(t.text(), full, work.spm_tokens, work.spm);
        const TokenId unk = p.spm_->model().unk_id;
        bool first = true;
        for (const SpmToken& token : work.spm_tokens) {
            TextSpan span{};
            if (full) {
                const auto [begin, end] = token.origin;
                const std::size_t size = t.text().size();
                if (begin < end) {
                    span = t.origin(begin, end);
                } else {
                    span.begin = begin < size ? t.origin(begin, begin + 1).begin
                                              : t.origin(size - 1, size).end;
                    span.end = span.begin;
                }
            }
            const std::string_view piece =
                std::string_view(work.spm.text)
                    .substr(token.piece.begin, token.piece.end - token.piece.begin);
            TokenId id = token.id;
            bool named = id == unk;
            if (spec.remap) {
                const std::string_view name =
                    id == unk ? piece
                              : std::string_view(
                                    p.spm_->model().pieces[static_cast<std::size_t>(id)].text);
                id = spec.remap->find(name);
                if (id < 0) {
                    id = spec.remap->find(spec.remap_unk);
                    expect_input(id >= 0, "SentencePiece: vocab.json has no \"", spec.remap_unk,
                                 "\"");
                    named = true;
                }
            }
            if (full && named) out.names.push_back({out.ids.size(), std::string(piece)});
            // SentencePiece has no words; here a piece with the mark of white space starts one.
            if (piece.starts_with("\xE2\x96\x81") && !first) ++out.word_count;
            first = false;
            add(id, span);
        }
        ++out.word_count;
    }
};

void Pipeline::encode(std::string_view text, bool full, Rng* dropout, Workspace& work) const {
    expect_input(
        text.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / 8,
        "tokenizer: a text of ", text.size(), " bytes is too long");
    work.sequence.clear();
    Run{*this, work, full, dropout}.text(text);
}

}  // namespace fovea::text
