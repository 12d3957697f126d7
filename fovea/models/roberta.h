#pragma once
// RoBERTa (Liu et al. 2019): BERT's encoder, trained longer and on masked words alone. In its files
// positions begin behind the number of the padding token (fairseq's habit: 2 for the published
// models, whose tables have 514 rows for 512 tokens), there is one token type, and the heads
// differ. Thread-safety: const calls from several threads are safe while nobody trains the
// parameters.
#include <span>
#include <string>

#include "fovea/models/bert.h"

namespace fovea {

// tanh between two layers, on a sequence's first row, <s>; dropout before each.
struct RobertaClassHead {
    RobertaClassHead(const BertConfig& c, int classes, const Params& p);
    Tensor operator()(const Tensor& rows, const Segments& segments) const;  // [sequences, classes]

    Linear dense, out_proj;
    float p_drop;
};

struct Roberta {
    static constexpr const char* model_type = "roberta";

    static Json new_config(const EncoderChoice& choice);
    // There is no head for the next sentence: Head::next gives none, words_and_next words alone.
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules();
    static std::string architecture(Head head);

    static constexpr HeadParameters heads[] = {
        {"lm_head.**"}, {"classifier.**"}, {"qa_outputs.**"}};
};

}  // namespace fovea
