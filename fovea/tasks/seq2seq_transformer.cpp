#include "fovea/tasks/seq2seq_transformer.h"

#include <algorithm>

#include "fovea/infer/transformer_stepper.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tasks/seq2seq_copy.h"
#include "fovea/tasks/seq2seq_network.h"

namespace fovea {
namespace {

using SharedTransformer = std::shared_ptr<const Transformer>;

// The last layer but one aligns best (Garg et al. 2019).
std::string cross_attention_of(const Transformer& t, int layer) {
    const auto layers = static_cast<int>(t.decoder.layers.size());
    const int chosen = layer >= 0 ? std::min(layer, layers - 1) : std::max(0, layers - 2);
    return t.decoder.layers[static_cast<std::size_t>(chosen)].encoder_attn.name;
}

// Kept activations: about 10 rows of d and 2 of ffn a layer in the encoder, 16 and 2 in the
// decoder.
double kept_bytes(const TransformerConfig& c) {
    return 4.0 * (c.encoder_layers * (10.0 * c.d_model + 2.0 * c.encoder_ffn_dim) +
                  c.decoder_layers * (16.0 * c.d_model + 2.0 * c.decoder_ffn_dim));
}

Seq2SeqNetwork network_of(const SharedTransformer& t) {
    const TransformerConfig& c = t->config;
    Seq2SeqNetwork n;
    n.source_vocabulary = c.vocab_size;
    n.target_vocabulary = c.target_vocab();
    n.start_token = c.decoder_start_token_id;
    n.end_token = c.eos_token_id;
    n.pad_token = c.pad_token_id;
    n.wait_k = c.wait_k;
    n.width = c.d_model;
    n.max_source = c.max_position_embeddings;
    n.sizes = text_of(c.encoder_layers, "+", c.decoder_layers, " layers, d=", c.d_model,
                      ", ffn=", c.encoder_ffn_dim, ", ", c.encoder_attention_heads, " heads");
    if (!all_global(c.encoder_attention)) n.sizes += ", attention " + name_of(c.encoder_attention);
    if (!all_global(c.decoder_attention)) n.sizes += ", decoder " + name_of(c.decoder_attention);
    if (!all_global(c.cross_attention)) n.sizes += ", source " + name_of(c.cross_attention);
    if (c.wait_k > 0) n.sizes += text_of(", wait ", c.wait_k);
    n.bytes_per_token = kept_bytes(c);
    n.sides = {{".encoder_attn", "target", "source"},
               {"model.decoder.", "target", "target"},
               {"", "source", "source"}};
    // The column order of checkpoints, which the saved folder (Marian's halves) may not have.
    n.about["trained_positions"] = name_of(c.positions);
    n.encode = [t](const TokenBatch& sources) {
        return t->encode(sources.tokens, sources.segments);
    };
    n.loss = [t](const Seq2SeqBatch& b, float smoothing) {
        return t->loss(b.source, b.source_segments, b.input, b.labels, b.target_segments,
                       {.smoothing = smoothing});
    };
    n.token_losses = [t](const Seq2SeqBatch& b) {
        const Tensor memory = t->encode(b.source, b.source_segments);
        const Tensor hidden = t->decoder(b.input, b.target_segments, memory, b.source_segments);
        return cross_entropy(t->logits(hidden), b.labels, {.reduction = Reduction::none});
    };
    n.pass = [t](const Seq2SeqBatch& b) {
        t->decoder(b.input, b.target_segments, t->encode(b.source, b.source_segments),
                   b.source_segments);
    };
    n.stepper = [t](const TokenBatch& sources, const Ids&) {
        return std::make_unique<TransformerStepper>(*t, sources.tokens, sources.segments);
    };
    n.source_attention = [t](int layer) { return cross_attention_of(*t, layer); };
    return n;
}

CopyParts copy_parts(const SharedTransformer& t) {
    CopyParts parts;
    parts.read = [t](const Seq2SeqBatch& b) {
        const Tensor memory = t->encode(b.source, b.source_segments);
        return CopyParts::Rows{t->decoder(b.input, b.target_segments, memory, b.source_segments),
                               memory};
    };
    parts.logits = [t](const Tensor& rows) { return t->logits(rows); };
    parts.steps = [t](const TokenBatch& sources) {
        auto rows = std::make_unique<TransformerStepper>(*t, sources.tokens, sources.segments,
                                                         StepResult::rows);
        const Tensor memory = rows->memory();
        return CopyParts::Steps{std::move(rows), memory};
    };
    return parts;
}

Seq2SeqNetwork make_transformer_network(const Json& config, const std::string& where,
                                        const Params& p) {
    const auto t =
        std::make_shared<const Transformer>(TransformerConfig::from_json(config, where), p);
    Seq2SeqNetwork n = network_of(t);
    n.reverse_token = reverse_token_in(config, where);
    const CopyMode copy = copy_mode_in(config, where);
    if (copy == CopyMode::none) return n;
    n.unknown_token = config.value("unk_token_id", n.end_token);
    return with_copying(std::move(n), copy_parts(t),
                        std::make_shared<const PointerHead>(copy, t->config.d_model, p / "pointer"),
                        coverage_in(config, where));
}

// A checkpoint keeps the columns as they were trained, the folder may have them in Marian's order.
Seq2SeqFiles transformer_files(const Json& config, const ParameterStore& parameters,
                               const Json* about) {
    TransformerConfig c = TransformerConfig::from_json(config, "config.json");
    if (about) {
        c.positions =
            position_code_of(about->value("trained_positions", std::string(name_of(c.positions))));
        c.final_logits_bias = parameters.has("final_logits_bias");
    }
    if (copy_mode_in(config, "config.json") != CopyMode::none) {  // no other program knows them
        Seq2SeqFiles ours;
        ours.config = c.to_json();
        for (const char* key : {"copy", "unk_token_id", "coverage", "reverse_token_id"})
            if (config.contains(key)) ours.config[key] = config[key];
        for (const std::string& name : parameters.names())
            ours.parameters.put(name, parameters.at(name));
        return ours;
    }
    TransformerFiles files = files_of(c, parameters);
    if (config.contains("reverse_token_id"))
        files.config["reverse_token_id"] = config["reverse_token_id"];
    return {std::move(files.config), std::move(files.parameters)};
}

}  // namespace

FreshTransformer::FreshTransformer(const TransformerConfig& config, std::uint64_t seed)
    : store(std::make_shared<ParameterStore>()) {
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    network = std::make_unique<Transformer>(config, Params(*store, rng));
}

Seq2SeqEntry transformer_seq2seq() {
    return {"transformer",
            {"marian", "bart", "fovea_transformer"},
            nullptr,
            make_transformer_network,
            Transformer::rules,
            transformer_files};
}

}  // namespace fovea
