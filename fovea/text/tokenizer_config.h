#pragma once
// The small files beside a vocabulary: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json (old) and config.json. All are optional.
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/text/spec.h"

namespace fovea {

struct TokenizerConfig {
    // What the tokenizer is for: "bert", "roberta", "gpt2", "albert", "xlnet", "t5", "marian" … in
    // lower case, from tokenizer_class or model_type; empty where nothing says.
    std::string kind;
    std::optional<bool> do_lower_case, strip_accents, tokenize_chinese_chars, add_prefix_space,
        keep_accents;
    SpecialTokens roles;            // as far as the files say
    std::vector<AddedToken> added;  // with the ids of the files where they give them, else -1
    std::vector<std::string> bare;  // of these: named, but not described

    bool is(const char* name) const { return kind == name; }
};

// Reads what there is in a folder.
TokenizerConfig read_tokenizer_config(const std::string& folder);

// The files of a folder, which errors name; where there is none, an empty object.
struct TokenizerConfigFiles {
    std::string folder;
    Json model = Json::object();         // config.json
    Json config = Json::object();        // tokenizer_config.json
    Json special = Json::object();       // special_tokens_map.json
    Json added_tokens = Json::object();  // added_tokens.json
};
TokenizerConfig tokenizer_config_of(const TokenizerConfigFiles& files);

// Puts added tokens and parts that the config names into a spec that a vocabulary file gave.
void apply(const TokenizerConfig& config, TokenizerSpec& spec);

}  // namespace fovea
