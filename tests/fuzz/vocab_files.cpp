#include <algorithm>

#include "check_encoding.h"
#include "fovea/base/error.h"
#include "fovea/text/tokenizer_config.h"
#include "fovea/text/tokenizer_files.h"

namespace fovea {

void fuzz_vocab_files(FuzzBytes data) {
    if (data.empty()) return;
    std::string_view rest = text_of_bytes(data).substr(1);
    const auto part = [&] {  // up to the next 0xFF
        const std::size_t end = std::min(rest.find('\xFF'), rest.size());
        const std::string p(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return p;
    };
    try {
        const FileText vocab{part(), data[0] % 2 == 0 ? "vocab.txt" : "vocab.json"};
        const Tokenizer t(data[0] % 2 == 0 ? vocab_txt_spec(vocab, {})
                                           : byte_level_spec(vocab, {part(), "merges.txt"}, {}));
        check_tokenizer_on(t, rest);
        check_tokenizer_on(t, "Hello, world! don't");
    } catch (const Error& e) {
        property(std::string_view(e.what()).find("vocab") != std::string_view::npos ||
                     std::string_view(e.what()).find("merges") != std::string_view::npos,
                 "an error names the file");
    }
}

}  // namespace fovea
