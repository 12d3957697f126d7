#pragma once
// What tasks that train on a text encoder share: which encoder a new model gets, how fast each of
// its layers learns, and what a run says about it.
// Not thread-safe: it belongs to one trainer.
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/score.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/run_settings.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tasks/vocabulary_choice.h"

namespace fovea {

// --freeze and --layer-decay. With a decay of 0.9 each layer learns 0.9 times as fast as the one
// above it (Howard & Ruder 2018, §3.2; Clark et al. 2020, §3.1).
struct LayerRates {
    std::vector<std::string> frozen;  // embeddings, encoder, a layer (2), layers (1-4), a pattern
    double decay = 1;

    void describe(Settings& settings);
    // For TrainTask::parameter_rules; a part that is not there is a usage error. Heads of a task
    // are above the encoder's last layer.
    ParameterRules rules(const TextEncoder& encoder, const ParameterStore& store) const;
    // The same of any model with `layers` layers, whose numbers layer_of knows.
    ParameterRules rules(int layers, const std::function<int(std::string_view)>& layer_of,
                         const ParameterStore& store) const;
};

// The encoder of a new model, and its vocabulary.
struct EncoderMaking {
    std::string model_name = "transformer";
    EncoderChoice choice{};
    VocabularyChoice vocabulary{};

    // `others`: what a task knows besides text encoders.
    void describe(Settings& settings, std::span<const std::string> others = {},
                  const std::string& sentence = "what reads the text");
    // Where nobody chose the model (it is "auto") that reads the words of sentences: a recurrence
    // over words that were seen, beside what words look like. It learns more from few sentences
    // than attention does (docs/results.md). --heads or --ffn ask for a Transformer.
    void choose_word_reader(const Settings& settings, std::size_t sentences, int& word_features,
                            const Say& say);
    // With --from only the dropout can be chosen.
    void leave_out_with_from(Settings& settings) const;
    // Config and tokenizer; labels are the task's business.
    ModelFolder new_folder(std::span<const std::string> texts, const Say& say);
};

// Rate and epochs by the size of the model, where nobody says otherwise.
RunDefaults encoder_defaults(int width, bool pretrained);

// The model of --from, or the encoder that several tasks train together. `dropout`: in place of
// what the model was trained with before.
ModelFolder folder_to_go_on_from(const RunSettings& run, const std::optional<float>& dropout = {});
// "model: the encoder of …; new: …; left: …"
std::string new_head_text(const std::string& from, const ModelFolder::NewHead& heads);

// What is known of a run over these batches. `values_per_token`: how many are kept of each token of
// a batch until its gradient is there.
TrainSummary summary_of(std::string model, const ParameterStore& store, const EpochBatches& batches,
                        double values_per_token);
// About fourteen rows of each layer.
double values_per_token(const TextEncoder& encoder);
// A run over these batches, which must outlive it, of the folder's parameters; each example counts
// one. Loss, score and saving are the task's.
TrainTask task_over(EpochBatches& batches, ParameterStore& store, const ModelFolder& folder);

// What the loop is told; `metric`: the figure that --metric names ("auto": the score's own).
Evaluation evaluation_of(const MetricScore& score, const std::string& metric);

// What a folder says of the data it learned from (which a resumed run must have again) and of its
// score on the dev set. `contents`: the texts and labels of all records, in order.
void note_data(ModelFolder& folder, const std::vector<std::string>& contents, std::size_t records,
               const RunSettings& run);
void note_score(ModelFolder& folder, const Evaluation& evaluation, const std::string& signature);
// evaluation_of, noted in the folder.
Evaluation noted_evaluation(ModelFolder& folder, const MetricScore& score,
                            const std::string& metric);

// --unknown-label skip: how many records of the dev set were passed over; that none is left is an
// error.
struct UnknownLabels {
    const char *record, *what;  // "sentence", "a tag"
};
void say_skipped(const UnknownLabels& labels, std::size_t skipped, std::size_t left,
                 const RunSettings& run, const Say& say);

// "play (3), stop (2), …", the first dozen.
std::string counts_text(const std::map<std::string, std::int64_t>& counts);

}  // namespace fovea
