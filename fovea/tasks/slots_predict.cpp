// Slot fillers at work behind the interface of tasks: answers, and how good they are.
#include <fmt/core.h>

#include <set>

#include "fovea/base/clock.h"
#include "fovea/base/utf8.h"
#include "fovea/data/word_spans.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/slots.h"

namespace fovea {
namespace {

class SlotsPredictor : public Predictor {
public:
    void describe(Settings& s) override { describe_batch(s, batch_tokens_); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: slots has no ensembles", ErrorKind::usage);
        model_ = SlotModel::open(folders[0], weights);
        writer_ = TagWriter(model_.folder.labels);
    }

    std::vector<std::string> columns() const override {
        return {"line", "intent", "probability", "start", "end", "slot", "text", "score"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        std::int64_t batch_tokens = batch_tokens_;
        if (!given.empty()) {
            Settings s;
            describe_batch(s, batch_tokens);
            s.set_all(given, "options");
        }
        std::vector<std::string> texts;
        for (const Json& input : inputs)
            texts.push_back(repair_utf8(input.at("text").get<std::string>()));
        std::vector<Answer> out;
        const auto found = fill_slots(model_, texts, batch_tokens, control);
        for (std::size_t i = 0; i < found.size(); ++i)
            out.push_back(written(found[i], texts[i], control.first + i + 1));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        const std::string text = repair_utf8(pass.input);
        const TagNetwork& n = model_.network->tags;
        const EncodedWords words =
            encode_words(n.reading(*model_.folder.tokenizer), text, word_spans(text));
        if (!words.windows.empty())
            pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, words.windows[0]);
        pass.sides = {{"", "text", "text"}};
        if (words.words > 0) {
            const PrecisionScope scope(model_.precision);
            const std::int64_t first = 0;
            n.rows(pack_words({&words, 1}, {&first, 1}));
        }
        const std::string texts[] = {text};
        const Probe aside;  // what is watched was the pass above
        pass.output = written(fill_slots(model_, texts)[0], text, 1).text;
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"f1",       "precision",         "recall",   "intent_accuracy",
                "macro_f1", "sentence_accuracy", "accuracy", "loss"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        SlotFiles f;
        f.paths = files.paths;
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        const std::vector<SlotText> texts = read_slot_texts(f);
        say_unknown(texts, control);
        EvalReport r;
        const Stopwatch clock;
        r.score = slot_score(model_, texts, &r.outputs, control);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(texts.size());
        for (const SlotText& t : texts) r.tokens += static_cast<std::int64_t>(t.words.size());
        return r;
    }

private:
    static void describe_batch(Settings& s, std::int64_t& batch_tokens) {
        s.add("batch-tokens", batch_tokens, "tokens computed together",
              {.group = "output", .min = 1, .about_run = false});
    }

    void say_unknown(std::span<const SlotText> texts, const PredictControl& control) const {
        std::set<std::string> unknown;
        for (const SlotText& t : texts) {
            if (model_.intent_id(t.intent) < 0) unknown.insert(t.intent);
            for (const std::string& tag : t.tags)
                if (model_.label_id(tag) < 0) unknown.insert(tag);
        }
        std::string all;
        for (const std::string& t : unknown) all += (all.empty() ? "" : ", ") + t;
        if (!all.empty() && control.say)
            control.say("warning: the model does not know these of the file: " + all);
    }

    // PlayMusic 0.99<tab>play some [jazz|genre]
    Answer written(const SlotAnswer& s, const std::string& text, std::size_t line) const {
        Answer a;
        a.json = {{"schema", "fovea.slots"},
                  {"version", 1},
                  {"text", text},
                  {"intent", s.intent},
                  {"probability", s.probability},
                  {"slots", Json::array()}};
        a.rows.emplace();
        const std::string p = fmt::format("{:.4f}", s.probability);
        for (const TextEntity& e : s.slots) {
            a.json["slots"].push_back(json_of(e));
            std::vector<std::string> cells = cells_of(e, line);
            cells.insert(cells.begin() + 1, {s.intent, p});
            a.rows->push_back(std::move(cells));
        }
        if (s.slots.empty())
            a.rows->push_back({std::to_string(line), s.intent, p, "", "", "", "", ""});
        a.text = s.intent + "\t" + p + "\t";
        writer_.write_entities({.words = {}, .entities = s.slots, .windows = 0}, text, a);
        if (s.windows > 1)
            a.notes.push_back(fmt::format(
                "longer than the {} tokens that the model takes, and read in parts that overlap",
                model_.network->tags.encoder->max_length));
        return a;
    }

    std::int64_t batch_tokens_ = 4096;
    SlotModel model_;
    TagWriter writer_;
};

}  // namespace

std::unique_ptr<Predictor> make_slots_predictor() { return std::make_unique<SlotsPredictor>(); }

}  // namespace fovea
