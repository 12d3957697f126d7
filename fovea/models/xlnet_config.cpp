#include "fovea/models/xlnet_config.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/base/settings.h"
#include "fovea/models/activation_names.h"

namespace fovea {
namespace {

// 0.1f as 0.1, not as 0.10000000149.
double short_number(float x) { return std::stod(number_text(x)); }

void read_sizes(JsonFields& f, XlnetConfig& c) {
    f.read({"vocab_size", "n_token"}, c.vocab_size, {1, 1 << 24});
    f.read({"d_model", "hidden_size"}, c.d_model, {2, 1 << 16});
    f.read({"n_layer", "num_hidden_layers"}, c.n_layer, {1, 512});
    f.read({"n_head", "num_attention_heads"}, c.n_head, {1, 1 << 16});
    f.read("d_inner", c.d_inner, {1, 1 << 20});
    f.read("clamp_len", c.clamp_len, {-1, 1 << 24});
    c.mem_len = f.json().contains("mem_len") ? 0 : 512;  // null: all
    f.read("mem_len", c.mem_len, {0, 1 << 24});
    f.read("fovea_max_length", c.max_length, {1, 1 << 24});
    int d_head = 0;
    if (f.read("d_head", d_head, {1, 1 << 16}))
        expect_input(d_head * std::int64_t{c.n_head} == c.d_model, f.where(), ": \"d_head\" is ",
                     d_head, ", but d_model ", c.d_model, " over ", c.n_head, " heads is not that");
}

void read_numbers(JsonFields& f, XlnetConfig& c) {
    f.read("dropout", c.dropout, {0, 1});
    f.read("layer_norm_eps", c.layer_norm_eps, {0, 1});
    f.read("initializer_range", c.initializer_range, {0, 100});
    f.read("pad_token_id", c.pad_token_id);
    if (f.json().contains("bos_token_id")) c.bos_token_id = -1;  // null: none
    f.read("bos_token_id", c.bos_token_id, {0});
    f.read("eos_token_id", c.eos_token_id);
}

// What the file can say and this implementation does not do is refused by its name.
void read_choices(JsonFields& f, XlnetConfig& c) {
    std::string act = "gelu";
    f.read("ff_activation", act);
    c.ff_activation = activation_named(act, "ff_activation", f.where());
    int attn_type = 0;
    f.read_choice("attn_type", {"bi", "uni"}, attn_type);
    c.causal = attn_type == 1;
    f.read("use_mems_eval", c.use_mems_eval);
    bool bi_data = false, is_same_length = false, tied = true;
    f.read("tie_word_embeddings", tied);
    expect_input(tied, f.where(),
                 ": \"tie_word_embeddings\" is false, but XLNet's words share one matrix");
    f.read("bi_data", bi_data);
    if (bi_data)
        fail_with(ErrorKind::bad_input,
                  "it only concerns pretraining (half of a batch is read backwards); set it to "
                  "false",
                  f.where(), ": \"bi_data\" is true, which is not supported");
    f.read("same_length", is_same_length);
    expect_input(!is_same_length || !c.causal, f.where(),
                 ": \"same_length\" is true with \"attn_type\" \"uni\", which is not supported");
}

void read_summary(JsonFields& f, XlnetConfig& c) {
    // cls_index without an index given is the last row, as in the reference.
    int type = 0;
    f.read_choice("summary_type", {"last", "first", "mean", "cls_index"}, type);
    c.summary_type = type == 3 ? XlnetSummary::last : static_cast<XlnetSummary>(type);
    f.read("summary_use_proj", c.summary_use_proj);
    f.read("summary_first_dropout", c.summary_first_dropout, {0, 1});
    f.read("summary_last_dropout", c.summary_last_dropout, {0, 1});
    bool to_labels = false;
    f.read("summary_proj_to_labels", to_labels);
    expect_input(!to_labels, f.where(),
                 ": \"summary_proj_to_labels\" is true, which does not fit XLNet's logits_proj");
    std::string act = "tanh";
    if (f.json().contains("summary_activation") && f.json()["summary_activation"].is_null())
        act = "";
    f.read("summary_activation", act);
    if (act != "tanh" && !act.empty())
        fail_with(ErrorKind::bad_input, "tanh, or null for none", f.where(),
                  ": unknown \"summary_activation\" \"", act, "\"");
    c.summary_tanh = act == "tanh";
}

}  // namespace

void XlnetConfig::apply_preset(const std::string& name) {
    const auto set = [&](int layers, int width, int ffn, int heads) {
        n_layer = layers;
        d_model = width;
        d_inner = ffn;
        n_head = heads;
    };
    if (name == "tiny")
        set(2, 128, 512, 2);
    else if (name == "small")
        set(4, 256, 1024, 4);
    else if (name == "base")
        set(12, 768, 3072, 12);
    else if (name == "big")
        set(24, 1024, 4096, 16);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", name, "\"");
}

void XlnetConfig::check(const std::string& where) const {
    const auto within = [&](std::int64_t n, const char* key, std::int64_t most) {
        expect_input(n > 0 && n <= most, where, ": \"", key, "\" is ", n,
                     " but must be between 1 and ", most);
    };
    within(vocab_size, "vocab_size", 1 << 24);
    within(d_model, "d_model", 1 << 16);
    within(n_layer, "n_layer", 512);
    within(n_head, "n_head", d_model);
    within(d_inner, "d_inner", 1 << 20);
    within(max_length, "fovea_max_length", 1 << 24);
    expect_input(d_model % 2 == 0, where, ": \"d_model\" is ", d_model,
                 ", but half of the position code are sines and half cosines: it must be even");
    expect_input(d_model % n_head == 0, where, ": d_model ", d_model, " does not split into ",
                 n_head, " heads");
    expect_input(dropout < 1 && summary_first_dropout < 1 && summary_last_dropout < 1, where,
                 ": a dropout of 1 leaves nothing");
    expect_input(eos_token_id >= 0 && eos_token_id < vocab_size, where, ": \"eos_token_id\" is ",
                 eos_token_id, ", outside the vocabulary of ", vocab_size);
}

XlnetConfig XlnetConfig::from_json(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    std::string type = "xlnet";
    f.read("model_type", type);
    expect_input(type == "xlnet", where, ": \"model_type\" is \"", type, "\" but xlnet is wanted");
    XlnetConfig c;
    c.apply_preset("big");  // the reference's defaults, where the file is silent
    read_sizes(f, c);
    read_numbers(f, c);
    read_choices(f, c);
    read_summary(f, c);
    c.check(where);
    return c;
}

Json XlnetConfig::to_json() const {
    constexpr const char* summaries[] = {"last", "first", "mean"};
    Json j{{"model_type", "xlnet"},
           {"vocab_size", vocab_size},
           {"d_model", d_model},
           {"n_layer", n_layer},
           {"n_head", n_head},
           {"d_head", d_model / n_head},
           {"d_inner", d_inner},
           {"ff_activation", config_name_of(ff_activation)},
           {"attn_type", causal ? "uni" : "bi"},
           {"untie_r", true},
           {"initializer_range", short_number(initializer_range)},
           {"layer_norm_eps", short_number(layer_norm_eps)},
           {"dropout", short_number(dropout)},
           {"mem_len", mem_len > 0 ? Json(mem_len) : Json()},
           {"use_mems_eval", use_mems_eval},
           {"reuse_len", nullptr},
           {"bi_data", false},
           {"clamp_len", clamp_len},
           {"same_length", false},
           {"summary_type", summaries[static_cast<int>(summary_type)]},
           {"summary_use_proj", summary_use_proj},
           {"summary_activation", summary_tanh ? Json("tanh") : Json()},
           {"summary_last_dropout", short_number(summary_last_dropout)},
           {"pad_token_id", pad_token_id},
           {"bos_token_id", bos_token_id >= 0 ? Json(bos_token_id) : Json()},
           {"eos_token_id", eos_token_id},
           {"fovea_max_length", max_length}};
    if (summary_first_dropout > 0) j["summary_first_dropout"] = short_number(summary_first_dropout);
    return j;
}

}  // namespace fovea
