// A classifier at work, behind the interface of tasks: prediction and measuring.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/clock.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/shown_tokens.h"

namespace fovea {

const std::string& label_of(const LabelledText& t) {
    if (t.labels.size() != 1 || t.texts.empty() || t.texts.size() > 2)
        throw Error(text_of(t.path, ":", t.line,
                            ": one or two texts and one label are wanted, but there are ",
                            t.texts.size(), " and ", t.labels.size()),
                    ErrorKind::bad_input);
    return t.labels[0];
}

TextInput input_of(const LabelledText& t) {
    if (t.texts.size() == 1) return {t.texts[0]};
    return {t.texts[0], t.texts[1]};
}

// Accuracy, F1 and mean loss over labelled texts.
MetricScore score_labelled(const ClassifyModel& model, std::span<const LabelledText> records,
                           std::vector<std::string>* outputs, const PredictControl& control) {
    std::vector<TextInput> texts;
    std::vector<std::string> wanted, found;
    for (const LabelledText& r : records) {
        texts.push_back(input_of(r));
        wanted.push_back(label_of(r));
    }
    const std::vector<std::string>& labels = model.folder.labels;
    double loss = 0;
    const auto answers = classify(model, texts, 4096, control);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        found.push_back(answers[i].label);
        const auto at = std::find(labels.begin(), labels.end(), wanted[i]);
        const double p =
            at == labels.end() || answers[i].probabilities.empty()
                ? 0
                : answers[i].probabilities[static_cast<std::size_t>(at - labels.begin())];
        loss -= std::log(std::max(p, 1e-30));
    }
    MetricScore s = classification_score(found, wanted).score();
    s.figures["loss"] = loss / static_cast<double>(std::max<std::size_t>(1, texts.size()));
    if (outputs) *outputs = std::move(found);
    return s;
}

namespace {

class ClassifyPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: classify has no ensembles", ErrorKind::usage);
        model_ = ClassifyModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override { return {"label", "probability"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        Options o = options_;
        if (!given.empty()) {
            Settings s;
            o.describe(s);
            s.set_all(given, "options");
        }
        std::vector<TextInput> texts;
        for (const Json& input : inputs) texts.push_back(text_input(input));
        std::vector<Answer> out;
        const auto found = classify(model_, texts, o.batch_tokens, control);
        for (std::size_t i = 0; i < found.size(); ++i)
            out.push_back(written(found[i], texts[i].text, o));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        const TextInput text = text_input(input);
        pass.input = text.pair ? text.text + " | " + *text.pair : text.text;
        const EncodedText encoded[] = {model_.encode(text)};
        pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, encoded[0].ids);
        const auto& pooling = model_.network->pooling;
        const bool queries = pooling && pooling->options.pool == Pool::queries;
        pass.tokens["pooling"] =
            queries ? model_.folder.labels : std::vector<std::string>{"pooled"};
        pass.sides = {{"pooling", "pooling", "text"}, {"", "text", "text"}};
        const PrecisionScope scope(model_.precision);
        const std::int64_t first[] = {0};
        const Tensor logits = model_.network->logits(pack_texts(encoded, first));
        const float* row = logits.data();
        pass.output =
            model_.folder
                .labels[static_cast<std::size_t>(std::max_element(row, row + logits.cols()) - row)];
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"accuracy", "macro_f1", "micro_f1", "loss"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        LabelledFiles f;
        f.paths = files.paths;
        f.text_keys = options_.text_keys;
        f.label_key = options_.label_key;
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        Problems problems;
        const std::vector<LabelledText> records = read_labelled(f, &problems);
        say_all(problems.notes, control);
        EvalReport r;
        const Stopwatch clock;
        r.score = score_labelled(model_, records, &r.outputs, control);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(records.size());
        return r;
    }

private:
    struct Options {
        int top = 1;
        std::vector<std::string> text_keys;
        std::string label_key;
        std::int64_t batch_tokens = 4096;

        void describe(Settings& s) {
            s.add("top", top, "labels shown for each text, most probable first",
                  {.group = "output", .common = true, .min = 1, .about_run = false});
            s.add("text", text_keys, "eval: column of the text",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
            s.add("label", label_key, "eval: column of the label",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
            s.add("batch-tokens", batch_tokens, "tokens computed together",
                  {.group = "output", .min = 1, .about_run = false});
        }
    };

    static TextInput text_input(const Json& input) {
        TextInput t{input.at("text").get<std::string>()};
        if (input.contains("text_pair")) t.pair = input["text_pair"].get<std::string>();
        return t;
    }

    Answer written(const TextLabel& t, const std::string& text, const Options& o) const {
        std::vector<std::size_t> order(t.probabilities.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return t.probabilities[a] > t.probabilities[b];
        });
        const std::vector<std::string>& labels = model_.folder.labels;
        Answer a;
        a.json = {
            {"schema", "fovea.classification"}, {"version", 1}, {"text", text}, {"label", t.label}};
        a.json["probabilities"] = Json::object();
        for (std::size_t i = 0; i < labels.size() && !t.probabilities.empty(); ++i)
            a.json["probabilities"][labels[i]] = t.probabilities[i];
        for (std::size_t k = 0; k < order.size() && k < static_cast<std::size_t>(o.top); ++k) {
            const std::string p = fmt::format("{:.4f}", t.probabilities[order[k]]);
            a.text += (k ? "\t" : "") + labels[order[k]] + "\t" + p;
            if (k == 0) a.cells = {labels[order[k]], p};
        }
        if (t.cut)
            a.json["cut"] = true,
            a.notes.push_back(fmt::format("cut to the {} tokens that the model takes",
                                          model_.network->encoder.max_length));
        return a;
    }

    Options options_;
    ClassifyModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_classify_predictor() {
    return std::make_unique<ClassifyPredictor>();
}

}  // namespace fovea
