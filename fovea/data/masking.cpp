#include "fovea/data/masking.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/philox.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

constexpr std::uint32_t mask_purpose = 0x6d61736b;

// Does a piece continue the word before it? WordPiece marks such pieces ("##ing"); byte-level BPE
// and SentencePiece mark the others ("Ġthe", "▁the"), and punctuation is a word of its own.
bool continues_word(const std::string& piece, bool marks_continuation) {
    if (marks_continuation) return piece.starts_with("##");
    if (piece.empty() || piece.starts_with("Ġ") || piece.starts_with("▁")) return false;
    std::size_t at = 0;
    return text::has(next_code_point(piece, at), text::is_word);
}

}  // namespace

MaskVocabulary mask_vocabulary(const Tokenizer& tokenizer) {
    if (!tokenizer.mask_id())
        fail_with(ErrorKind::bad_input,
                  "a tokenizer with [MASK] or <mask> among its special tokens is wanted",
                  "masking: the tokenizer has no mask token");
    MaskVocabulary v;
    v.mask = *tokenizer.mask_id();
    const auto size = static_cast<std::size_t>(tokenizer.vocab_size());
    v.special.assign(size, 0);
    v.continues.assign(size, 0);
    const TokenizerSpec& spec = tokenizer.spec();
    const bool wordpiece = std::holds_alternative<WordPieceSpec>(spec.model);
    const bool words = std::holds_alternative<WordLevelSpec>(spec.model);
    for (std::size_t i = 0; i < size; ++i) {
        const auto id = static_cast<TokenId>(i);
        const std::optional<std::string> piece = tokenizer.id_to_token(id);
        v.special[i] = !piece || tokenizer.is_special(id);
        v.continues[i] = piece && !words && !v.special[i] && continues_word(*piece, wordpiece);
    }
    return v;
}

Masker::Masker(const MaskingOptions& options, MaskVocabulary vocabulary)
    : options_(options), vocabulary_(std::move(vocabulary)) {
    expect(options.share > 0 && options.share < 1, "masking: a share of ", options.share);
    expect(options.hidden >= 0 && options.replaced >= 0 && options.hidden + options.replaced <= 1,
           "masking: ", options.hidden, " hidden and ", options.replaced, " replaced");
    for (std::size_t i = 0; i < vocabulary_.special.size(); ++i)
        if (!vocabulary_.special[i]) ordinary_.push_back(static_cast<TokenId>(i));
    expect(!ordinary_.empty(), "masking: all tokens are special");
}

Masker::Draw Masker::draw(const TextRun& run, std::int64_t place, std::int64_t epoch) const {
    const auto time = static_cast<std::uint32_t>(options_.anew ? epoch : 0);
    const PhiloxBlock b = philox({static_cast<std::uint32_t>(place), time, run.again, mask_purpose},
                                 options_.seed * 0x9e3779b97f4a7c15ULL ^ run.document);
    return {static_cast<double>(b[0]) * 0x1p-32, static_cast<double>(b[1]) * 0x1p-32,
            std::uint64_t{b[2]} << 32 | b[3]};
}

TokenId Masker::masked(TokenId token, const Draw& d) const {
    if (d.fate < options_.hidden) return vocabulary_.mask;
    if (d.fate >= options_.hidden + options_.replaced) return token;
    return ordinary_[static_cast<std::size_t>(
        static_cast<unsigned __int128>(d.other) * ordinary_.size() >> 64)];
}

void Masker::mask(std::span<TokenId> tokens, std::span<const TextRun> runs, std::int64_t epoch,
                  std::int64_t first_row, ChosenTokens& chosen) const {
    constexpr double never = 2;
    std::vector<Draw> draws;
    double least = never;
    for (const TextRun& run : runs) {
        for (std::int64_t i = 0; i < run.size; ++i) {
            const auto id = static_cast<std::size_t>(tokens[draws.size()]);
            Draw d = draw(run, run.place + i, epoch);
            const bool inside = options_.whole_words && i > 0 && vocabulary_.continues[id];
            if (inside) d.choice = draws.back().choice;  // a word has its first token's
            if (vocabulary_.special[id]) d.choice = never;
            least = std::min(least, d.choice);
            draws.push_back(d);
        }
    }
    expect(draws.size() == tokens.size(), "masking: runs of ", draws.size(), " tokens for ",
           tokens.size());
    if (least == never) return;
    // A sequence in which nothing was chosen would teach nothing: then the likeliest is.
    const double below = std::max(options_.share, std::nextafter(least, never));
    for (std::size_t i = 0; i < draws.size(); ++i) {
        if (draws[i].choice >= below) continue;
        chosen.rows.push_back(static_cast<std::int32_t>(first_row + static_cast<std::int64_t>(i)));
        chosen.labels.push_back(tokens[i]);
        tokens[i] = masked(tokens[i], draws[i]);
    }
}

}  // namespace fovea
