#include "fovea/text/tokenizer.h"
#include "fovea/text/utf8.h"

namespace fovea {

namespace {
// Ids that are kept as context: a decoder may look at its neighbours (spaces, byte runs), never
// further back than this.
constexpr std::size_t context = 6;
constexpr std::size_t longest_wait = 32;
constexpr std::string_view replacement = "\xEF\xBF\xBD";
}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer), skip_special_(skip_special) {}

std::string StreamDecoder::push(TokenId id) {
    ids_.push_back(id);
    const std::string text = tokenizer_->decode(ids_, skip_special_);
    // A trailing U+FFFD may be the start of a character whose bytes are still to come.
    const bool waits = text.ends_with(replacement) && ids_.size() - settled_ < longest_wait;
    if (waits || text.size() <= given_.size() || !text.starts_with(given_)) return {};
    std::string fresh = text.substr(given_.size());
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
