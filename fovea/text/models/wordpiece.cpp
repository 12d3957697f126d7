#include "fovea/text/models/wordpiece.h"

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea::text {

WordPiece::WordPiece(const WordPieceSpec& spec)
    : spec_(&spec),
      unk_(spec.vocab.find(spec.unk_token)),
      prefix_size_(spec.continuing_subword_prefix.size()) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    keys.reserve(spec.vocab.size());
    for (std::size_t i = 0; i < spec.vocab.size(); ++i) {
        const Vocabulary::Entry e = spec.vocab.entry(i);
        keys.push_back({e.token, e.id});
    }
    trie_ = ByteTrie(std::move(keys));
    if (!trie_.find(spec.continuing_subword_prefix, continuing_)) continuing_ = 0;
}

void WordPiece::encode(std::string_view word, WordTokens& out) const {
    out.clear();
    const auto limit = static_cast<std::size_t>(spec_->max_input_chars_per_word);
    bool known = word.size() <= limit || count_chars(word) <= limit;
    bool plain = spec_->vocab.unique_ids();
    std::size_t begin = 0;
    while (known && begin < word.size()) {
        ByteTrie::Base at = begin == 0 ? trie_.root() : continuing_;
        std::int32_t best = ByteTrie::no_value, value = 0;
        std::size_t best_end = 0;
        for (std::size_t i = begin; i < word.size(); ++i) {
            if (!trie_.step(at, static_cast<unsigned char>(word[i]), value)) break;
            if (value >= 0) {
                best = value;
                best_end = i + 1;
            }
        }
        known = best >= 0;
        out.ids.push_back(best);
        out.ranges.push_back(
            {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(best_end)});
        plain &= best != unk_;
        begin = best_end;
    }
    if (known) {
        // The length of a token follows from its id, unless it is "[UNK]" found in the text.
        if (plain || (out.ids.size() == 1 && spec_->vocab.unique_ids())) out.ranges.clear();
        return;
    }
    out.clear();
    expect_input(unk_ >= 0, "WordPiece: the unk_token \"", spec_->unk_token,
                 "\" is not in the vocabulary, but the text has an unknown word");
    out.ids.assign(1, unk_);
}

}  // namespace fovea::text
