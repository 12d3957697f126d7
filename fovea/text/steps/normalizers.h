#pragma once
// The normaliser chain of a tokenizer, made ready to run.
#include <memory>
#include <string_view>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/spm/sentencepiece_charsmap.h"
#include "fovea/text/steps/normalized_text.h"
#include "fovea/text/steps/pattern.h"
#include "fovea/text/unicode/decomposition.h"

namespace fovea::text {

// Buffers that normalising needs; kept from text to text.
struct NormalizerScratch {
    NormalizedText spare;
    std::vector<Change> changes;
    std::vector<ByteRange> matches;
};

class NormalizerChain {
public:
    explicit NormalizerChain(const std::vector<NormalizerStep>& steps);

    bool empty() const { return steps_.empty(); }
    void apply(NormalizedText& text, NormalizerScratch& scratch) const;

private:
    struct Step {
        NormalizerStep spec;
        std::shared_ptr<const Matcher> matcher;                 // Replace
        std::shared_ptr<const SentencePieceCharsmap> charsmap;  // Precompiled
    };
    std::vector<Step> steps_;
};

// The single steps, for the chain and for tests.
void normalize_bert(const normalizer::Bert& bert, NormalizedText& text, NormalizerScratch& scratch);
void normalize_form(NormalForm form, NormalizedText& text, NormalizerScratch& scratch);
void normalize_lowercase(NormalizedText& text, NormalizerScratch& scratch);
void normalize_charsmap(const SentencePieceCharsmap& map, NormalizedText& text,
                        NormalizerScratch& scratch);
void normalize_byte_level(NormalizedText& text, NormalizerScratch& scratch);

}  // namespace fovea::text
