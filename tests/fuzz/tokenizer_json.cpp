#include <algorithm>

#include "check_encoding.h"
#include "fovea/base/error.h"

namespace fovea {

void fuzz_tokenizer_json(FuzzBytes data) {
    const std::string_view all = text_of_bytes(data);
    const std::size_t mark = std::min(all.find('\xFF'), all.size());
    const std::string_view json = all.substr(0, mark);
    const std::string_view text = all.substr(std::min(mark + 1, all.size())).substr(0, 300);
    try {
        const Tokenizer t = Tokenizer::from_json(json, "fuzz.json");
        check_tokenizer_on(t, text);
        check_tokenizer_on(t, "The quick brown fox, 3 \xE4\xB8\xAD\xE6\x96\x87 \xF0\x9F\x98\x80");
        const Tokenizer again = Tokenizer::from_json(t.to_json(), "written.json");
        property(again.encode_ids(text) == t.encode_ids(text),
                 "written and read gives the same ids");
    } catch (const Error& e) {
        property(std::string_view(e.what()).size() > 3, "an error says something");
    }
}

}  // namespace fovea
