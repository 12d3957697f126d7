#include "fovea/text/tokenizer.h"
#include "fovea/text/unicode/utf8.h"

namespace fovea {

namespace {
// Ids that are kept as context: a decoder may look at its neighbours (spaces, byte runs), never
// further back than this.
constexpr std::size_t context = 6;
constexpr std::size_t longest_wait = 32;
constexpr std::string_view replacement = "\xEF\xBF\xBD";

// "<0x41>". ByteFallback takes a run of such tokens as one: if its bytes are not UTF-8, all of them
// become U+FFFD, also those that were fine so far. So nothing of a run is certain before its end.
bool is_byte_token(std::string_view token) {
    return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer), skip_special_(skip_special) {}

std::string StreamDecoder::push(TokenId id) {
    // Ids that decode leaves out do not end a run of bytes either.
    const std::optional<std::string> token = tokenizer_->id_to_token(id);
    if (!token || (skip_special_ && tokenizer_->is_special(id))) return {};
    ids_.push_back(id);
    if (is_byte_token(*token)) return {};
    const std::string text = tokenizer_->decode(ids_, skip_special_);
    // A trailing U+FFFD may be the start of a character whose bytes are still to come.
    if (text.ends_with(replacement) && ids_.size() - settled_ < longest_wait) return {};
    // A decoder that changes what it has said (WordPiece's clean-up joins "do n't") cannot be
    // followed exactly: go on from its new text.
    std::string fresh = text.starts_with(given_) ? text.substr(given_.size()) : std::string();
    settled_ = ids_.size();
    if (settled_ > 2 * context) {
        ids_.erase(ids_.begin(), ids_.end() - static_cast<std::ptrdiff_t>(context));
        settled_ = ids_.size();
        given_ = tokenizer_->decode(ids_, skip_special_);
    } else {
        given_ = text;
    }
    return fresh;
}

std::string StreamDecoder::finish() {
    const std::string text = tokenizer_->decode(ids_, skip_special_);
    std::string rest = text.starts_with(given_) ? text.substr(given_.size()) : std::string();
    ids_.clear();
    given_.clear();
    settled_ = 0;
    return rest;
}

}  // namespace fovea
