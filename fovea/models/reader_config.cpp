#include "fovea/base/json_fields.h"
#include "fovea/models/reader.h"

namespace fovea {

ReaderConfig ReaderConfig::from_json(const Json& json, const std::string& where) {
    ReaderConfig c;
    JsonFields f(json, where);
    f.require("vocab_size", c.vocab_size, {1, 1 << 24});
    f.require("features", c.features, {1, 1 << 10});
    f.read("hidden_size", c.hidden_size, {1, 1 << 16});
    f.read("word_width", c.word_width, {1, 1 << 16});
    f.read("letter_width", c.letter_width, {1, 1 << 12});
    f.read("letter_channels", c.letter_channels, {1, 1 << 16});
    f.read("letter_kernel", c.letter_kernel, {1, 255});
    f.read("encoder_convolutions", c.encoder_convolutions, {0, 64});
    f.read("encoder_kernel", c.encoder_kernel, {1, 255});
    f.read("num_hidden_layers", c.num_hidden_layers, {0, 256});
    f.read("layer_convolutions", c.layer_convolutions, {0, 64});
    f.read("layer_kernel", c.layer_kernel, {1, 255});
    f.read("num_attention_heads", c.num_attention_heads, {1, 1 << 16});
    f.read("intermediate_size", c.intermediate_size, {1, 1 << 20});
    f.read("max_position_embeddings", c.max_position_embeddings, {8, 1 << 24});
    f.read("dropout", c.dropout, {0, 0.99});
    c.check(where);
    return c;
}

Json ReaderConfig::to_json() const {
    return {{"model_type", Reader::model_type},
            {"vocab_size", vocab_size},
            {"features", features},
            {"hidden_size", hidden_size},
            {"word_width", word_width},
            {"letter_width", letter_width},
            {"letter_channels", letter_channels},
            {"letter_kernel", letter_kernel},
            {"encoder_convolutions", encoder_convolutions},
            {"encoder_kernel", encoder_kernel},
            {"num_hidden_layers", num_hidden_layers},
            {"layer_convolutions", layer_convolutions},
            {"layer_kernel", layer_kernel},
            {"num_attention_heads", num_attention_heads},
            {"intermediate_size", intermediate_size},
            {"max_position_embeddings", max_position_embeddings},
            {"dropout", dropout}};
}

void ReaderConfig::apply_preset(const std::string& name) {
    const auto set = [&](int width, int blocks, int ffn, int heads) {
        hidden_size = word_width = width;
        num_hidden_layers = blocks;
        intermediate_size = ffn;
        num_attention_heads = heads;
    };
    if (name == "tiny")
        set(96, 2, 96, 4);
    else if (name == "small")
        set(128, 3, 256, 4);
    else if (name == "base" || name == "big")
        set(name == "base" ? 256 : 512, 6, name == "base" ? 1024 : 2048, 8);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", name, "\"");
}

void ReaderConfig::check(const std::string& where, ErrorKind kind) const {
    if (hidden_size % num_attention_heads != 0)
        fail_with(kind, "choose --heads that divide --d-model", where, ": ", hidden_size,
                  " columns do not split into ", num_attention_heads, " heads");
    for (const int k : {letter_kernel, encoder_kernel, layer_kernel})
        if (k % 2 == 0)
            fail_with(kind, "5 and 7 are usual", where, ": a convolution has ", k,
                      " weights, but an odd number is wanted");
}

}  // namespace fovea
