// Taggers at work behind the interface of tasks: answers, and how good they are.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "fovea/base/clock.h"
#include "fovea/base/utf8.h"
#include "fovea/data/word_spans.h"
#include "fovea/metrics/classification.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/tag.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

class TagPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: tag has no ensembles", ErrorKind::usage);
        model_ = TagModel::open(folders[0], weights);
        writer_ = TagWriter(model_.folder.labels);
    }

    std::vector<std::string> columns() const override {
        return {"line", "start", "end", "label", "text", "score"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        std::vector<std::string> texts;
        for (const Json& input : inputs)
            texts.push_back(repair_utf8(input.at("text").get<std::string>()));
        std::vector<Answer> out;
        auto found = tag(model_, texts, o.batch_tokens, control);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (o.rules != "none")
                add_by_rule(texts[i], {o.rules != "numbers", o.rules != "dates"}, found[i]);
            out.push_back(written(found[i], texts[i], control.first + i + 1, o));
        }
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        const std::string text = repair_utf8(pass.input);
        const EncodedWords words = model_.encode(text, word_spans(text));
        if (!words.windows.empty())
            pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, words.windows[0]);
        pass.sides = {{"", "text", "text"}};
        if (words.words > 0) {
            const PrecisionScope scope(model_.precision);
            const std::int64_t first = 0;
            model_.network->emissions(pack_words({&words, 1}, {&first, 1}));
        }
        const std::string texts[] = {text};
        const Probe aside;  // what is watched was the pass above
        const TaggedText said = tag(model_, texts)[0];
        for (const WordTag& w : said.words) pass.output += (pass.output.empty() ? "" : " ") + w.tag;
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        if (!model_.folder.labels.empty() && !model_.has_entities())
            return {"accuracy", "macro_f1", "micro_f1", "loss"};
        return {"f1", "precision", "recall", "macro_f1", "accuracy", "loss"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        TaggedFiles f;
        f.paths = files.paths;
        f.word_key = options_.words_key;
        f.tag_key = options_.tags_key;
        f.scheme = tag_scheme_of(options_.scheme);
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        const TaggedData data = read_tagged(f);
        say_all(data.problems.notes, control);
        if (model_.has_entities() != (data.scheme != TagScheme::plain))
            fail_with(ErrorKind::bad_input,
                      "--tags names the column of the tags, --words the other", files.paths[0],
                      ": its tags mark ", model_.has_entities() ? "no" : "",
                      model_.has_entities() ? " entities, but the model finds them"
                                            : "entities, but the model gives plain tags");
        say_unknown(data.sentences, control);
        const EntityReading reading =
            options_.strict ? EntityReading::strict : EntityReading::lenient;
        EvalReport r;
        const Stopwatch clock;
        r.score = tag_score(model_, data.sentences, reading, &r.outputs, control);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(data.sentences.size());
        for (const TaggedWords& s : data.sentences)
            r.tokens += static_cast<std::int64_t>(s.words.size());
        return r;
    }

private:
    struct Options {
        bool every_word = false, strict = false;
        std::string words_key, tags_key, scheme = "auto", rules = "none";
        std::int64_t batch_tokens = 4096;

        void describe(Settings& s) {
            s.add("every-word", every_word, "all words with their tags, not only entities",
                  {.group = "output", .common = true, .about_run = false});
            s.add("rules", rules, "dates and numbers found by rule, beside what was learned",
                  {.group = "output",
                   .common = true,
                   .choices = {"none", "dates", "numbers", "both"},
                   .about_run = false});
            s.add("words", words_key, "eval: column of the words",
                  {.group = "data", .otherwise = "the first", .about_run = false});
            s.add("tags", tags_key, "eval: column of the tags",
                  {.group = "data", .otherwise = "the last", .about_run = false});
            s.add("scheme", scheme, "eval: how the tags of the file mark entities",
                  {.group = "data", .choices = tag_scheme_names(), .about_run = false});
            s.add("strict", strict, "eval: an I- without its B- is no entity",
                  {.group = "data", .about_run = false});
            s.add("batch-tokens", batch_tokens, "tokens computed together",
                  {.group = "output", .min = 1, .about_run = false});
        }
    };

    void say_unknown(std::span<const TaggedWords> sentences, const PredictControl& control) const {
        std::set<std::string> unknown;
        for (const TaggedWords& s : sentences)
            for (const std::string& t : s.tags)
                if (model_.label_id(t) < 0) unknown.insert(t);
        std::string all;
        for (const std::string& t : unknown) all += (all.empty() ? "" : ", ") + t;
        if (!all.empty() && control.say)
            control.say("warning: the model does not know these tags of the file: " + all);
    }

    Answer written(const TaggedText& t, const std::string& text, std::size_t line,
                   const Options& o) const {
        Answer a;
        a.json = {
            {"schema", "fovea.tags"}, {"version", 1}, {"text", text}, {"entities", Json::array()}};
        a.rows.emplace();
        for (const TextEntity& e : t.entities) {
            a.json["entities"].push_back(json_of(e));
            if (!o.every_word) a.rows->push_back(cells_of(e, line));
        }
        if (o.every_word) add_words(t, text, std::to_string(line), a);
        if (o.every_word || !model_.has_entities())
            writer_.write_words(t, text, a);
        else
            writer_.write_entities(t, text, a);
        if (t.windows > 1)
            a.notes.push_back(fmt::format(
                "longer than the {} tokens that the model takes, and read in parts that overlap",
                model_.network->encoder->max_length));
        return a;
    }

    static void add_words(const TaggedText& t, const std::string& text, const std::string& number,
                          Answer& a) {
        const TextCharacters characters(text);
        a.json["words"] = Json::array();
        for (const WordTag& w : t.words) {
            a.json["words"].push_back({{"start", w.start},
                                       {"end", w.end},
                                       {"tag", w.tag},
                                       {"probability", w.probability}});
            a.rows->push_back({number, std::to_string(w.start), std::to_string(w.end), w.tag,
                               characters.between(w.start, w.end),
                               fmt::format("{:.4f}", w.probability)});
        }
    }

    Options options_;
    TagModel model_;
    TagWriter writer_;
};

}  // namespace

MetricScore tag_score(const TagModel& model, std::span<const TaggedWords> sentences,
                      EntityReading reading, std::vector<std::string>* outputs,
                      const PredictControl& control) {
    std::vector<std::vector<std::string>> words, wanted;
    std::vector<Ids> ids;
    for (const TaggedWords& s : sentences) {
        words.push_back(s.words);
        wanted.push_back(s.tags);
        Ids& sentence = ids.emplace_back();
        for (const std::string& t : s.tags) sentence.push_back(model.label_id(t));
    }
    const TaggedSentences found = tag_sentences(model, words, ids, control);
    MetricScore score;
    if (model.has_entities()) {
        score = entity_score(found.tags, wanted, reading).score(reading);
    } else {
        std::vector<std::string> a, b;
        for (const auto& tags : found.tags) a.insert(a.end(), tags.begin(), tags.end());
        for (const auto& tags : wanted) b.insert(b.end(), tags.begin(), tags.end());
        score = classification_score(a, b).score();
    }
    score.figures["loss"] = found.loss;
    if (outputs)
        for (const auto& tags : found.tags) outputs->push_back(sentence_text(tags));
    return score;
}

std::unique_ptr<Predictor> make_tag_predictor() { return std::make_unique<TagPredictor>(); }

}  // namespace fovea
