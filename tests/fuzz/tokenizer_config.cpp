#include "fovea/text/tokenizer_config.h"

#include <algorithm>

#include "check_encoding.h"
#include "fovea/base/error.h"
#include "fovea/tasks/generation_config.h"
#include "fovea/text/tokenizer_files.h"

namespace fovea {
namespace {

Json object_of(std::string_view text, const char* where) {
    Json j = text.empty() ? Json::object() : parse_json(text, where);
    expect_input(j.is_object(), where, ": should be a JSON object");
    return j;
}

void check_generation(std::string_view text) {
    const Json json = object_of(text, "f/generation_config.json");
    const std::string where = "f/generation_config.json";
    SearchOptions s = search_of(json, where);
    std::vector<std::string> stop;
    read_sampling(json, where, s, stop);
    try {
        s.check();
    } catch (const Error& e) {
        throw Error("f/" + std::string(e.what()), e.kind(), e.hint());  // of options, not of files
    }
    for (const std::int32_t id : s.banned) property(id >= 0, "banned tokens have ids");
    for (const Ids& word : s.bad_words) {
        property(!word.empty(), "a bad word has tokens");
        for (const std::int32_t id : word) property(id >= 0, "bad words have ids");
    }
    for (const std::string& word : stop) property(!word.empty(), "a stop string is a text");
}

}  // namespace

void fuzz_tokenizer_config(FuzzBytes data) {
    if (data.empty()) return;
    std::string_view rest = text_of_bytes(data).substr(1);
    const auto part = [&] {  // up to the next 0xFF
        const std::size_t end = std::min(rest.find('\xFF'), rest.size());
        const std::string_view p = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return p;
    };
    static const char* const vocabulary =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\n##s\nw\n##or\n##ld\n,\n!\n";
    try {
        if (data[0] % 2 == 1) return check_generation(rest);
        TokenizerConfigFiles files{.folder = "f"};
        files.config = object_of(part(), "f/tokenizer_config.json");
        files.special = object_of(part(), "f/special_tokens_map.json");
        files.added_tokens = object_of(part(), "f/added_tokens.json");
        files.model = object_of(part(), "f/config.json");
        const TokenizerConfig config = tokenizer_config_of(files);
        TokenizerSpec spec = vocab_txt_spec({vocabulary, "f/vocab.txt"}, config);
        apply(config, spec);
        try {
            const Tokenizer t(std::move(spec));
            check_tokenizer_on(t, rest);
            check_tokenizer_on(t, "Hello <s>, [MASK] worlds!");
        } catch (const Error& e) {  // as Tokenizer::load does
            throw Error("f/: " + std::string(e.what()), e.kind(), e.hint());
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind("f/", 0) == 0, "an error names the file");
    }
}

}  // namespace fovea
