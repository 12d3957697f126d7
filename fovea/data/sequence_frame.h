#pragma once
// The special tokens around one text or two, as the tokenizer's own template puts them:
// [CLS] A [SEP], [CLS] A [SEP] B [SEP], <s> A </s>, A <sep> <cls>.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include "fovea/tensor/segments.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct SequenceFrame {
    struct Part {
        Ids ids, types;
    };
    Part front, middle, back;  // middle: between two texts
    std::int32_t first_type = 0, second_type = 0;

    std::int64_t added() const {
        return static_cast<std::int64_t>(front.ids.size() + middle.ids.size() + back.ids.size());
    }
    bool has_types() const;  // some token is not of type 0
};

SequenceFrame single_frame(const Tokenizer& tokenizer);
SequenceFrame pair_frame(const Tokenizer& tokenizer);

}  // namespace fovea
