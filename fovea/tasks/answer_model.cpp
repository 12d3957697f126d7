// The folder of a model that answers questions.
#include <algorithm>

#include "fovea/base/json_fields.h"
#include "fovea/data/word_forms.h"
#include "fovea/models/reader.h"
#include "fovea/tasks/answer.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_answerer = 0x696e6974;  // the stream of initial values

// config.json of a new model.
void name_spans(Json& config, bool may_be_none) {
    for (const char* old : {"pooling", "problem_type", "crf", "bio", "no_answer_bound"})
        config.erase(old);
    config["no_answer"] = may_be_none;
    if (model_type_of(config) != Reader::model_type) name_architecture(config, Head::spans);
}

// The special tokens around both texts, and the one that stands for "no answer": [CLS] where there
// is one, else the last. A template that does not part the texts, or ends with nothing, gets the
// end token there.
void settle_frame(AnswerModel& m, const Tokenizer& t) {
    m.frame = pair_frame(t);
    const Ids& front = m.frame.front.ids;
    const auto cls = t.cls_id() ? std::find(front.begin(), front.end(), *t.cls_id()) : front.end();
    m.none_row = cls == front.end() ? -1 : static_cast<std::int32_t>(cls - front.begin());
    const auto end_with_stop = [&](SequenceFrame::Part& part, std::int32_t type) {
        if (!part.ids.empty() || !t.eos_id()) return;
        part.ids.push_back(*t.eos_id());
        part.types.push_back(type);
    };
    end_with_stop(m.frame.middle, m.frame.first_type);
    if (m.none_row < 0) end_with_stop(m.frame.back, m.frame.second_type);
    if (m.frame.back.ids.empty() && m.none_row < 0) m.none_row = 0;
}

// What follows from config and tokenizer, once the network is there.
void settle_answerer(AnswerModel& m, const std::string& where) {
    const SpanModel& n = *m.network;
    const Tokenizer& t = *m.folder.tokenizer;
    JsonFields f(m.folder.config, where);
    f.read("no_answer", m.may_be_none);
    f.read("no_answer_bound", m.none_bound);
    expect_input(t.vocab_size() <= n.vocabulary, where, ": the model has ", n.vocabulary,
                 " tokens but its tokenizer has ", t.vocab_size());
    if (n.reads_words) {
        int features = 0;
        f.read("features", features);
        expect_input(features == reading_features, where, ": \"features\" is ", features, " but ",
                     reading_features, " are known of each word");
    } else {
        settle_frame(m, t);
    }
    const std::int64_t least = (n.reads_words ? 1 : m.frame.added()) + 4;
    expect_input(n.max_length >= least, where, ": the model takes ", n.max_length,
                 " tokens, which leaves no room for a question and a context");
}

}  // namespace

AnswerModel AnswerModel::create(ModelFolder folder, bool may_be_none, std::uint64_t seed) {
    AnswerModel m;
    m.folder = std::move(folder);
    m.folder.task = "answer";
    name_spans(m.folder.config, may_be_none);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_answerer);
    m.network = std::make_shared<const SpanModel>(
        make_span_model(m.folder.config, "config", Params(*m.store, rng)));
    settle_answerer(m, "config");
    return m;
}

AnswerModel AnswerModel::create_from(ModelFolder pretrained, bool may_be_none, std::uint64_t seed,
                                     ModelFolder::NewHead& report) {
    AnswerModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "answer";
    m.folder.generation = Json::object();
    m.folder.about = Json::object();
    m.folder.labels.clear();
    for (const char* old : {"id2label", "label2id"}) m.folder.config.erase(old);
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    name_spans(m.folder.config, may_be_none);
    const auto make = [&](const Params& p) {
        return std::make_shared<const SpanModel>(make_span_model(m.folder.config, where, p));
    };
    const std::string own[] = {"qa_outputs.**", "classifier.**", "crf.**", "pooling.**"};
    m.store = m.folder.load_body(entry, own, make, report);
    Rng rng(seed, initial_answerer);
    m.network = make(Params(*m.store, rng));
    settle_answerer(m, where);
    return m;
}

AnswerModel AnswerModel::open(ModelFolder folder, const WeightChoice& weights) {
    AnswerModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    const auto make = [&](const Params& p) {
        return std::make_shared<const SpanModel>(make_span_model(m.folder.config, where, p));
    };
    m.store = m.folder.load(span_model_rules(m.folder.config, where), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    settle_answerer(m, where);
    return m;
}

void AnswerModel::save(const std::string& path, bool overwrite) const {
    ModelFolder f = folder;
    f.config["no_answer"] = may_be_none;
    if (may_be_none) f.config["no_answer_bound"] = none_bound;
    f.save(path, *store, span_model_rules(folder.config, "config"), overwrite);
}

void save_answerer(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite) {
    model.save(out, trained, span_model_rules(model.config, model.config_path()), overwrite);
}

}  // namespace fovea
