// Filling gaps behind the interface of tasks: answers and measuring. Its models come from pretrain.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/tasks/fill.h"
#include "fovea/tasks/shown_tokens.h"

namespace fovea {
namespace {

struct FillOptions {
    int top = 5;
    bool next = false;
    std::int64_t batch_tokens = 4096;
    std::optional<int> context;
    std::string documents = "auto";
    double share = 0.15;

    void describe(Settings& s) {
        s.add("top", top, "fillings shown for each gap, most probable first",
              {.group = "output", .common = true, .min = 1, .about_run = false});
        s.add("next", next,
              "say instead how probably the second text follows the first (two "
              "columns)",
              {.group = "output", .common = true, .about_run = false});
        s.add("batch-tokens", batch_tokens, "tokens computed together",
              {.group = "output", .min = 1, .about_run = false});
        s.add("context", context, "eval: tokens of a sequence",
              {.group = "data",
               .min = 8,
               .otherwise = "128, or what the model takes",
               .about_run = false});
        s.add("documents", documents, "eval: what a document is",
              {.group = "data", .choices = document_form_names(), .about_run = false});
        s.add("mask-share", share, "eval: share of the tokens that are to be told",
              {.group = "data", .min = 1e-3, .max = 1, .below_max = true, .about_run = false});
    }
};

// {"text": A, "text_pair": B}, or one text with a tab between the two.
TwoTexts two_texts(const Json& input) {
    const std::string text = input.at("text").get<std::string>();
    if (input.contains("text_pair")) return {text, input["text_pair"].get<std::string>()};
    const std::size_t tab = text.find('\t');
    if (tab == std::string::npos)
        fail_with(ErrorKind::bad_input,
                  "two columns with a tab between them, or --text-column twice for a table",
                  "fill --next: there is only one text in \"", text.substr(0, 60), "\"");
    return {text.substr(0, tab), text.substr(tab + 1)};
}

Answer written(const FilledText& f, const std::string& text, int most) {
    Answer a;
    a.json = {{"schema", "fovea.filling"}, {"version", 1}, {"text", text}, {"filled", f.text}};
    a.json["gaps"] = Json::array();
    std::string best, probabilities;
    for (std::size_t g = 0; g < f.gaps.size(); ++g) {
        Json gap = Json::array();
        std::string line;
        for (const Filling& c : f.gaps[g]) {
            const std::string p = fmt::format("{:.4f}", c.probability);
            gap.push_back({{"token", c.text}, {"id", c.token}, {"probability", c.probability}});
            line += (line.empty() ? "" : "\t") + c.text + "\t" + p;
            if (&c == f.gaps[g].data()) {
                best += (g ? " " : "") + c.text;
                probabilities += (g ? " " : "") + p;
            }
        }
        a.json["gaps"].push_back(gap);
        a.text += (g ? "\n" : "") + line;
    }
    a.cells = {f.text, best, probabilities};
    if (f.gaps.empty()) a.notes.push_back("without a gap ([MASK] or <mask>)");
    if (f.cut) a.notes.push_back(fmt::format("cut to the {} tokens that the model takes", most));
    if (f.lost_gaps > 0) a.notes.push_back("cut before a gap, which has no answer");
    return a;
}

Answer written(const TwoTexts& texts, float probability) {
    Answer a;
    a.text = fmt::format("{:.4f}", probability);
    a.cells = {"", "", a.text};
    a.json = {{"schema", "fovea.next"},
              {"version", 1},
              {"text", texts.first},
              {"text_pair", texts.second},
              {"follows", probability}};
    return a;
}

class FillPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: fill has no ensembles", ErrorKind::usage);
        model_ = PretrainedModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override { return {"filled", "best", "probability"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        FillOptions o = options_;
        if (!given.empty()) {
            Settings s;
            o.describe(s);
            s.set_all(given, "options");
        }
        std::vector<Answer> out;
        if (o.next) {
            std::vector<TwoTexts> pairs;
            for (const Json& input : inputs) pairs.push_back(two_texts(input));
            const std::vector<float> found = follows(model_, pairs, o.batch_tokens, control);
            for (std::size_t i = 0; i < pairs.size(); ++i)
                out.push_back(written(pairs[i], found[i]));
            return out;
        }
        std::vector<std::string> texts;
        for (const Json& input : inputs) texts.push_back(input.at("text").get<std::string>());
        const auto found = fill(model_, texts, o.top, o.batch_tokens, control);
        for (std::size_t i = 0; i < texts.size(); ++i)
            out.push_back(written(found[i], texts[i], model_.encoder->max_length));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        std::optional<std::string> second;
        if (input.contains("text_pair")) second = input["text_pair"].get<std::string>();
        const FramedText text = framed(model_, pass.input, second);
        pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, text.tokens);
        pass.sides = {{"", "text", "text"}};
        const Tokenizer& tokenizer = *model_.folder.tokenizer;
        const bool gaps = tokenizer.mask_id() && std::count(text.tokens.begin(), text.tokens.end(),
                                                            *tokenizer.mask_id()) > 0;
        if (gaps && !second && model_.encoder->words) {  // to fill them is the one pass
            pass.output = fill(model_, {&pass.input, 1}, 1)[0].text;
            return pass;
        }
        const PrecisionScope scope(model_.precision);
        model_.encoder->rows(
            {text.tokens, text.types,
             Segments::of_lengths({static_cast<std::int64_t>(text.tokens.size())})});
        pass.output = tokenizer.decode(text.tokens);
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"loss", "perplexity", "accuracy", "next_accuracy", "next_loss"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override;

private:
    int context() const {
        const int most = model_.encoder->max_length;
        if (options_.context && *options_.context > most)
            fail_with(ErrorKind::usage, text_of("a --context of at most ", most),
                      "eval: --context is ", *options_.context, ", but the model takes ", most,
                      " tokens");
        return options_.context.value_or(std::min(128, most));
    }

    FillOptions options_;
    PretrainedModel model_;
};

// The loss of hidden tokens. Which are hidden is fixed: the same question to every model that has
// this tokenizer.
EvalReport FillPredictor::evaluate(const RecordFiles& files, const PredictControl& control) const {
    const Tokenizer& tokenizer = *model_.folder.tokenizer;
    SequenceOptions o;
    o.objective = model_.encoder->next ? Objective::masked_and_next : Objective::masked;
    o.length = context();
    o.seed = 0;
    o.measuring = true;
    o.masking.share = options_.share;
    o.masking.seed = 0;
    std::vector<std::string> notes;
    TokenDocumentsMaker maker(tokenizer, documents_for(o.objective, tokenizer, o.length));
    DocumentFiles documents{files.paths, document_form_of(options_.documents), files.limit};
    for_each_document(
        documents, [&](std::string_view text, bool last) { maker.add(text, last); }, &notes);
    say_all(notes, control);
    const TokenDocuments tokens = maker.finish();
    expect_input(tokens.size() > 0, files.paths[0], ": there is no text in it");
    if (o.objective == Objective::masked_and_next && tokens.documents() < 2) {
        o.objective = Objective::masked;
        if (control.say) control.say("next sentences are not measured: there is one document");
    }
    PretrainSequences sequences(tokens, tokenizer, o);
    sequences.begin(0);

    const Stopwatch clock;
    const PretrainFigures f = measure(model_, sequences,
                                      {.batch_tokens = options_.batch_tokens,
                                       .goes_on = [&](std::int64_t done, std::int64_t all) {
                                           if (control.progress) control.progress(done, all);
                                           return !(control.stop && control.stop->load());
                                       }});
    EvalReport r;
    r.score = {"loss", f.loss, false,
               fmt::format("{}|context:{}|share:{}|masks:fixed", name_of(o.objective), o.length,
                           options_.share),
               f.json()};
    r.how = {{"objective", name_of(o.objective)}, {"context", o.length}, {"share", options_.share}};
    r.records = f.sequences;
    r.tokens = f.told;
    r.seconds = clock.seconds();
    return r;
}

}  // namespace

std::unique_ptr<Predictor> make_fill_predictor() { return std::make_unique<FillPredictor>(); }

}  // namespace fovea
