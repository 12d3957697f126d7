// A classifier at work, behind the interface of tasks: prediction and measuring.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/classify_score.h"
#include "fovea/tasks/image.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/with_given.h"

namespace fovea {

namespace {

class ClassifyPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: classify has no ensembles", ErrorKind::usage);
        if (folders[0].task == "image") {
            of_pictures_ = make_image_predictor();
            of_pictures_->open(folders, weights);
            return;
        }
        model_ = ClassifyModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override {
        if (of_pictures_) return of_pictures_->columns();
        return {"label", "probability"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        if (of_pictures_)
            return of_pictures_->answer(inputs, o.top ? Json{{"top", *o.top}} : Json::object(),
                                        control);
        std::vector<TextInput> texts;
        for (const Json& input : inputs) texts.push_back(text_input(input));
        std::vector<Answer> out;
        const auto found = classify(model_, texts, o.batch_tokens, control);
        for (std::size_t i = 0; i < found.size(); ++i)
            out.push_back(written(found[i], inputs[i], o));
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
        if (model_.several) return {"accuracy", "macro_f1", "micro_f1", "loss"};
        return {"accuracy", "macro_f1", "micro_f1", "loss", "calibration_error"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        LabelledFiles f;
        f.paths = files.paths;
        f.text_keys = options_.text_keys;
        f.label_key = options_.label_key;
        f.label_separator = options_.separator;
        f.allow_none = model_.several;
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        Problems problems;
        std::vector<LabelledText> records = read_labelled(f, &problems);
        say_all(problems.notes, control);
        records = with_known_labels(std::move(records), model_.folder.labels,
                                    options_.unknown == "skip", control.say);
        expect_input(!records.empty(), files.paths[0], ": holds no text with a known label");
        ClassifyModel model = model_;
        if (options_.threshold && model.several)
            model.thresholds.assign(model.thresholds.size(), *options_.threshold);
        EvalReport r;
        const Stopwatch clock;
        std::vector<TextLabel> answers;
        r.score = score_labelled(model, records, &answers, control);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(records.size());
        for (const TextLabel& t : answers) r.outputs.push_back(joined(t.labels));
        if (options_.confusion) r.details = confusion_table(r.score.figures);
        return r;
    }

private:
    struct Options {
        std::optional<int> top;
        std::optional<float> threshold;
        std::vector<std::string> text_keys;
        std::string label_key, separator, unknown = "error";
        bool confusion = false;
        std::int64_t batch_tokens = 4096;

        void describe(Settings& s) {
            s.add("top", top, "labels shown for each text, most probable first",
                  {.group = "output",
                   .common = true,
                   .min = 1,
                   .otherwise = "1; of a multi-label model those above their threshold",
                   .about_run = false});
            s.add("threshold", threshold, "multi-label: probability from which a label holds",
                  {.group = "output",
                   .common = true,
                   .min = 0,
                   .max = 1,
                   .otherwise = "the model's own",
                   .about_run = false});
            s.add("confusion", confusion, "eval: show which labels were taken for which",
                  {.group = "output", .common = true, .about_run = false});
            s.add("label-separator", separator, "eval: what stands between the labels of a text",
                  {.group = "data", .otherwise = "a field is one label", .about_run = false});
            s.add("unknown-label", unknown, "eval: a label that the model has not",
                  {.group = "data", .choices = {"error", "skip"}, .about_run = false});
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

    static std::string joined(const std::vector<std::string>& parts) {
        std::string all;
        for (const std::string& part : parts) all += (all.empty() ? "" : "|") + part;
        return all;
    }

    // The labels that are shown, most probable first.
    std::vector<std::size_t> shown(const TextLabel& t, const Options& o) const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < t.probabilities.size(); ++i) {
            const float least =
                !model_.several || o.top ? -1 : o.threshold.value_or(model_.thresholds[i]);
            if (t.probabilities[i] >= least) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return t.probabilities[a] > t.probabilities[b];
        });
        const std::size_t most =
            model_.several && !o.top ? order.size() : static_cast<std::size_t>(o.top.value_or(1));
        order.resize(std::min(order.size(), most));
        return order;
    }

    Answer written(const TextLabel& t, const Json& input, const Options& o) const {
        const std::vector<std::string>& labels = model_.folder.labels;
        Answer a;
        a.json = {{"schema", "fovea.classification"}, {"version", 1}, {"text", input["text"]}};
        std::vector<std::string> names, values;
        for (const std::size_t k : shown(t, o)) {
            names.push_back(labels[k]);
            values.push_back(fmt::format("{:.4f}", t.probabilities[k]));
            a.text += (a.text.empty() ? "" : "\t") + names.back() + "\t" + values.back();
        }
        if (model_.several)
            a.json["labels"] = names;
        else
            a.json["label"] = t.label;
        const std::size_t in_table =
            model_.several ? names.size() : std::min<std::size_t>(1, names.size());
        a.cells = {
            joined({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(in_table)}),
            joined({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(in_table)})};
        a.json["probabilities"] = Json::object();
        for (std::size_t i = 0; i < labels.size() && !t.probabilities.empty(); ++i)
            a.json["probabilities"][labels[i]] = t.probabilities[i];
        for (const auto& [name, value] : input.items())  // the other columns of a table
            if (name != "text" && name != "text_pair") a.json["columns"][name] = value;
        if (t.cut)
            a.json["cut"] = true,
            a.notes.push_back(fmt::format("cut to the {} tokens that the model takes",
                                          model_.network->encoder.max_length));
        if (t.windows > 1)
            a.json["windows"] = t.windows,
            a.notes.push_back(fmt::format("read in overlapping windows of {} tokens and joined",
                                          model_.network->encoder.max_length));
        return a;
    }

    Options options_;
    ClassifyModel model_;
    std::unique_ptr<Predictor> of_pictures_;  // where the folder is a classifier of pictures
};

}  // namespace

std::unique_ptr<Predictor> make_classify_predictor() {
    return std::make_unique<ClassifyPredictor>();
}

}  // namespace fovea
