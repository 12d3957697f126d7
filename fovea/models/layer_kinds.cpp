#include "fovea/models/layer_kinds.h"

#include "fovea/base/error.h"

namespace fovea {

LayerKinds layer_kinds_in(JsonFields& f, const char* key, int layers, const std::string& where) {
    std::string words;
    f.read(key, words);
    if (words.empty()) return {};
    try {
        const LayerKinds kinds = parse_attention(words, key);
        for_layers(kinds, layers, key);
        return kinds;
    } catch (const Error& e) {
        throw Error(where + ": " + e.what(), ErrorKind::bad_input, e.hint());
    }
}

}  // namespace fovea
