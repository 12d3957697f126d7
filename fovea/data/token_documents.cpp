#include "fovea/data/token_documents.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/data/sentences.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::size_t encoded_at_once = std::size_t{4} << 20;  // bytes of text

std::int64_t last_not_above(const std::vector<std::int64_t>& rising, std::int64_t value) {
    const auto after = std::upper_bound(rising.begin(), rising.end(), value);
    return static_cast<std::int64_t>(after - rising.begin()) - 1;
}

std::int64_t at(const std::vector<std::int64_t>& v, std::int64_t i, std::int64_t otherwise) {
    return i < static_cast<std::int64_t>(v.size()) ? v[static_cast<std::size_t>(i)] : otherwise;
}

}  // namespace

std::uint64_t document_name(std::uint64_t before, std::string_view text) {
    const Key128 key = key_of(text);
    // One round of splitmix64 between pieces: their order counts.
    return (before * 0x9e3779b97f4a7c15ULL ^ (before >> 29)) + key.low;
}

TokenRange TokenDocuments::sentences_of(std::int64_t d) const {
    return {at(documents_, d, sentences()), at(documents_, d + 1, sentences())};
}

TokenRange TokenDocuments::sentence(std::int64_t s) const {
    return {at(sentences_, s, total_), at(sentences_, s + 1, total_)};
}

TokenRange TokenDocuments::document(std::int64_t d) const {
    const TokenRange s = sentences_of(d);
    return {at(sentences_, s.begin, total_), at(sentences_, s.end, total_)};
}

std::int64_t TokenDocuments::sentence_at(std::int64_t token) const {
    return last_not_above(sentences_, token);
}

std::int64_t TokenDocuments::document_at(std::int64_t token) const {
    return last_not_above(documents_, sentence_at(token));
}

std::int64_t TokenDocuments::memory() const {
    return static_cast<std::int64_t>(
        row_.capacity() * sizeof(TokenId) +
        (sentences_.capacity() + documents_.capacity() + names_.capacity()) * sizeof(std::int64_t));
}

TokenDocuments TokenDocuments::take_tail(double share) {
    expect(share > 0 && share < 1, "take_tail: the share is ", share);
    const auto wanted = static_cast<std::int64_t>((1 - share) * static_cast<double>(total_));
    std::int64_t first = last_not_above(sentences_, wanted);  // the sentence the cut falls into
    std::int64_t cut = wanted;
    if (has_sentences_) cut = at(sentences_, ++first, total_);
    TokenDocuments tail;
    tail.has_sentences_ = has_sentences_;
    if (cut >= total_) return tail;
    const std::int64_t d = document_at(cut);
    const std::span<const TokenId> all = tokens();
    tail.row_.assign(all.begin() + cut, all.end());
    tail.total_ = static_cast<std::int64_t>(tail.row_.size());
    tail.sentences_.push_back(0);
    for (std::int64_t s = first + 1; s < sentences(); ++s)
        tail.sentences_.push_back(at(sentences_, s, 0) - cut);
    tail.documents_.push_back(0);
    tail.names_.push_back(name(d) + 1);  // it says something else than the whole
    for (std::int64_t k = d + 1; k < documents(); ++k) {
        tail.documents_.push_back(at(documents_, k, 0) - first);
        tail.names_.push_back(name(k));
    }
    if (in_memory_) row_.resize(static_cast<std::size_t>(cut));
    total_ = cut;
    const std::int64_t kept = has_sentences_ ? first : first + 1;
    sentences_.resize(static_cast<std::size_t>(kept));
    while (documents() > 0 && documents_.back() >= kept) documents_.pop_back(), names_.pop_back();
    return tail;
}

TokenDocumentsMaker::TokenDocumentsMaker(const Tokenizer& tokenizer,
                                         const TokenDocumentsOptions& options)
    : tokenizer_(tokenizer), options_(options) {
    made_.has_sentences_ = options.sentences;
}

TokenDocumentsMaker::~TokenDocumentsMaker() = default;

void TokenDocumentsMaker::add(std::string_view text, bool last) {
    name_ = document_name(name_, text);
    if (options_.sentences) {
        for (const TextPart& p : split_sentences(text))
            texts_.emplace_back(text.substr(p.begin, p.end - p.begin));
    } else if (!text.empty()) {
        texts_.emplace_back(text);
    }
    waiting_bytes_ += text.size();
    if (last) end_waiting();
    if (waiting_bytes_ >= encoded_at_once) encode_waiting();
}

void TokenDocumentsMaker::add(std::span<const std::string_view> texts, bool last) {
    if (texts.size() == 1) return add(texts[0], last);
    for (const std::string_view text : texts) {
        name_ = document_name(name_, text);
        texts_.emplace_back(text);
        waiting_bytes_ += text.size();
    }
    end_waiting();
    if (waiting_bytes_ >= encoded_at_once) encode_waiting();
}

void TokenDocumentsMaker::end_waiting() {
    endings_.push_back({texts_.size(), name_});
    name_ = 0;
}

void TokenDocumentsMaker::encode_waiting() {
    const std::vector<std::vector<TokenId>> ids = tokenizer_.encode_ids_batch(texts_, false);
    std::size_t ending = 0;
    for (std::size_t i = 0; i <= ids.size(); ++i) {
        for (; ending < endings_.size() && endings_[ending].texts == i; ++ending)
            end_document(endings_[ending].name);
        if (i < ids.size()) put_sentence(ids[i]);
    }
    texts_.clear();
    endings_.clear();
    waiting_bytes_ = 0;
}

void TokenDocumentsMaker::put_sentence(std::span<const TokenId> ids) {
    if (ids.empty()) return;
    // Parts of like size: a short rest would be a poor sentence.
    const auto size = static_cast<std::int64_t>(ids.size());
    const std::int64_t most = options_.max_sentence > 0 ? options_.max_sentence : size;
    const std::int64_t parts = (size + most - 1) / most;
    for (std::int64_t p = 0; p < parts; ++p) {
        const std::int64_t begin = size * p / parts, end = size * (p + 1) / parts;
        made_.sentences_.push_back(made_.total_);
        put(ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    }
}

void TokenDocumentsMaker::put(std::span<const TokenId> ids) {
    const auto bytes = static_cast<std::int64_t>(ids.size_bytes());
    std::vector<TokenId>& row = made_.row_;
    if (made_.in_memory_ && made_.total_ * 4 + bytes > options_.in_memory) {
        made_.file_.emplace();
        made_.file_->append(row.data(), static_cast<std::int64_t>(row.size() * sizeof(TokenId)));
        row = {};
        made_.in_memory_ = false;
    }
    if (made_.in_memory_)
        row.insert(row.end(), ids.begin(), ids.end());
    else
        made_.file_->append(ids.data(), bytes);
    made_.total_ += static_cast<std::int64_t>(ids.size());
}

void TokenDocumentsMaker::end_document(std::uint64_t name) {
    const std::size_t now = made_.sentences_.size();
    if (now == documents_begun_at_) return;  // nothing of it became a token
    made_.documents_.push_back(static_cast<std::int64_t>(documents_begun_at_));
    made_.names_.push_back(name);
    documents_begun_at_ = now;
    if (options_.joint) put(std::span(&*options_.joint, 1));
}

TokenDocuments TokenDocumentsMaker::finish() {
    encode_waiting();
    TokenDocuments& m = made_;
    if (options_.joint && m.documents() > 0) {  // between documents, not behind the last
        --m.total_;
        if (m.in_memory_) m.row_.pop_back();
    }
    m.row_.shrink_to_fit();
    return std::move(made_);
}

}  // namespace fovea
