#include "fovea/io/word_vectors.h"

#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_word_vectors(FuzzBytes data) {
    constexpr const char* where = "words.bin";
    try {
        const WordVectorFile file = parse_word_vectors(std::string(text_of_bytes(data)), where);
        const auto words = static_cast<std::int64_t>(file.words.size());
        property(words > 0, "a file has words");
        property(file.input.rows() == words + file.buckets || file.max_n == 0,
                 "rows belong to words and buckets");
        property(file.counts.empty() || static_cast<std::int64_t>(file.counts.size()) == words,
                 "every word has a count");
        property(file.output.empty() || file.output.rows() == words, "every word has an output");
        const std::set<std::string> once(file.words.begin(), file.words.end());
        property(static_cast<std::int64_t>(once.size()) == words, "a word is there once");
        for (const float x : file.input.span()) property(std::isfinite(x), "numbers are finite");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
