#include "fovea/models/vit.h"

#include "fovea/models/text_encoder.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {
namespace {

LayerNorm vit_norm(const VitConfig& c, const Params& p) {
    return {c.hidden_size, p, static_cast<float>(c.layer_norm_eps)};
}

// The tokens, which every picture has, stand in front of its own patches.
Ids rows_in_order(std::int64_t pictures, std::int64_t tokens, std::int64_t patches) {
    Ids order;
    order.reserve(static_cast<std::size_t>(pictures * (tokens + patches)));
    for (std::int64_t i = 0; i < pictures; ++i) {
        for (std::int64_t t = 0; t < tokens; ++t) order.push_back(static_cast<std::int32_t>(t));
        for (std::int64_t k = 0; k < patches; ++k)
            order.push_back(static_cast<std::int32_t>(tokens + i * patches + k));
    }
    return order;
}

}  // namespace

Init vit_init(const VitConfig& c) { return normal(static_cast<float>(c.initializer_range)); }

VitEmbeddings::VitEmbeddings(const VitConfig& c, std::span<const char* const> names,
                             const Params& p)
    : position_embeddings(p.exact(
          "position_embeddings",
          {1, static_cast<std::int64_t>(names.size()) + c.patches(), c.hidden_size}, vit_init(c))),
      stem(make_vit_stem(c, p)),
      config(c) {
    for (const char* name : names)
        tokens.push_back(p.exact(name, {1, 1, c.hidden_size}, vit_init(c)));
}

PictureRows VitEmbeddings::operator()(const PictureBatch& batch) const {
    const Shape& s = batch.pixels.shape();
    expect(s.rank() == 4 && s[1] == config.num_channels, "vit: pixels are ", s, ", but ",
           config.num_channels, " channels are wanted");
    const std::int64_t pictures = s[0], d = config.hidden_size;
    const int high = static_cast<int>(s[2]) / config.patch_height,
              wide = static_cast<int>(s[3]) / config.patch_width;
    const std::int64_t patches = std::int64_t{high} * wide,
                       first = static_cast<std::int64_t>(tokens.size());
    expect(patches > 0, "vit: pixels are ", s, ", which is smaller than a patch");
    std::vector<Tensor> parts;
    for (const Tensor& token : tokens) parts.push_back(token.reshaped({1, d}));
    parts.push_back(std::visit([&](const auto& rows) { return rows(batch.pixels); }, stem));
    const Segments segments = Segments::of_lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(pictures), first + patches),
        batch.samples);
    Tensor at = position_embeddings.reshaped({first + config.patches(), d});
    if (high != config.grid_height() || wide != config.grid_width())
        without_gradient([&] {
            at = concat_rows({slice_rows(at, 0, first),
                              interpolated_positions(slice_rows(at, first, at.rows()),
                                                     {config.grid_height(), config.grid_width()},
                                                     {high, wide})});
        });
    const Tensor x = gather_rows(concat_rows(parts), rows_in_order(pictures, first, patches)) +
                     learned_positions(at, segments);
    return {dropout(x, config.dropout()), segments};
}

VitLayer::VitLayer(const VitConfig& c, const Params& p)
    : query(c.hidden_size, c.hidden_size, p / "attention" / "attention" / "query", vit_init(c)),
      key(c.hidden_size, c.hidden_size, p / "attention" / "attention" / "key", vit_init(c)),
      value(c.hidden_size, c.hidden_size, p / "attention" / "attention" / "value", vit_init(c)),
      attention_output(c.hidden_size, c.hidden_size, p / "attention" / "output" / "dense",
                       vit_init(c)),
      intermediate(c.hidden_size, c.intermediate_size, p / "intermediate" / "dense", vit_init(c)),
      output(c.intermediate_size, c.hidden_size, p / "output" / "dense", vit_init(c)),
      layernorm_before(vit_norm(c, p / "layernorm_before")),
      layernorm_after(vit_norm(c, p / "layernorm_after")),
      name((p / "attention" / "attention").path()),
      heads(c.num_attention_heads),
      act(c.hidden_act),
      attention_drop(static_cast<float>(c.attention_probs_dropout_prob)),
      p_drop(c.dropout()) {}

Tensor VitLayer::operator()(const Tensor& x, const Visibility& sees) const {
    const Tensor n = layernorm_before(x);
    const Tensor mixed = attention(query(n), key(n), value(n), heads, sees,
                                   {.dropout = attention_drop, .name = name});
    const Tensor h = add_dropout(x, attention_output(mixed), p_drop);
    return add_dropout(h, feed_forward(layernorm_after(h), intermediate, output, act), p_drop);
}

VitModel::VitModel(const VitConfig& c, std::span<const char* const> tokens, const Params& p)
    : embeddings(c, tokens, p / "embeddings"), layernorm(vit_norm(c, p / "layernorm")) {
    for (int i = 0; i < c.num_hidden_layers; ++i)
        layers.emplace_back(c, p / "encoder" / "layer" / i);
}

PictureRows VitModel::operator()(const PictureBatch& batch) const {
    PictureRows x = embeddings(batch);
    const Visibility sees = everything(x.segments, x.segments);
    for (const VitLayer& layer : layers) x.rows = layer(x.rows, sees);
    x.rows = layernorm(x.rows);
    return x;
}

VitConfig vit_config_of(const Json& json, const std::string& where) {
    VitConfig c;
    c.read(json, where);
    c.check(where);
    return c;
}

VitConfig vit_config_for(const PictureModelChoice& choice) {
    VitConfig c;
    c.hidden_size = choice.width;
    c.num_hidden_layers = choice.layers;
    c.num_attention_heads = choice.heads;
    c.intermediate_size = choice.ffn;
    c.image_height = choice.height;
    c.image_width = choice.image_width;
    c.patch_height = c.patch_width = choice.patch;
    c.num_channels = choice.channels;
    c.hidden_dropout_prob = choice.dropout;
    c.stem = choice.stem;
    c.check("model", ErrorKind::usage);
    return c;
}

PictureModel vit_picture_model(const VitConfig& c, const VitModel& body,
                               const std::string& prefix) {
    PictureModel m;
    m.width = c.hidden_size;
    m.layers = c.num_hidden_layers;
    m.channels = c.num_channels;
    m.height = c.image_height;
    m.image_width = c.image_width;
    m.first_tokens = static_cast<int>(body.embeddings.tokens.size());
    m.grid_height = c.grid_height();
    m.grid_width = c.grid_width();
    m.rows = [body](const PictureBatch& batch) { return body(batch); };
    m.layer_of = [last = m.layers + 1, prefix](std::string_view name) {
        if (name.starts_with(prefix + ".embeddings.")) return 0;
        const std::string blocks = prefix + ".encoder.layer.";
        return name.starts_with(blocks) ? numbered_layer(name, blocks) : last;
    };
    return m;
}

std::vector<NameRule> vit_rules(const std::string& prefix) {
    const std::string disk = prefix + ".layers.*.", model = prefix + ".encoder.layer.*.";
    std::vector<NameRule> rules{{.on_disk = prefix + ".pooler.**"}};
    const auto add = [&](const char* from, const char* to) {
        rules.push_back(
            {.on_disk = disk + from + ".*", .in_model = {model + to + ".*"}, .load_only = true});
    };
    add("attention.q_proj", "attention.attention.query");
    add("attention.k_proj", "attention.attention.key");
    add("attention.v_proj", "attention.attention.value");
    add("attention.o_proj", "attention.output.dense");
    add("mlp.fc1", "intermediate.dense");
    add("mlp.fc2", "output.dense");
    add("layernorm_before", "layernorm_before");
    add("layernorm_after", "layernorm_after");
    return rules;
}

Json Vit::new_config(const PictureModelChoice& choice) {
    return vit_config_for(choice).to_json(model_type);
}

PictureModel Vit::make(const Json& config, const std::string& where, int classes, const Params& p) {
    const VitConfig c = vit_config_of(config, where);
    constexpr const char* tokens[] = {"cls_token"};
    const VitModel body(c, tokens, p / "vit");
    PictureModel m = vit_picture_model(c, body, "vit");
    m.classes = [head = Linear(c.hidden_size, classes, p / "classifier", vit_init(c))](
                    const PictureRows& x) { return head(segment_first(x.rows, x.segments)); };
    return m;
}

std::span<const NameRule> Vit::rules() {
    static const std::vector<NameRule> all = vit_rules("vit");
    return all;
}

}  // namespace fovea
