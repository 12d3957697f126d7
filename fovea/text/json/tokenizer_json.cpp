#include "fovea/text/json/tokenizer_json.h"

#include "fovea/text/json/json_components.h"

namespace fovea {

namespace text {

TokenizerSpec read_spec(const JsonValue& root) {
    TokenizerSpec spec;
    expect_input(root.is_object() && root.find("model"), root.path(),
                 ": has no \"model\": this is not a tokenizer.json");
    if (const auto tokens = root.find("added_tokens"))
        tokens->each([&](const JsonValue& v) { spec.added_tokens.push_back(read_added_token(v)); });
    if (const auto n = root.find("normalizer")) spec.normalizer = read_normalizer(*n);
    if (const auto p = root.find("pre_tokenizer")) spec.pre_tokenizer = read_pre_tokenizer(*p);
    if (const auto p = root.find("post_processor")) spec.post_processor = read_post_processor(*p);
    if (const auto d = root.find("decoder")) spec.decoder = read_decoder(*d);
    if (const auto t = root.find("truncation")) spec.truncation = read_truncation(*t);
    if (const auto p = root.find("padding")) spec.padding = read_padding(*p);
    spec.model = read_model(root.at("model"));
    return spec;
}

}  // namespace text

TokenizerSpec read_tokenizer_json(std::string_view json, const std::string& where) {
    const text::JsonDocument document(json, where);
    return text::read_spec(document.root());
}

}  // namespace fovea
