#include "fovea/base/utf8.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

namespace {
// Ids that are kept as context: a decoder may look at its neighbours (spaces, byte runs), never
// further back than this. A character has at most four bytes, and a token at least one.
constexpr std::size_t context = 6;

// "<0x41>". ByteFallback takes a run of such tokens as one: if its bytes are not UTF-8, all of them
// become U+FFFD, also those that were fine so far. So nothing of a run is certain before its end.
bool is_byte_token(std::string_view token) {
    return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer), skip_special_(skip_special) {}

// The part of a decoded text that no further id can change. A last U+FFFD may be the start of a
// character whose bytes are still to come; what stands before it is settled, U+FFFD or not (the
// maximal-subpart rule of repair_utf8 never looks further back).
std::string StreamDecoder::settled_text() const {
    std::string text = tokenizer_->decode(ids_, skip_special_);
    if (text.ends_with(replacement_utf8)) text.resize(text.size() - replacement_utf8.size());
    return text;
}

std::string StreamDecoder::push(TokenId id) {
    // Ids that decode leaves out do not end a run of bytes either.
    const std::optional<std::string> token = tokenizer_->id_to_token(id);
    if (!token || (skip_special_ && tokenizer_->is_special(id))) return {};
    ids_.push_back(id);
    if (is_byte_token(*token)) return {};
    std::string text = settled_text();
    // A decoder that changes what it has said (WordPiece's clean-up joins "do n't") cannot be
    // followed exactly: go on from its new text.
    std::string fresh = text.starts_with(given_) ? text.substr(given_.size()) : std::string();
    if (ids_.size() > 2 * context) {
        ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(context));
        text = settled_text();
    }
    given_ = std::move(text);
    return fresh;
}

std::string StreamDecoder::finish() {
    const std::string text = tokenizer_->decode(ids_, skip_special_);
    std::string rest = text.starts_with(given_) ? text.substr(given_.size()) : std::string();
    ids_.clear();
    given_.clear();
    return rest;
}

}  // namespace fovea
