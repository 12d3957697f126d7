#include "fovea/data/sequence_frame.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// A text that becomes at least one ordinary token: to see where the template puts it.
std::string some_text(const Tokenizer& tokenizer) {
    for (const char* text : {"a", "the", "e", "1"})
        if (!tokenizer.encode_ids(text, false).empty()) return text;
    for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
        const std::string text = tokenizer.decode({&id, 1});
        if (!tokenizer.encode_ids(text, false).empty()) return text;
    }
    fail_with(ErrorKind::bad_input, "give another --tokenizer",
              "the tokenizer makes no token of any text");
}

SequenceFrame frame_of(const Encoding& e, bool pair) {
    SequenceFrame f;
    bool first = false, second = false;  // seen
    for (std::size_t i = 0; i < e.size(); ++i) {
        if (e.sequence_ids[i] == 0) first = true, f.first_type = e.type_ids[i];
        if (e.sequence_ids[i] == 1) second = true, f.second_type = e.type_ids[i];
        if (e.sequence_ids[i] >= 0) continue;
        SequenceFrame::Part& part = !first ? f.front : pair && !second ? f.middle : f.back;
        part.ids.push_back(e.ids[i]);
        part.types.push_back(e.type_ids[i]);
    }
    return f;
}

}  // namespace

bool SequenceFrame::has_types() const {
    const auto some = [](const Part& p) {
        return std::any_of(p.types.begin(), p.types.end(), [](std::int32_t t) { return t != 0; });
    };
    return first_type != 0 || second_type != 0 || some(front) || some(middle) || some(back);
}

SequenceFrame single_frame(const Tokenizer& tokenizer) {
    return frame_of(tokenizer.encode(some_text(tokenizer)), false);
}

SequenceFrame pair_frame(const Tokenizer& tokenizer) {
    const std::string text = some_text(tokenizer);
    return frame_of(tokenizer.encode_pair(text, text), true);
}

}  // namespace fovea
