#include "fovea/text/steps/normalized_text.h"

namespace fovea::text {

void NormalizedText::assign(const NormalizedText& other, std::size_t begin, std::size_t end) {
    text_.assign(other.text_, begin, end - begin);
    reset(0, other.track_);
    moved_ = !other.track_ && !other.at_start(begin);
    if (!other.track_ || text_.empty()) return;
    if (other.same_ && other.lead_ == 0) {
        start_ = other.start_ + begin;
        return;
    }
    same_ = false;
    from_.resize(text_.size());
    for (std::size_t i = begin; i < end; ++i) from_[i - begin] = other.origin(i, i + 1);
}

void NormalizedText::prepend(std::string_view what) {
    if (text_.empty()) return;
    if (track_ && !same_) from_.insert(from_.begin(), what.size(), from_.front());
    if (same_) lead_ += what.size();
    text_.insert(0, what);
}

void TextEdit::keep_until(std::size_t end) {
    if (end <= at_) return;
    out_.text_.append(old_.text_, at_, end - at_);
    if (old_.track_) {
        if (!old_.same_) {
            out_.from_.insert(out_.from_.end(),
                              old_.from_.begin() + static_cast<std::ptrdiff_t>(at_),
                              old_.from_.begin() + static_cast<std::ptrdiff_t>(end));
        } else {
            for (std::size_t i = at_; i < end;) {
                const auto n = static_cast<std::size_t>(utf8_size(old_.text_[i]));
                out_.from_.insert(out_.from_.end(), n, old_.origin(i, i + n));
                i += n;
            }
        }
    }
    at_ = end;
}

}  // namespace fovea::text
