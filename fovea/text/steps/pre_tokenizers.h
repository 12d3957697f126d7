#pragma once
// The pre-tokeniser chain: cuts a normalised text into words.
#include <memory>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/steps/normalizers.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {

struct PreTokenizerScratch {
    NormalizerScratch normalizer;
    std::vector<ByteRange> pieces, matches, cuts;
};

class PreTokenizerChain {
public:
    explicit PreTokenizerChain(const std::vector<PreTokenizerStep>& steps);

    // Whether the last step spells bytes (ByteLevel) and no other does. Then apply() with
    // raw_bytes leaves the spelling out: the words are pieces of the text itself.
    bool ends_in_bytes() const { return ends_in_bytes_; }

    // Whether apply() needs to know where characters come from even when nobody asks for offsets.
    bool needs_origins() const { return needs_origins_; }

    // The words of a text, in order, none empty; overwrites `words`. May rewrite the text.
    void apply(NormalizedText& text, std::vector<ByteRange>& words, PreTokenizerScratch& scratch,
               bool raw_bytes) const;

private:
    struct Step {
        PreTokenizerStep spec;
        std::shared_ptr<const Matcher> matcher;  // Split
    };
    std::vector<Step> steps_;
    bool ends_in_bytes_ = false;
    bool needs_origins_ = false;
};

// What tokenizers' split() makes of matches in [begin, end): appends the pieces to `out`.
void split_at(const std::vector<ByteRange>& matches, ByteRange within, SplitBehavior behavior,
              bool invert, std::vector<ByteRange>& out);

}  // namespace fovea::text
