// Filling gaps behind the interface of tasks: answers and measuring. Its models come from pretrain.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/tasks/fill.h"
#include "fovea/tasks/pretrain_data.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

struct FillOptions {
    int top = 5;
    bool next = false;
    std::int64_t batch_tokens = 4096;
    std::optional<int> context;
    std::string documents = "auto";
    double share = 0.15;
    std::string source_key, target_key, language = "first";

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
        std::vector<std::string> forms = document_form_names();
        forms.emplace_back("pairs");
        s.add("documents", documents, "eval: what a document is; pairs: a text and its translation",
              {.group = "data", .choices = forms, .about_run = false});
        s.add("source-key", source_key, "eval of pairs: column or JSON key of the first text",
              {.group = "data", .about_run = false});
        s.add("target-key", target_key, "eval of pairs: the same of its translation",
              {.group = "data", .about_run = false});
        s.add("language", language, "of a text alone, in a model of two languages",
              {.group = "data", .choices = {"first", "second"}, .about_run = false});
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
        const FillOptions o = with_given(options_, given);
        std::vector<Answer> out;
        if (o.next) {
            std::vector<TwoTexts> pairs;
            for (const Json& input : inputs) pairs.push_back(two_texts(input));
            const std::vector<float> found = follows(model_, pairs, o.batch_tokens, control);
            for (std::size_t i = 0; i < pairs.size(); ++i)
                out.push_back(written(pairs[i], found[i]));
            return out;
        }
        std::vector<TextWithGaps> texts;
        for (const Json& input : inputs) texts.push_back(with_gaps(input, o));
        const auto found = fill(model_, texts, o.top, o.batch_tokens, control);
        for (std::size_t i = 0; i < texts.size(); ++i)
            out.push_back(written(found[i], inputs[i].at("text").get<std::string>(),
                                  model_.encoder->max_length));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        TextWithGaps given = with_gaps(input, options_);
        if (input.contains("text_pair")) given.second = input["text_pair"].get<std::string>();
        const FramedText text = framed(model_, given);
        pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, text.tokens);
        pass.sides = {{"", "text", "text"}};
        const Tokenizer& tokenizer = *model_.folder.tokenizer;
        const bool gaps = tokenizer.mask_id() && std::count(text.tokens.begin(), text.tokens.end(),
                                                            *tokenizer.mask_id()) > 0;
        if (gaps && (!given.second || model_.languages) && model_.encoder->words) {
            pass.output = fill(model_, {&given, 1}, 1)[0].text;  // to fill them is the one pass
            return pass;
        }
        const PrecisionScope scope(model_.precision);
        model_.encoder->rows(text.batch());
        pass.output = tokenizer.decode(text.tokens);
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"loss",      "perplexity", "accuracy",      "next_accuracy",
                "next_loss", "loss_alone", "accuracy_alone"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override;

private:
    TokenDocuments read(const RecordFiles& files, const SequenceOptions& o,
                        const PredictControl& control) const;

    // In a model of two languages a translation stands behind a tab, or is "text_pair".
    TextWithGaps with_gaps(const Json& input, const FillOptions& o) const {
        TextWithGaps t{input.at("text").get<std::string>(), {}, o.language == "second"};
        if (!model_.languages) return t;
        if (t.text.find('\t') == std::string::npos && !input.contains("text_pair")) return t;
        auto [first, second] = two_texts(input);
        return {std::move(first), std::move(second)};
    }

    PretrainFigures measured(const TokenDocuments& tokens, const SequenceOptions& options,
                             const PredictControl& control) const {
        PretrainSequences sequences(tokens, *model_.folder.tokenizer, options);
        sequences.begin(0);
        expect_input(sequences.count() > 0,
                     "eval: there is nothing to tell (a pair wants a text on both sides)");
        return measure(model_, sequences,
                       {.batch_tokens = options_.batch_tokens,
                        .goes_on = [&](std::int64_t done, std::int64_t all) {
                            if (control.progress) control.progress(done, all);
                            return !(control.stop && control.stop->load());
                        }});
    }

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
// this tokenizer. Of translations: with the other language in view, and without it.
EvalReport FillPredictor::evaluate(const RecordFiles& files, const PredictControl& control) const {
    SequenceOptions o;
    o.pairs = options_.documents == "pairs" || (options_.documents == "auto" && model_.languages);
    o.objective = o.pairs                ? Objective::translated
                  : model_.encoder->next ? Objective::masked_and_next
                                         : Objective::masked;
    if (o.pairs && !model_.languages)
        fail_with(ErrorKind::usage, "fovea train --task pretrain --objective tlm learns from pairs",
                  model_.folder.path, ": the model has not learnt from translations");
    o.length = context();
    o.seed = 0;
    o.measuring = true;
    o.masking.share = options_.share;
    o.masking.seed = 0;
    const TokenDocuments tokens = read(files, o, control);
    if (o.objective == Objective::masked_and_next && tokens.documents() < 2) {
        o.objective = Objective::masked;
        if (control.say) control.say("next sentences are not measured: there is one document");
    }
    const Stopwatch clock;
    PretrainFigures f = measured(tokens, o, control);
    EvalReport r;
    Json figures = f.json();
    if (o.pairs) {
        SequenceOptions alone = o;
        alone.objective = Objective::masked;
        const PretrainFigures without = measured(tokens, alone, control);
        figures["loss_alone"] = without.loss;
        figures["accuracy_alone"] = without.accuracy;
    }
    r.score = {"loss", f.loss, false,
               fmt::format("{}|context:{}|share:{}|masks:fixed", name_of(o.objective), o.length,
                           options_.share),
               figures};
    r.how = {{"objective", name_of(o.objective)}, {"context", o.length}, {"share", options_.share}};
    r.records = f.sequences;
    r.tokens = f.told;
    r.seconds = clock.seconds();
    return r;
}

TokenDocuments FillPredictor::read(const RecordFiles& files, const SequenceOptions& o,
                                   const PredictControl& control) const {
    const Tokenizer& tokenizer = *model_.folder.tokenizer;
    PretrainFiles from;
    if (o.pairs) {
        from.pairs = pair_files_of(files.paths);
        from.pairs->source_key = options_.source_key;
        from.pairs->target_key = options_.target_key;
        from.pairs->limit = files.limit;
        from.pairs->skip_bad = files.skip_bad;
    } else {
        from.documents = {files.paths, document_form_of(options_.documents), files.limit};
    }
    std::vector<std::string> notes;
    TokenDocumentsMaker maker(tokenizer, documents_for(o, tokenizer));
    from.each([&](const auto& texts, bool last) { maker.add(texts, last); }, &notes);
    say_all(notes, control);
    TokenDocuments tokens = maker.finish();
    expect_input(tokens.size() > 0, files.paths[0], ": there is no text in it");
    return tokens;
}

}  // namespace

std::unique_ptr<Predictor> make_fill_predictor() { return std::make_unique<FillPredictor>(); }

}  // namespace fovea
