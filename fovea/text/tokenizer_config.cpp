#include "fovea/text/tokenizer_config.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"

namespace fovea {

namespace {

struct RoleName {
    const char* key;
    std::optional<std::string> SpecialTokens::*role;
};
constexpr RoleName roles[] = {
    {"bos_token", &SpecialTokens::bos},   {"eos_token", &SpecialTokens::eos},
    {"unk_token", &SpecialTokens::unk},   {"sep_token", &SpecialTokens::sep},
    {"pad_token", &SpecialTokens::pad},   {"cls_token", &SpecialTokens::cls},
    {"mask_token", &SpecialTokens::mask},
};

bool flag(const Json& j, const char* key, bool otherwise) {
    return j.contains(key) && j[key].is_boolean() ? j[key].get<bool>() : otherwise;
}

std::optional<bool> optional_flag(const Json& j, const char* key) {
    return j.contains(key) && j[key].is_boolean() ? std::optional(j[key].get<bool>())
                                                  : std::nullopt;
}

// A token is written as a string or as an object with its properties.
AddedToken token_of(const Json& j, bool special, const std::string& where) {
    AddedToken t;
    t.id = -1;
    t.special = special;
    t.normalized = !special;
    if (j.is_string()) {
        t.content = j.get<std::string>();
        return t;
    }
    expect_input(j.is_object() && j.contains("content") && j["content"].is_string(), where,
                 ": a token should be a string or an object with \"content\"");
    t.content = j["content"].get<std::string>();
    t.single_word = flag(j, "single_word", false);
    t.lstrip = flag(j, "lstrip", false);
    t.rstrip = flag(j, "rstrip", false);
    t.special = flag(j, "special", special);
    t.normalized = flag(j, "normalized", !t.special);
    return t;
}

void put(std::vector<AddedToken>& added, AddedToken t) {
    if (t.content.empty()) return;
    const auto same = std::find_if(added.begin(), added.end(),
                                   [&](const AddedToken& a) { return a.content == t.content; });
    if (same == added.end()) {
        added.push_back(std::move(t));
        return;
    }
    if (t.id < 0) t.id = same->id;
    t.special |= same->special;
    *same = std::move(t);
}

// "BertTokenizerFast" and "BertJapaneseTokenizer" name what "bert" and "bertjapanese" do.
std::string kind_of_class(std::string name) {
    for (const char* suffix : {"Fast", "Tokenizer"})
        if (name.ends_with(suffix)) name.resize(name.size() - std::string(suffix).size());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    });
    return name;
}

Json read_object(const std::string& path) {
    if (!file_exists(path)) return Json::object();
    Json j = read_json(path);
    expect_input(j.is_object(), path, ": should be a JSON object");
    return j;
}

void read_roles(const Json& j, const std::string& where, TokenizerConfig& config) {
    for (const RoleName& r : roles) {
        if (!j.contains(r.key) || j[r.key].is_null()) continue;
        AddedToken t = token_of(j[r.key], true, where + ": " + r.key);
        t.special = true;
        config.roles.*r.role = t.content;
        // A bare name says nothing about the token that another file has described.
        const bool described =
            std::any_of(config.added.begin(), config.added.end(),
                        [&](const AddedToken& a) { return a.content == t.content; });
        if (!described && j[r.key].is_string()) config.bare.push_back(t.content);
        if (!described || j[r.key].is_object()) put(config.added, std::move(t));
    }
    for (const char* key : {"additional_special_tokens", "extra_special_tokens"}) {
        if (!j.contains(key)) continue;
        for (const Json& e : j[key]) put(config.added, token_of(e, true, where + ": " + key));
    }
}

// {"token": id, …}
void read_old_added_tokens(const Json& old, const std::string& where, TokenizerConfig& config) {
    for (const auto& [content, id] : old.items()) {
        expect_input(id.is_number_integer() && id.get<std::int64_t>() >= 0 &&
                         id.get<std::int64_t>() < 2147483647,
                     where, ": token \"", content, "\" has no id");
        AddedToken t;
        t.content = content;
        t.id = id.get<TokenId>();
        put(config.added, std::move(t));
    }
}

// {"added_tokens_decoder": {"7": {"content": …}, …}}
void read_added_tokens(const Json& j, const std::string& where, TokenizerConfig& config) {
    if (!j.contains("added_tokens_decoder") || !j["added_tokens_decoder"].is_object()) return;
    for (const auto& [id, token] : j["added_tokens_decoder"].items()) {
        AddedToken t = token_of(token, false, where + ": added_tokens_decoder." + id);
        expect_input(!id.empty() && id.size() < 10 &&
                         id.find_first_not_of("0123456789") == std::string::npos,
                     where, ": added_tokens_decoder: \"", id, "\" is no token id");
        t.id = std::stoi(id);
        put(config.added, std::move(t));
    }
}

}  // namespace

TokenizerConfig tokenizer_config_of(const TokenizerConfigFiles& files) {
    TokenizerConfig config;
    const auto path = [&](const char* name) { return join_path(files.folder, name); };
    if (const Json& m = files.model; m.contains("model_type") && m["model_type"].is_string())
        config.kind = m["model_type"].get<std::string>();
    read_old_added_tokens(files.added_tokens, path("added_tokens.json"), config);
    const Json& j = files.config;
    read_added_tokens(j, path("tokenizer_config.json"), config);
    std::stable_sort(config.added.begin(), config.added.end(),
                     [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    read_roles(files.special, path("special_tokens_map.json"), config);
    read_roles(j, path("tokenizer_config.json"), config);

    if (j.contains("tokenizer_class") && j["tokenizer_class"].is_string()) {
        const std::string kind = kind_of_class(j["tokenizer_class"].get<std::string>());
        // "PreTrainedTokenizerFast" names no kind.
        if (!kind.empty() && kind != "pretrained" && kind != "tokenizersbackend")
            config.kind = kind;
    }
    config.do_lower_case = optional_flag(j, "do_lower_case");
    config.strip_accents = optional_flag(j, "strip_accents");
    config.tokenize_chinese_chars = optional_flag(j, "tokenize_chinese_chars");
    config.add_prefix_space = optional_flag(j, "add_prefix_space");
    config.keep_accents = optional_flag(j, "keep_accents");
    return config;
}

TokenizerConfig read_tokenizer_config(const std::string& folder) {
    const auto file = [&](const char* name) { return read_object(join_path(folder, name)); };
    return tokenizer_config_of({.folder = folder,
                                .model = file("config.json"),
                                .config = file("tokenizer_config.json"),
                                .special = file("special_tokens_map.json"),
                                .added_tokens = file("added_tokens.json")});
}

void apply(const TokenizerConfig& config, TokenizerSpec& spec) {
    for (const RoleName& r : roles)
        if (config.roles.*r.role) spec.special_tokens.*r.role = config.roles.*r.role;
    for (AddedToken t : config.added) {
        const auto same = std::find_if(spec.added_tokens.begin(), spec.added_tokens.end(),
                                       [&](const AddedToken& a) { return a.content == t.content; });
        const bool bare =
            std::find(config.bare.begin(), config.bare.end(), t.content) != config.bare.end();
        if (same != spec.added_tokens.end() && bare) {
            same->special = true;  // a name alone leaves it as tokenizer.json describes it
        } else if (same != spec.added_tokens.end()) {
            t.id = same->id;
            *same = std::move(t);
        } else {
            if (t.id < 0) t.id = 0;  // the tokenizer finds out the real one
            spec.added_tokens.push_back(std::move(t));
        }
    }
}

}  // namespace fovea
