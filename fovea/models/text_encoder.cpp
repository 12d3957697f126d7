#include "fovea/models/text_encoder.h"

#include <charconv>

#include "fovea/base/error.h"
#include "fovea/models/bag.h"
#include "fovea/models/convolution.h"
#include "fovea/models/experiments/layer_normed_gru.h"
#include "fovea/models/experiments/transformer_variants.h"
#include "fovea/models/gpt2.h"
#include "fovea/models/recurrent_words.h"
#include "fovea/models/roberta.h"
#include "fovea/models/single_head.h"
#include "fovea/models/transformer.h"
#include "fovea/models/word_rows.h"
#include "fovea/models/word_scores.h"
#include "fovea/models/xlnet.h"

namespace fovea {
namespace {

constexpr TextEncoderEntry encoders[] = {
    {"transformer", TransformerEncoder::model_type, "the encoder of Vaswani et al. 2017",
     TransformerEncoder::new_config, TransformerEncoder::make, TransformerEncoder::rules},
    {"bert", Bert::model_type, "Devlin et al. 2018: masked words and the next sentence",
     Bert::new_config, Bert::make, Bert::rules, Bert::heads, Bert::architecture, "bert-cased"},
    {"roberta", Roberta::model_type, "Liu et al. 2019: BERT's encoder, masked words alone",
     Roberta::new_config, Roberta::make, Roberta::rules, Roberta::heads, Roberta::architecture,
     "roberta"},
    {"gpt2", Gpt2::model_type, "the decoder of Radford et al. 2019, for generating text",
     Gpt2::new_config, Gpt2::make, Gpt2::rules, Gpt2::heads, Gpt2::architecture},
    {"xlnet", XlnetEncoder::model_type, "XLNet (Yang et al. 2019)", XlnetEncoder::new_config,
     XlnetEncoder::make, XlnetEncoder::rules, XlnetEncoder::heads, XlnetEncoder::architecture},
    {.name = "single-head",
     .model_type = SingleHead::model_type,
     .sentence = "word vectors and one self-attention over them",
     .new_config = SingleHead::new_config,
     .make = SingleHead::make,
     .rules = SingleHead::rules,
     .sizes = SingleHead::sizes},
    {.name = "weighted-sum",
     .model_type = WordRows::weighted_sum_type,
     .sentence = "word vectors under a fixed weight for each position",
     .new_config = WordRows::new_weighted_sum,
     .make = WordRows::make,
     .rules = WordRows::rules,
     .sizes = WordRows::sizes,
     .pooling = "positions"},
    {.name = "label-query",
     .model_type = WordRows::label_query_type,
     .sentence = "word vectors that a learned query of each class attends to",
     .new_config = WordRows::new_label_query,
     .make = WordRows::make,
     .rules = WordRows::rules,
     .sizes = WordRows::sizes,
     .pooling = "queries"},
    {.name = "cnn",
     .model_type = Convolution::model_type,
     .sentence = "windows of 2 to 5 words (Kim 2014)",
     .new_config = Convolution::new_config,
     .make = Convolution::make,
     .rules = Convolution::rules,
     .sizes = Convolution::sizes,
     .pooling = "max"},
    {.name = "rnn",
     .model_type = RecurrentWords::gru_type,
     .sentence = "gated recurrent units over the words, both ways (Cho et al. 2014)",
     .new_config = RecurrentWords::new_gru,
     .make = RecurrentWords::make,
     .rules = RecurrentWords::rules,
     .sizes = RecurrentWords::sizes,
     .pooling = "max"},
    {.name = "lstm",
     .model_type = RecurrentWords::lstm_type,
     .sentence = "long short-term memory over the words, both ways",
     .new_config = RecurrentWords::new_lstm,
     .make = RecurrentWords::make,
     .rules = RecurrentWords::rules,
     .sizes = RecurrentWords::sizes,
     .pooling = "max"},
    {.name = "bag",
     .model_type = Bag::model_type,
     .sentence = "the mean of word and n-gram vectors (Joulin et al. 2016)",
     .new_config = Bag::new_config,
     .make = Bag::make,
     .rules = Bag::rules,
     .sizes = Bag::sizes},
    {.name = "linear",
     .model_type = WordScores::model_type,
     .sentence = "logistic regression over words, pairs of words and runs of letters (tf-idf)",
     .new_config = WordScores::new_config,
     .make = WordScores::make,
     .rules = WordScores::rules,
     .sizes = WordScores::sizes},
    // Experiments: one thing changed.
    {"transformer-batch-norm", TransformerVariant<BatchNormedLayer>::model_type,
     "the transformer with batch norm for layer norm",
     TransformerVariant<BatchNormedLayer>::new_config, TransformerVariant<BatchNormedLayer>::make,
     TransformerVariant<BatchNormedLayer>::rules},
    {"transformer-plain", TransformerVariant<PlainLayer>::model_type,
     "the transformer without residual connections", TransformerVariant<PlainLayer>::new_config,
     TransformerVariant<PlainLayer>::make, TransformerVariant<PlainLayer>::rules},
    {"transformer-unscaled", TransformerVariant<UnscaledLayer>::model_type,
     "the transformer without 1/√d in its scores", TransformerVariant<UnscaledLayer>::new_config,
     TransformerVariant<UnscaledLayer>::make, TransformerVariant<UnscaledLayer>::rules},
    {.name = "rnn-layer-norm",
     .model_type = LayerNormedWords::model_type,
     .sentence = "rnn with layer norm on its sums (Ba et al. 2016)",
     .new_config = LayerNormedWords::new_config,
     .make = LayerNormedWords::make,
     .rules = LayerNormedWords::rules,
     .sizes = RecurrentWords::sizes,
     .pooling = "max"},
};

}  // namespace

void EncoderChoice::describe(Settings& s) {
    s.add("preset", preset, "size of the model",
          {.group = "model", .common = true, .choices = {"tiny", "small", "base", "big"}});
    const SettingOptions size{
        .group = "model", .min = 1, .max = 1 << 20, .otherwise = "by the preset"};
    s.add("layers", layers, "blocks one above the other", size);
    s.add("d-model", width, "width of a row", size);
    s.add("ffn", ffn, "width inside feed-forward", size);
    s.add("heads", heads, "attention heads", size);
    s.add("hidden", hidden, "width behind the word vectors (single-head, cnn, rnn)", size);
    s.add("dropout", dropout, "share of values dropped in training",
          {.group = "model", .min = 0, .max = 1, .below_max = true, .otherwise = "by the preset"});
    s.add("max-length", max_length, "tokens of a text; longer ones are cut",
          {.group = "model", .min = 1, .max = 1 << 20});
}

std::span<const TextEncoderEntry> text_encoders() { return encoders; }

std::vector<std::string> text_encoder_names() {
    std::vector<std::string> names;
    for (const TextEncoderEntry& e : encoders) names.emplace_back(e.name);
    return names;
}

const TextEncoderEntry& text_encoder_named(const std::string& name) {
    std::string known;
    for (const TextEncoderEntry& e : encoders) {
        if (name == e.name) return e;
        known += std::string(known.empty() ? "" : ", ") + e.name;
    }
    fail_with(ErrorKind::usage, "known are " + known, "there is no text model `", name, "`");
}

std::string model_type_of(const Json& config) {
    const auto type = config.find("model_type");
    return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

const TextEncoderEntry& text_encoder_of(const Json& config, const std::string& where) {
    const std::string type = model_type_of(config);
    std::string known;
    for (const TextEncoderEntry& e : encoders) {
        if (type == e.model_type) return e;
        known += std::string(known.empty() ? "" : ", ") + e.model_type;
    }
    fail_with(ErrorKind::bad_input, "known are " + known, where, ": \"model_type\" is \"", type,
              "\", which is no text encoder");
}

namespace {

const TextEncoderEntry* encoder_of_type(const Json& config) {
    const std::string type = model_type_of(config);
    for (const TextEncoderEntry& e : encoders)
        if (type == e.model_type) return &e;
    return nullptr;
}

constexpr Head all_heads[] = {Head::none,  Head::classes,        Head::tags, Head::spans,
                              Head::words, Head::words_and_next, Head::next};

}  // namespace

std::optional<Head> head_named_in(const Json& config) {
    const TextEncoderEntry* e = encoder_of_type(config);
    if (!e || !e->architecture || !config.contains("architectures") ||
        !config["architectures"].is_array())
        return {};
    for (const Json& name : config["architectures"])
        for (const Head head : all_heads)
            if (name.is_string() && name == e->architecture(head)) return head;
    return {};
}

void name_architecture(Json& config, Head head) {
    const TextEncoderEntry* e = encoder_of_type(config);
    if (!e || !e->architecture) return;
    const std::string name = e->architecture(head);
    config.erase("architectures");
    if (!name.empty()) config["architectures"] = {name};
}

int numbered_layer(std::string_view parameter, std::string_view prefix) {
    const std::size_t at = parameter.find(prefix);
    if (at == std::string_view::npos) return 0;
    const std::string_view digits = parameter.substr(at + prefix.size());
    int number = -1;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number + 1;
}

}  // namespace fovea
