#pragma once
// A text on its way through the normalisers, and where each of its bytes comes from.
//
// The rules are those of tokenizers' NormalizedString, so that offsets agree: a byte belongs to a
// whole character of the original; a character that replaces another keeps its origin; an inserted
// one takes the origin of the character before it; a removed one is nobody's origin any more.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/base/utf8.h"
#include "fovea/text/encoding.h"

namespace fovea::text {

class NormalizedText {
public:
    // Text that starts `start` bytes into the original; every character stands for itself.
    void assign(std::string_view text, std::size_t start, bool track) {
        text_.assign(text);
        reset(start, track);
    }
    // The piece [begin, end) of another text, origins included.
    void assign(const NormalizedText& other, std::size_t begin, std::size_t end);
    void reset(std::size_t start, bool track) {
        from_.clear();
        same_ = true;
        lead_ = 0;
        start_ = start;
        track_ = track;
        moved_ = false;
    }
    // Puts `what` before a non-empty text, with the origin of its first character.
    void prepend(std::string_view what);

    const std::string& text() const { return text_; }
    std::string& text() { return text_; }  // changes must keep characters where they are
    bool tracked() const { return track_; }
    bool same() const { return same_; }  // no origins kept: each character stands for itself

    // Origin, as bytes of the original text, of the non-empty piece [begin, end).
    TextSpan origin(std::size_t begin, std::size_t end) const {
        if (!same_) return {from_[begin].begin, from_[end - 1].end};
        if (lead_ > 0) {
            begin = begin > lead_ ? begin : lead_;
            end = end > lead_ ? end : lead_ + 1;
        }
        while (begin > lead_ && is_continuation(text_[begin])) --begin;
        while (end < text_.size() && is_continuation(text_[end])) ++end;
        return {static_cast<std::int32_t>(start_ + begin - lead_),
                static_cast<std::int32_t>(start_ + end - lead_)};
    }

    // Whether the character at `begin` comes from the very start of the original. Known without
    // tracking for the first character only.
    bool at_start(std::size_t begin) const {
        if (track_) return origin(begin, begin + 1).begin == 0;
        return begin == 0 && start_ == 0 && !moved_;
    }

private:
    friend class TextEdit;
    std::string text_;
    std::vector<TextSpan> from_;  // one per byte, unless same_
    bool same_ = true;
    bool track_ = true;
    bool moved_ = false;  // untracked: characters before the first one were dropped
    std::size_t start_ = 0;
    std::size_t lead_ = 0;  // bytes at the front that were put there (only while same_)
};

// Rewrites a text character by character, left to right. What has not been consumed when it is
// destroyed is gone.
class TextEdit {
public:
    // `spare` is a buffer that is swapped in; its content does not matter.
    TextEdit(NormalizedText& text, NormalizedText& spare) : old_(text), out_(spare) {
        out_.text_.clear();
        out_.from_.clear();
        out_.text_.reserve(old_.text_.size() + 16);
        if (old_.track_) out_.from_.reserve(old_.text_.size() + 16);
    }
    ~TextEdit() {
        old_.text_.swap(out_.text_);
        if (old_.track_) {
            old_.from_.swap(out_.from_);
            old_.same_ = false;
        }
        old_.lead_ = 0;
    }
    TextEdit(const TextEdit&) = delete;
    TextEdit& operator=(const TextEdit&) = delete;

    bool done() const { return at_ >= old_.text_.size(); }
    std::size_t position() const { return at_; }
    Utf8Char peek() const { return read_char(old_.text_.data() + at_); }

    void skip() {
        if (out_.text_.empty()) old_.moved_ = true;
        advance();
    }
    void keep() { replace(peek().code); }
    void keep_until(std::size_t end);  // everything up to a byte of the old text
    std::size_t written() const { return out_.text_.size(); }

    // c in place of the next character (of nothing, at the end of the text).
    void replace(char32_t c) {
        const TextSpan from = origin_at(at_);
        if (!done()) advance();
        write(c, from);
    }
    // c in addition, after what has been consumed so far.
    void insert(char32_t c) { write(c, at_ == 0 ? TextSpan{} : origin_at(at_ - 1)); }
    void insert(std::string_view s) {
        for (std::size_t i = 0; i < s.size();) {
            const Utf8Char c = read_char(s.data() + i);
            insert(c.code);
            i += static_cast<std::size_t>(c.size);
        }
    }
    // The calculus of tokenizers' transform(): change > 0 inserts, 0 replaces, -n replaces and
    // then drops n more.
    void apply(char32_t c, std::int64_t change) {
        if (change > 0) {
            insert(c);
        } else {
            replace(c);
            for (; change < 0 && !done(); ++change) skip();
        }
    }

private:
    void advance() { at_ += static_cast<std::size_t>(utf8_size(old_.text_[at_])); }
    TextSpan origin_at(std::size_t i) const {
        if (!old_.track_ || old_.text_.empty()) return {};
        if (i >= old_.text_.size()) i = old_.text_.size() - 1;
        return old_.origin(i, i + 1);
    }
    void write(char32_t c, TextSpan from) {
        char bytes[4];
        const auto n = static_cast<std::size_t>(write_char(c, bytes));
        out_.text_.append(bytes, n);
        if (old_.track_) out_.from_.insert(out_.from_.end(), n, from);
    }

    NormalizedText& old_;
    NormalizedText& out_;
    std::size_t at_ = 0;
};

}  // namespace fovea::text
