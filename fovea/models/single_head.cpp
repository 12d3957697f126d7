#include "fovea/models/single_head.h"

#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/ops/attention/attention.h"

namespace fovea {

SingleHeadConfig SingleHeadConfig::from_json(const Json& json, const std::string& where) {
    SingleHeadConfig c;
    c.read(json, where);
    JsonFields(json, where).read("num_attention_heads", c.num_attention_heads, {1, 1 << 16});
    expect_input(c.hidden_size % c.num_attention_heads == 0, where, ": \"hidden_size\" ",
                 c.hidden_size, " does not split into ", c.num_attention_heads, " heads");
    return c;
}

Json SingleHeadConfig::to_json() const {
    Json j = WordModelConfig::to_json(SingleHead::model_type);
    j["num_attention_heads"] = num_attention_heads;
    return j;
}

SingleHead::SingleHead(const SingleHeadConfig& c, const Params& p)
    : config(c),
      embeddings(c, p / "embeddings"),
      q_proj(c.embedding_size, c.hidden_size, p / "encoder" / "q_proj"),
      k_proj(c.embedding_size, c.hidden_size, p / "encoder" / "k_proj"),
      v_proj(c.embedding_size, c.hidden_size, p / "encoder" / "v_proj") {}

Tensor SingleHead::operator()(const TokenBatch& batch) const {
    const Tensor x = embeddings(batch);
    Tensor rows = attention(q_proj(x), k_proj(x), v_proj(x), config.num_attention_heads,
                            everything(batch.segments, batch.segments), {.name = "encoder"});
    rows.set_row_names(batch.segments);
    return rows;
}

Json SingleHead::new_config(const EncoderChoice& choice) {
    SingleHeadConfig c;
    c.apply(choice);
    c.num_attention_heads = choice.heads.value_or(1);
    if (c.hidden_size % c.num_attention_heads != 0)
        fail_with(ErrorKind::usage, "choose --heads that divide --hidden", "--heads is ",
                  c.num_attention_heads, ", but --hidden ", c.hidden_size,
                  " does not split into so many");
    return c.to_json();
}

TextEncoder SingleHead::make(const Json& config, const std::string& where, const HeadChoice&,
                             const Params& p) {
    const auto model =
        std::make_shared<const SingleHead>(SingleHeadConfig::from_json(config, where), p);
    TextEncoder e = word_encoder(model->config, model->config.hidden_size, 1);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    return e;
}

}  // namespace fovea
