#include "fovea/tasks/encoder_training.h"

#include <charconv>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/split.h"
#include "fovea/tensor/name_rules.h"

namespace fovea {
namespace {

std::string joined_names(const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    return all;
}

// "3" or "1-4": layers from 1.
bool is_layer_range(const std::string& text, int& first, int& last) {
    const char *at = text.data(), *end = at + text.size();
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc{} || read.ptr == at) return false;
    last = first;
    if (read.ptr == end) return true;
    if (*read.ptr != '-') return false;
    read = std::from_chars(read.ptr + 1, end, last);
    return read.ec == std::errc{} && read.ptr == end;
}

bool is_part(const std::string& part, int layer, int layers, const std::string& name) {
    if (part == "embeddings") return layer == 0;
    if (part == "encoder") return layer <= layers;
    int first = 0, last = 0;
    if (is_layer_range(part, first, last)) return layer >= first && layer <= last && layer > 0;
    std::vector<std::string> captures;
    return matches_pattern(part, name, captures);
}

}  // namespace

void LayerRates::describe(Settings& s) {
    s.add("freeze", frozen,
          "parts that keep their values: embeddings, encoder, a layer (2), layers (1-4) or a "
          "pattern of parameters (again for more)",
          {.group = "model"});
    s.add("layer-decay", decay,
          "each layer learns so much slower than the one above it; 1: as fast",
          {.group = "model", .min = 0.01, .max = 1});
}

ParameterRules LayerRates::rules(const TextEncoder& e, const ParameterStore& store) const {
    return rules(e.layers, e.layer_of, store);
}

ParameterRules LayerRates::rules(int layers, const std::function<int(std::string_view)>& layer_of,
                                 const ParameterStore& store) const {
    if (frozen.empty() && decay == 1) return {};
    if (!layer_of)
        fail_with(ErrorKind::usage, "leave out --freeze and --layer-decay",
                  "the model has no layers that could learn at rates of their own");
    std::set<std::string> still;
    for (const std::string& part : frozen) {
        const std::size_t before = still.size();
        bool found = false;
        for (const std::string& name : store.names())
            if (is_part(part, layer_of(name), layers, name)) found = true, still.insert(name);
        if (!found && before == still.size())
            fail_with(ErrorKind::usage,
                      text_of("embeddings, encoder, layers 1 to ", layers,
                              ", or a pattern such as ", store.names().back()),
                      "--freeze ", part, ": the model has no such part");
    }
    if (still.size() == store.names().size())
        fail_with(ErrorKind::usage, "leave something to learn", "--freeze: all of the model");
    return [still, decay = decay, top = layers + 1, layer_of](const std::string& name) {
        ParameterRule rule;
        rule.frozen = still.count(name) > 0;
        rule.rate_factor = std::pow(decay, top - layer_of(name));
        return rule;
    };
}

void EncoderMaking::describe(Settings& s, std::span<const std::string> others,
                             const std::string& sentence) {
    std::vector<std::string> models = text_encoder_names();
    models.insert(models.end(), others.begin(), others.end());
    s.add("model", model_name, sentence, {.group = "model", .common = true, .choices = models});
    choice.describe(s);
    vocabulary.describe(s);
}

void EncoderMaking::choose_word_reader(const Settings& s, std::size_t sentences, int& word_features,
                                       const Say& say) {
    if (model_name != "auto") return;
    model_name = s.given("heads") || s.given("ffn") ? "transformer" : "lstm";
    if (model_name == "lstm") {
        if (!s.given("word-features")) word_features = 64;
        if (!s.given("d-model") && !s.given("preset")) choice.width = 64;
        if (!s.given("hidden") && !s.given("preset")) choice.hidden = 64;
        if (!s.given("vocab") && !s.given("tokenizer")) {
            vocabulary.kind = "words";
            if (!s.given("vocab-size")) vocabulary.size = 30000;
            if (!s.given("lowercase")) vocabulary.lowercase = true;
            // Words that were seen once teach what an unknown word is.
            if (!s.given("min-frequency")) vocabulary.min_frequency = sentences < 200 ? 1 : 2;
        }
    }
    say("model: " + model_name + "   change with --model");
}

void EncoderMaking::leave_out_with_from(Settings& s) const {
    static constexpr const char* of_the_model[] = {
        "model",      "preset", "layers",     "d-model",       "ffn",       "heads",    "hidden",
        "max-length", "vocab",  "vocab-size", "min-frequency", "lowercase", "tokenizer"};
    leave_out(s, of_the_model, "with --from: sizes and vocabulary are those of the model");
}

ModelFolder EncoderMaking::new_folder(std::span<const std::string> texts, const Say& say) {
    ModelFolder folder;
    vocabulary.frame = text_encoder_named(model_name).tokens;
    folder.tokenizer = folder.target_tokenizer = vocabulary.make(texts, say);
    if (choice.max_length <= folder.tokenizer->special_tokens_added())
        throw Error(text_of("--max-length is ", choice.max_length,
                            ", which leaves no room for words beside the special tokens"),
                    ErrorKind::usage, "512 is usual");
    choice.vocabulary = static_cast<int>(folder.tokenizer->vocab_size());
    choice.end_token = folder.tokenizer->eos_id().value_or(0);
    choice.pad_token = folder.tokenizer->pad_id().value_or(choice.end_token);
    folder.config = text_encoder_named(model_name).new_config(choice);
    return folder;
}

RunDefaults encoder_defaults(int width, bool pretrained) {
    // Devlin et al. 2018, §A.3: 2e-5 to 5e-5 and 2 to 4 epochs; small models bear more.
    if (pretrained)
        return {.rate = tuning_rate(width), .warmup = 500, .epochs = 4, .d_model = width};
    return {.rate = new_rate(width), .warmup = 500, .epochs = 20, .d_model = width};
}

namespace {

// Every share of dropped values in a config. Published models name them hidden_dropout_prob,
// attn_pdrop, dropout, ….
void set_dropout(Json& config, float share) {
    for (const char* ending : {"dropout", "dropout_prob", "pdrop"})
        for (const auto& [name, value] : config.items())
            if (name.ends_with(ending) && value.is_number()) config[name] = share;
}

}  // namespace

ModelFolder folder_to_go_on_from(const RunSettings& run, const std::optional<float>& dropout) {
    if (run.body) {
        if (dropout)
            refuse_without_effect("dropout", "on an encoder that another task makes",
                                  "move it to [train]");
        return run.body->folder;
    }
    ModelFolder folder = ModelFolder::open(run.from);
    if (dropout) set_dropout(folder.config, *dropout);
    return folder;
}

std::string new_head_text(const std::string& from, const ModelFolder::NewHead& heads) {
    return "model: the encoder of " + from + "; new: " + joined_names(heads.made) +
           (heads.left.empty() ? "" : "; left: " + joined_names(heads.left));
}

TrainSummary summary_of(std::string model, const ParameterStore& store, const EpochBatches& batches,
                        double values_per_token) {
    TrainSummary s;
    s.model = std::move(model);
    s.parameters = store.count();
    s.records = batches.examples();
    s.batches_per_epoch = batches.per_epoch();
    s.tokens_per_epoch = batches.tokens();
    // 24 bytes: a parameter, its gradient and two moments, and what passes by
    s.memory_bytes = 24.0 * static_cast<double>(s.parameters) +
                     4.0 * values_per_token * static_cast<double>(batches.max_tokens());
    return s;
}

double values_per_token(const TextEncoder& encoder) {
    return 14.0 * encoder.width * encoder.layers;
}

TrainTask task_over(EpochBatches& batches, ParameterStore& store, const ModelFolder& folder) {
    TrainTask t;
    t.store = &store;
    t.fingerprint = folder.about.at("data");
    t.begin_epoch = [&batches](std::int64_t epoch) { return batches.begin(epoch); };
    t.batch_weight = [&batches](std::int64_t b) {
        return static_cast<std::int64_t>(batches[b].size());
    };
    return t;
}

Evaluation evaluation_of(const MetricScore& s, const std::string& metric) {
    Evaluation e{s.name, s.value, s.higher_is_better, s.figures.at("loss"), s.figures};
    if (metric != "auto" && s.figures.contains(metric)) {
        e.name = metric;
        e.value = s.figures.at(metric);
        e.higher_is_better = metric != "loss";
    }
    return e;
}

void note_data(ModelFolder& folder, const std::vector<std::string>& contents, std::size_t records,
               const RunSettings& run) {
    folder.about["data"] = {{"train", hash_text(record_hash(contents))},
                            {"records", records},
                            {"seed", run.options.seed}};
    if (folder.tokenizer) folder.about["data"]["vocabulary"] = folder.tokenizer->vocab_size();
    folder.about["train_file"] = base_name(run.train[0]);
}

void note_score(ModelFolder& folder, const Evaluation& e, const std::string& signature) {
    folder.about["dev"] = {{"metric", e.name}, {"value", e.value}, {"signature", signature}};
}

Evaluation noted_evaluation(ModelFolder& folder, const MetricScore& score,
                            const std::string& metric) {
    const Evaluation e = evaluation_of(score, metric);
    note_score(folder, e, score.signature);
    return e;
}

void say_skipped(const UnknownLabels& labels, std::size_t skipped, std::size_t left,
                 const RunSettings& run, const Say& say) {
    if (skipped == 0) return;
    say(text_of("data: ", skipped, " ", labels.record, skipped == 1 ? " has " : "s have ",
                labels.what, " that was never seen: passed over"));
    expect_input(left > 0, run.dev, ": every ", labels.record, " has ", labels.what,
                 " that was never seen in training");
}

std::string counts_text(const std::map<std::string, std::int64_t>& counts) {
    std::string all;
    int shown = 0;
    for (const auto& [name, count] : counts) {
        if (++shown > 12) return all + ", …";
        all += text_of(all.empty() ? "" : ", ", name, " (", count, ")");
    }
    return all;
}

}  // namespace fovea
