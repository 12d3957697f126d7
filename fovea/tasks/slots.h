#pragma once
// Slot filling: what a request wants (its intent) and with what (its slots), judged together. One
// encoder reads the words; tags on each of them are the slots, and all rows pooled are the intent:
//
//   rows = TagNetwork(words)      slots = CRF(rows Wᵀ + b)      intent = softmax(pool(rows) Vᵀ + c)
//   loss = slots' loss + intent weight · cross entropy
//
//   const SlotModel model = SlotModel::open(ModelFolder::open("run/model"));
//   const std::string texts[] = {"play some jazz on spotify"};
//   const SlotAnswer a = fill_slots(model, texts)[0];
//   // a.intent == "PlayMusic", a.slots[0] == {.start = 10, .end = 14, .label = "genre", "jazz", …}
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/slot_texts.h"
#include "fovea/metrics/score.h"
#include "fovea/nn/pooling.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/tag_network.h"
#include "fovea/tasks/tag_text.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct SlotNetwork {
    SlotNetwork(const Json& config, const std::string& where,
                const std::vector<std::string>& labels, const Params& p);

    struct Heads {
        Tensor emissions;  // [words, labels]
        Tensor intents;    // [sentences, intents]
    };
    Heads operator()(const WordBatch& batch) const;

    TagNetwork tags;
    Pooling pooling;
    Linear intent;
};

// What is chosen when a model is made, besides its encoder.
struct SlotChoice {
    TagChoice tags{};
    Pool pooling = Pool::attention;
    std::vector<std::string> intents{};

    void write(Json& config) const;
};

struct SlotModel {
    ModelFolder folder;  // config, tokenizer, labels: the tags of slots
    std::vector<std::string> intents{};
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const SlotNetwork> network;
    Precision precision = Precision::f32;  // of its matrix products

    // A new model. `folder` has the config of a text encoder, the labels and the tokenizer.
    static SlotModel create(ModelFolder folder, const SlotChoice& choice, std::uint64_t seed);
    // New heads on the encoder of a model of any task, whose folder now has the labels.
    static SlotModel create_from(ModelFolder pretrained, const SlotChoice& choice,
                                 std::uint64_t seed, ModelFolder::NewHead& report);
    static SlotModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    EncodedWords encode(std::span<const std::string> words) const;
    std::int32_t label_id(const std::string& label) const;    // -1: it has no such label
    std::int32_t intent_id(const std::string& intent) const;  // -1: it has no such intent
};

struct SlotAnswer {
    std::string intent;               // "" of a text without words
    float probability = 0;            // of the intent
    std::vector<TextEntity> slots;    // in the order of the text
    std::vector<float> intents = {};  // probabilities of all, in the order of the model's
    std::int64_t windows = 0;         // more than one: the text was longer than the model takes
};

// A text's answer does not depend on its neighbours. Bytes that are not UTF-8 are read as U+FFFD.
std::vector<SlotAnswer> fill_slots(const SlotModel& model, std::span<const std::string> texts,
                                   std::int64_t batch_tokens = 4096,
                                   const PredictControl& control = {});

// F1 of slots (as seqeval counts), accuracy of intents and of whole sentences (intent and every tag
// right), mean loss. `outputs`: the intent and the tags of each text.
MetricScore slot_score(const SlotModel& model, std::span<const SlotText> texts,
                       std::vector<std::string>* outputs = nullptr,
                       const PredictControl& control = {});

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_slots(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                bool overwrite);

std::unique_ptr<Trainer> make_slots_trainer();
std::unique_ptr<Predictor> make_slots_predictor();

}  // namespace fovea
