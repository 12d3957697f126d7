#pragma once
// One value for anything that turns a batch of tokens into rows: the heads of classify, tag, slots
// and embed sit on it and never name a model. A model joins by a row in text_encoders().
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/base/settings.h"
#include "fovea/nn/kv_cache.h"
#include "fovea/nn/params.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/token_batch.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

// What stands on the rows. Published models bring heads of their own, under names of their own.
enum class Head {
    none,
    classes,         // a label for each sequence
    tags,            // a label for each token
    spans,           // where an answer begins and ends
    words,           // the vocabulary: a masked or a next token
    words_and_next,  // and whether the second text of a pair follows the first (BERT's pretraining)
    next,
};

struct HeadChoice {
    Head head = Head::none;
    int classes = 0;  // classes and tags: how many
};

// The rows that sequences gain while decoding: `fresh` (mostly one row each), the first of each at
// positions `at`. `sees` (over the cache) says which rows are a sequence's history.
struct NextTokens {
    const Ids& tokens;
    const Segments& fresh;
    const Positions& at;
    const Visibility& sees;
};

// What the layers of a model read of the text before a sequence (Transformer-XL's memory): rows in
// the order of the text. No gradient flows into them.
struct RowMemory {
    std::vector<Tensor> rows;  // one a layer, [segments.total(), width]
    Segments segments;         // one a sequence; a sequence without a memory has none of the rows
    bool empty() const { return rows.empty(); }
};

// Tokens to be told in an order of their own. `order` has the positions of each sequence, of which
// the last `predicted` are targets: they know the tokens before them in the order, and the memory.
struct ToldTokens {
    const TokenBatch& batch;
    const Ids& order;
    std::span<const std::int64_t> predicted;
    const RowMemory* memory = nullptr;
    RowMemory* remembered = nullptr;  // if given: what the layers read of the batch itself
};

struct TextEncoder {
    int width = 0;       // columns of a row
    int vocabulary = 0;  // columns of words()
    int max_length = 0;  // tokens of a sequence
    int layers = 0;
    float dropout = 0;                              // what a head on top does with its input
    std::function<Tensor(const TokenBatch&)> rows;  // [total tokens, width]

    // The head that was asked for, as the model's own checkpoints have it: dropout within. Empty:
    // not asked for, or the model has none (then a task puts Pooling and Linear there).
    std::function<Tensor(const Tensor& rows, const Segments&)> classes;  // [sequences, classes]
    std::function<Tensor(const Tensor& rows)> tags;                      // [rows, classes]
    std::function<Tensor(const Tensor& rows)> spans;  // [rows, 2]: begins here, ends here
    std::function<Tensor(const Tensor& rows)> words;  // [rows, vocabulary], of any rows
    // The mean cross-entropy of words(rows); the scores of all rows are never kept together.
    std::function<Tensor(const Tensor& rows, const Ids& labels)> word_loss;
    std::function<Tensor(const Tensor& rows, const Segments&)> next;  // [sequences, 2]: yes, no

    // Models that read left to right: the fresh rows of sequences, whose keys and values join the
    // caches (one a layer). Empty: the model looks both ways.
    std::function<Tensor(const NextTokens& next, std::span<KvCache> caches)> step;

    // Models that tell tokens in any order (XLNet): the rows of the targets, in that order. Empty:
    // there is one order.
    std::function<Tensor(const ToldTokens& told)> targets;
    // And what a text leaves to the one behind it, read both ways or from left to right.
    std::function<RowMemory(const TokenBatch& before, bool left_to_right)> remember;
    int kept_rows = 0;  // while writing: so many rows of the past at most; 0: all

    // What a model knows of its training texts by counting them (linear: how rare a run is): called
    // once before training. Empty: nothing.
    std::function<void(const TokenBatch& texts)> count;

    // Which layer a parameter belongs to: 0 the embeddings, 1 … layers the blocks from the bottom;
    // for rates that fall with depth and for freezing. Parameters of a head: layers + 1.
    std::function<int(std::string_view parameter)> layer_of;
};

// What is chosen when a new model is made; what is left out is the preset's.
struct EncoderChoice {
    std::string preset = "tiny";
    std::optional<int> layers{}, width{}, ffn{}, heads{}, hidden{};
    std::optional<float> dropout{};
    int vocabulary = 0;
    int max_length = 512;
    int end_token = 0, pad_token = 0;
    int space_token = -1;  // where every character is a token: that between words

    void describe(Settings& settings);  // sizes; vocabulary and tokens come from the tokenizer
};

// Parameters of a checkpoint that belong to a head, by pattern (tensor/name_rules.h). A model that
// is made from another's folder (--from) takes its body and leaves its heads.
struct HeadParameters {
    std::string_view pattern;
    bool shared = false;  // several heads stand on it (BERT's pooler): kept where it is there
};

struct TextEncoderEntry {
    const char* name;        // --model NAME
    const char* model_type;  // of its config.json
    const char* sentence;
    Json (*new_config)(const EncoderChoice& choice);  // wrong sizes are usage errors
    TextEncoder (*make)(const Json& config, const std::string& where, const HeadChoice& head,
                        const Params& p);
    // Old spellings, and a checkpoint's names where they differ from the model's.
    std::span<const NameRule> (*rules)();
    std::span<const HeadParameters> heads = {};
    // The class of Hugging Face's that a config.json names under "architectures"; "" where there is
    // none. No function: the model is ours alone.
    std::string (*architecture)(Head head) = nullptr;
    // The tokenizer recipe whose special tokens and template its checkpoints have ("" : any).
    const char* tokens = "";
    // Which of the sizes of EncoderChoice it has, by the names of the settings.
    std::string_view sizes = "layers d-model ffn heads";
    const char* pooling = "mean";  // of a classifier, where the model has no head of its own
};

std::span<const TextEncoderEntry> text_encoders();  // the one table
std::vector<std::string> text_encoder_names();
const TextEncoderEntry& text_encoder_named(const std::string& name);
// By config.json's model_type; an unknown one is an error that lists those that are known.
const TextEncoderEntry& text_encoder_of(const Json& config, const std::string& where);

// "model_type" of a config.json; "" where it says none.
std::string model_type_of(const Json& config);

// What a config.json calls its head: none where it names no architecture, or an unknown one.
std::optional<Head> head_named_in(const Json& config);
// Writes the architecture into a config.json; takes it out where the model has no name for it.
void name_architecture(Json& config, Head head);

// The number behind "layers." in a dotted name, plus one; 0 where there is none.
int numbered_layer(std::string_view parameter, std::string_view prefix);

}  // namespace fovea
