#pragma once
// One text through the whole of a tokenizer but its post-processor: added tokens, normaliser,
// pre-tokeniser, model.
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/text/encoding.h"
#include "fovea/text/models/bpe.h"
#include "fovea/text/models/unigram.h"
#include "fovea/text/models/word_cache.h"
#include "fovea/text/models/word_level.h"
#include "fovea/text/models/wordpiece.h"
#include "fovea/text/spec.h"
#include "fovea/text/spm/spm_encoder.h"
#include "fovea/text/steps/added_tokens.h"
#include "fovea/text/steps/normalizers.h"
#include "fovea/text/steps/pre_tokenizers.h"

namespace fovea::text {

// The tokens of one text. Without `full` only the ids are filled.
struct Sequence {
    std::vector<TokenId> ids;
    std::vector<TextSpan> spans;      // bytes of the text
    std::vector<std::int32_t> words;  // index of the pre-token
    // Tokens whose text is not their entry in the vocabulary (unknown and added ones), by index.
    std::vector<std::pair<std::size_t, std::string>> names;
    std::int32_t word_count = 0;

    void clear() {
        ids.clear();
        spans.clear();
        words.clear();
        names.clear();
        word_count = 0;
    }
};

// Buffers and the cache of words: kept from text to text, one for each thread at work.
struct Workspace {
    NormalizedText text, piece;
    PreTokenizerScratch pre;
    std::vector<ByteRange> words;
    std::vector<AddedMatch> raw_matches, matches;
    WordCache cache;
    WordTokens tokens;
    BpeScratch bpe;
    UnigramScratch unigram;
    SpmScratch spm;
    std::vector<SpmToken> spm_tokens;
    std::vector<std::int32_t> char_at;
    Sequence sequence;
};

class Pipeline {
public:
    // Takes the spec and completes it: added tokens get the ids that they really have.
    explicit Pipeline(TokenizerSpec spec);
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    // Text must be valid UTF-8. Fills work.sequence.
    void encode(std::string_view text, bool full, Rng* dropout, Workspace& work) const;

    const TokenizerSpec& spec() const { return spec_; }
    const SpmEncoder* spm() const { return spm_.get(); }

    TokenId find(std::string_view token) const;  // -1 where there is none
    std::string_view token(TokenId id) const;    // null view where there is none
    bool is_special(std::string_view token) const { return specials_.contains(std::string(token)); }
    TokenId end_id() const { return end_id_; }

private:
    void add_tokens();
    void find_added_tokens();
    TokenId model_find(std::string_view token) const;
    std::string_view model_token(TokenId id) const;
    std::size_t model_size() const;

    struct Run;  // one call of encode()

    TokenizerSpec spec_;
    Vocabulary added_;
    // What added tokens are shown as: those of the normalised text in their normalised form.
    std::unordered_map<TokenId, std::string> shown_;
    std::unordered_set<std::string> specials_;
    TokenId end_id_ = 0;
    NormalizerChain normalizer_;
    PreTokenizerChain pre_tokenizer_;
    bool raw_bytes_ = false;  // words are raw bytes: ByteLevel before a byte-level BPE
    std::variant<std::monostate, WordPiece, Bpe, Unigram, WordLevel> model_;
    std::unique_ptr<SpmEncoder> spm_;
    std::unique_ptr<AddedTokenFinder> raw_finder_, normalized_finder_;
};

}  // namespace fovea::text
