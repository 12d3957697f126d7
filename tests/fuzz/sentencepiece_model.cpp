#include "fovea/text/spm/sentencepiece_model.h"

#include <algorithm>

#include "check_encoding.h"
#include "fovea/base/error.h"

namespace fovea {

void fuzz_sentencepiece_model(FuzzBytes data) {
    if (data.size() < 2) return;
    const std::size_t n = std::min<std::size_t>(data[0] * 256u + data[1], data.size() - 2);
    const std::string_view model = text_of_bytes(data).substr(2, n);
    const std::string_view text = text_of_bytes(data).substr(2 + n);
    try {
        const SentencePieceModel parsed = parse_sentencepiece(model, "fuzz.model");
        const std::string written = write_sentencepiece(parsed);
        property(write_sentencepiece(parse_sentencepiece(written, "written.model")) == written,
                 "written, read and written again is the same");
        TokenizerSpec spec;
        SentencePieceSpec as_it_stands;
        as_it_stands.proto = std::string(model);
        spec.model = std::move(as_it_stands);
        const Tokenizer t(std::move(spec));
        check_tokenizer_on(t, text);
        check_tokenizer_on(t, "this is  a test");
    } catch (const Error& e) {
        property(std::string_view(e.what()).size() > 3, "an error says something");
    }
}

}  // namespace fovea
