#pragma once
// Answers taken from a text: where in the context the answer of a question begins and ends, and
// whether it is there at all. Any SpanModel: text encoders with a head for spans (BERT and its kin,
// by --model or --from), or `reader`, which learns from scratch.
//
//   s, e = model(question, context)      answer = argmax s_i + e_j,  i ≤ j < i + longest
//   none, where s_none + e_none exceeds the best answer by more than a bound (SQuAD 2.0)
//
// A context longer than the model takes is read in windows that overlap; a beginning is judged in
// the window in which it stands furthest from an edge.
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/questions.h"
#include "fovea/data/sequence_frame.h"
#include "fovea/metrics/score.h"
#include "fovea/models/span_model.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct AnswerModel {
    ModelFolder folder;  // config, tokenizer
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const SpanModel> network;
    Precision precision = Precision::f32;  // of its matrix products
    SequenceFrame frame;                   // around both texts (nothing for models of words)
    std::int32_t none_row = 0;             // of a window: where "there is no answer" is judged
    bool may_be_none = false;              // it learned that there may be no answer
    double none_bound = 0;  // "none" must exceed the best answer by more, in the scores' unit

    // A new model. `folder` has the config of a span model and the tokenizer.
    static AnswerModel create(ModelFolder folder, bool may_be_none, std::uint64_t seed);
    // A new head on the encoder of a model of any task. `report` says which parameters were made
    // and which were left.
    static AnswerModel create_from(ModelFolder pretrained, bool may_be_none, std::uint64_t seed,
                                   ModelFolder::NewHead& report);
    static AnswerModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;
};

struct AskedQuestion {
    std::string question, context;
};

struct TextAnswer {
    std::string text;
    std::int64_t start = 0, end = 0;  // characters of the context
    double score = 0;                 // s_i + e_j
    double probability = 0;           // among the twenty best, and "none" where that may be
};

struct AnsweredQuestion {
    std::vector<TextAnswer> best;  // the most probable first; empty: nothing in the context
    bool none = false;             // the model says that the context has no answer
    double none_score = 0;         // how much "none" exceeds the best answer
    double none_probability = 0;
    std::int64_t windows = 0;  // more than one: the context was longer than the model takes
    bool cut = false;          // the question was too long, and was cut
    double loss = 0;           // where wanted answers were given

    // What is said: the best answer, or "" for none.
    std::string text() const { return none || best.empty() ? std::string() : best[0].text; }
};

struct AnswerOptions {
    int n_best = 1;
    int longest = 30;                    // tokens of an answer at most
    std::optional<double> none_bound{};  // instead of the model's own
    std::int64_t batch_tokens = 4096;
};

// A question's answer does not depend on its neighbours. Bytes that are not UTF-8 are read as
// U+FFFD.
std::vector<AnsweredQuestion> answer(const AnswerModel& model,
                                     std::span<const AskedQuestion> questions,
                                     const AnswerOptions& options = {},
                                     const PredictControl& control = {});

// F1 and exact match (metrics/answers.h: 2.0 rules where some question has no answer), and the mean
// loss. `found`: what was answered.
MetricScore score_answers(const AnswerModel& model, std::span<const QuestionRecord> records,
                          const AnswerOptions& options = {},
                          std::vector<AnsweredQuestion>* found = nullptr,
                          const PredictControl& control = {});

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_answerer(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite);

std::unique_ptr<Trainer> make_answer_trainer();
std::unique_ptr<Predictor> make_answer_predictor();

}  // namespace fovea
