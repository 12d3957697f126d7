#pragma once
// One value for anything that reads a source and writes a target: training, search, alignments and
// scores sit on it and never name a model. A model joins by a row in seq2seq_networks().
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/infer/stepper.h"
#include "fovea/nn/params.h"
#include "fovea/tasks/task.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {

struct Seq2SeqBatch {
    Ids source, input, labels;  // packed; input is the target shifted right behind the start token
    Segments source_segments, target_segments;
    Ids copies{};  // for networks that copy: source tokens as ids of the target (seq2seq_copy.h)
};

struct Seq2SeqNetwork {
    int source_vocabulary = 0, target_vocabulary = 0;
    std::int32_t start_token = 0, end_token = 0, pad_token = 0;
    std::int32_t unknown_token = 0;   // read where a word of the source was copied
    bool copies = false;              // labels and tokens may be words of the source
    std::int32_t reverse_token = -1;  // begins a target that is read from its end; -1: none
    int wait_k = 0;                   // source tokens read before the first is written; 0: all
    int width = 0;
    int max_source = 0;                 // tokens, unless the folder says otherwise
    std::string sizes;                  // for people: "3+3 layers, d=256, …"
    double bytes_per_token = 0;         // kept by a training step, roughly
    std::vector<AttentionSides> sides;  // of its attentions; "target" is what is said
    Json about = Json::object();        // what its checkpoints must be known by, for fovea.json

    // The rows of sources [tokens, width]: what tasks beside this one learn from (multi.h).
    std::function<Tensor(const TokenBatch& sources)> encode;
    // Mean over target tokens of the cross-entropy of the labels, smoothed.
    std::function<Tensor(const Seq2SeqBatch& batch, float smoothing)> loss;
    // −log p of each label [rows], no smoothing.
    std::function<Tensor(const Seq2SeqBatch& batch)> token_losses;
    // One pass over whole targets, for whoever watches (a Probe); labels are not looked at.
    std::function<void(const Seq2SeqBatch& batch)> pass;
    // `copies` as Seq2SeqBatch has them, empty where the network does not copy.
    std::function<std::unique_ptr<Stepper>(const TokenBatch& sources, const Ids& copies)> stepper;
    // What a Probe knows attention to the source by: of a decoder's layer, or (−1) of the one that
    // aligns best. "": the model has no such attention.
    std::function<std::string(int layer)> source_attention;
};

// A model as its folder holds it.
struct Seq2SeqFiles {
    Json config;
    ParameterStore parameters;
};

// What is chosen for a new model that is no Transformer; what is left out is the preset's, which
// is then filled in, so that a run can be told what it was.
struct Seq2SeqChoice {
    std::string preset = "small", attention = "global", score = "general", copy = "none";
    bool input_feeding = true;
    float coverage = 0;  // weight of the coverage loss, with copy
    std::optional<int> encoder_layers{}, decoder_layers{}, width{}, heads{};
    std::optional<float> dropout{};
    int max_source = 1024;
};

struct Seq2SeqEntry {
    const char* name;                     // --model NAME
    std::vector<std::string_view> types;  // model_type of its config.json
    // config.json of a new model, without vocabulary and special tokens (vocab_size,
    // decoder_vocab_size, eos_token_id, pad_token_id, decoder_start_token_id,
    // share_encoder_decoder_embeddings: the same keys for every model). Null: not made from a
    // choice (the Transformer, whose sizes are Seq2SeqTraining::config).
    Json (*new_config)(Seq2SeqChoice& choice);
    Seq2SeqNetwork (*make)(const Json& config, const std::string& where, const Params& p);
    std::span<const NameRule> (*rules)();
    // `about` (fovea.json of its run) where the parameters are a checkpoint's, else null.
    Seq2SeqFiles (*files)(const Json& config, const ParameterStore& parameters, const Json* about);
};

std::span<const Seq2SeqEntry> seq2seq_networks();  // the one table
std::vector<std::string> seq2seq_network_names();
const Seq2SeqEntry& seq2seq_network_named(const std::string& name);
// By config.json's model_type; an unknown one is an error that lists those that are known.
const Seq2SeqEntry& seq2seq_network_of(const Json& config, const std::string& where);

// What config.json says of reading targets from their end ("reverse_token_id"); -1: nothing.
std::int32_t reverse_token_in(const Json& config, const std::string& where);

// Rows of the table.
Seq2SeqEntry transformer_seq2seq();
Seq2SeqEntry gru_seq2seq();
Seq2SeqEntry lstm_seq2seq();

}  // namespace fovea
