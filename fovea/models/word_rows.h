#pragma once
// No network at all: a word's row is its vector, whatever stands beside it. What a classifier can
// do then depends on its pooling, and two of them have names of their own:
//
//   weighted-sum   a learned weight for each position (Pool::positions): the weights cannot move
//                  with the context
//   label-query    a learned query for each class attends over the words (Pool::queries; Mullenbach
//                  et al. 2018, eq. 2 and 3, without their convolution)
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"

namespace fovea {

struct WordRows {
    static constexpr const char* weighted_sum_type = "fovea_weighted_sum";
    static constexpr const char* label_query_type = "fovea_label_query";
    static constexpr std::string_view sizes = "d-model";

    static Json new_weighted_sum(const EncoderChoice& choice);
    static Json new_label_query(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }
};

}  // namespace fovea
