#pragma once
// The recurrent encoder-decoder (Sutskever et al. 2014; Bahdanau et al. 2015; Luong et al. 2015):
// an encoder that reads both ways, a decoder that reads its own output, and between them a fixed
// vector or attention of any kind (rnn_attention.h).
//
// All sequences of a batch lie end to end; there is no padding. A row has the same bits whatever
// its neighbours, over whole targets and step by step.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>
#include <vector>

#include "fovea/models/rnn_attention.h"
#include "fovea/models/rnn_config.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"
#include "fovea/tensor/name_rules.h"

namespace fovea {

// The source, read.
struct RnnMemory {
    Tensor rows;  // [tokens, d]
    PreparedSource source;
    RecurrentStates start;  // of the decoder's layers, one row a sequence
};

// Where hypotheses stand: one row each.
struct RnnDecoderState {
    RecurrentStates layers;
    Tensor fed;    // the last output; empty where it is not fed
    Tensor query;  // what the last step asked attention with
};

struct RnnEncoder {
    RnnEncoder(const RnnConfig& c, const Params& p);
    RecurrentResult operator()(const Tensor& embedded, const Segments& segments) const;

    Recurrent rnn;
};

struct RnnDecoder {
    RnnDecoder(const RnnConfig& c, const Params& p);

    // What the decoder begins from: tanh(W [last states of both directions] + b), layer by layer.
    RecurrentStates bridged(const RecurrentStates& encoder) const;
    RnnDecoderState start(const RecurrentStates& layers) const;

    // Whole targets at once: rows [rows, d] of outputs.
    Tensor operator()(const Tensor& embedded, const Segments& targets,
                      const RnnMemory& memory) const;
    // One row for each hypothesis; moves the state on.
    Tensor step(const Tensor& embedded, const AskingRows& at, const RnnMemory& memory,
                RnnDecoderState& state) const;

    RnnConfig config;
    std::vector<Linear> bridge;
    Recurrent rnn;
    std::optional<RnnAttention> attention;
    Linear output;

private:
    Tensor fed_by_itself(const Tensor& embedded, const Segments& targets,
                         const RnnMemory& memory) const;
    void report(const Tensor& queries, const Segments& targets, const RnnMemory& memory) const;
    // Luong et al. 2015, eq. 5:  tanh(W [c; q] + b); without attention tanh(W q + b).
    Tensor output_of(const Tensor& q, const AskingRows& at, const RnnMemory& memory) const;
};

struct RnnSeq2Seq {
    RnnSeq2Seq(const RnnConfig& c, const Params& p);

    RnnMemory encode(const Ids& source, const Segments& segments) const;
    // Teacher forcing: the outputs [rows, d] of targets shifted right.
    Tensor decode(const Ids& input, const Segments& targets, const RnnMemory& memory) const;
    Tensor step(const Ids& tokens, const AskingRows& at, const RnnMemory& memory,
                RnnDecoderState& state) const;
    Tensor logits(const Tensor& outputs) const { return linear(outputs, lm_head, lm_bias); }

    static std::span<const NameRule> rules() { return {}; }

    RnnConfig config;
    Tensor shared, decoder_table;  // embeddings of source and target; one handle where shared
    RnnEncoder encoder;
    RnnDecoder decoder;
    Tensor lm_head, lm_bias;  // [V, d] (the target's embedding where tied), [V]

private:
    Tensor embedded(const Tensor& table, const Ids& tokens, const Segments& segments) const;
};

}  // namespace fovea
