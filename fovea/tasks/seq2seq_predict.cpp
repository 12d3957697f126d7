// Translations and summaries for the command line: many inputs, options, answers in every form.
#include <fmt/core.h>

#include "fovea/base/error.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/tasks/search_settings.h"
#include "fovea/tasks/seq2seq_score.h"
#include "fovea/tasks/seq2seq_task.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/translate.h"
#include "fovea/tasks/with_given.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

std::string pharaoh(const std::vector<AlignedPair>& pairs) {
    std::string out;
    for (const AlignedPair& a : pairs)
        out += fmt::format("{}{}-{}", out.empty() ? "" : " ", a.source, a.target);
    return out;
}

struct PredictOptions {
    SearchSettings search;
    bool alignments = false, scores = false;
    std::int64_t batch_tokens = 2048, batch_texts = 0;
    std::optional<bool> reverse;
    std::string source_key, target_key;
    std::optional<int> wait_k, max_source;
    std::string rerank = "none";

    void describe(Settings& s) {
        search.describe(s, false);
        s.add("rerank", rerank, "r2l: search from both ends and rank by what both say",
              {.group = "search", .choices = {"none", "r2l"}, .about_run = false});
        s.add("wait-k", wait_k, "begin to write when K source tokens are read",
              {.group = "search",
               .min = 1,
               .max = 1 << 20,
               .otherwise = "the model's",
               .about_run = false});
        s.add("max-source", max_source, "source tokens read at most; longer texts are cut",
              {.group = "data",
               .min = 2,
               .max = 1 << 24,
               .otherwise = "as in training",
               .about_run = false});
        SettingOptions out{.group = "output", .common = true, .about_run = false};
        s.add("alignments", alignments, "word alignments from cross-attention (Pharaoh)", out);
        s.add("scores", scores, "log-probability of each token", out);
        out.common = false;
        out.min = 1;
        s.add("batch-tokens", batch_tokens, "source tokens decoded together", out);
        out.min = 0;
        s.add("batch", batch_texts, "texts decoded together at most; 0: no bound", out);
        const SettingOptions data{
            .group = "data", .otherwise = "as in training", .about_run = false};
        s.add("reverse", reverse, "eval: swap source and target of the file", data);
        s.add("source-key", source_key, "eval: column or JSON key of the source", data);
        s.add("target-key", target_key, "eval: column or JSON key of the target", data);
    }
};

std::vector<std::string> phrases_of(const Json& field) {
    std::vector<std::string> phrases;
    if (field.is_array()) {
        for (const Json& p : field) phrases.push_back(p.get<std::string>());
        return phrases;
    }
    const std::string line = field.get<std::string>();  // tabs between
    for (std::size_t from = 0; from < line.size();) {
        const std::size_t tab = std::min(line.find('\t', from), line.size());
        if (tab > from) phrases.push_back(line.substr(from, tab - from));
        from = tab + 1;
    }
    return phrases;
}

class Seq2SeqPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    std::vector<InputFile> input_files() const override {
        return {{"prefixes", "prefix", "file of forced beginnings, one per line"},
                {"constraints", "constraints", "file of phrases that must occur, tabs between"},
                {"score", "target", "score the targets of this file instead of translating"}};
    }

    bool streams() const override { return true; }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        for (const ModelFolder& f : folders) {
            models_.push_back(Seq2SeqModel::open(as_wished(f), weights));
            if (options_.max_source) lengthen(models_.back());
        }
        for (const Seq2SeqModel& m : models_) pointers_.push_back(&m);
        options_.search.over(models_[0].search);  // wrong settings are told before the work
    }

    std::vector<std::string> columns() const override { return {"text", "score"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const PredictOptions o = with_given(options_, given);
        std::vector<std::string> texts;
        for (const Json& i : inputs) texts.push_back(i.at("text").get<std::string>());
        if (!inputs.empty() && inputs[0].contains("target")) return scored(inputs, texts);
        TranslateOptions t = translate_options(o, inputs, control);
        // What stands behind a text, or beside it, is known when all of it is.
        const bool live = control.on_text && t.search.n_best == 1 && !t.search.sample &&
                          !o.alignments && !o.scores && !t.rerank;
        if (live) t.on_text = control.on_text;
        const std::vector<TranslatedText> found = translate(pointers_, texts, t);
        std::vector<Answer> out;
        for (std::size_t i = 0; i < found.size(); ++i) {
            out.push_back(written(found[i], texts[i], control.first + i, o, t.search.n_best));
            if (control.on_text && !live) control.on_text(i, out[i].text, true);
        }
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        const Seq2SeqModel& m = models_[0];
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        // A text that was given is a target; what the model says itself is its output.
        const std::string said = input.contains("target") ? "target" : "output";
        if (said == "target") {
            pass.output = input["target"].get<std::string>();
        } else {
            const Probe aside;  // the search is not what is watched
            pass.output = translate(m, pass.input);
        }
        Ids source = m.encode_source(pass.input);
        if (const auto most = static_cast<std::size_t>(m.max_source_length); source.size() > most) {
            source.resize(most);  // as translate() does
            source.back() = m.network.end_token;
        }
        Ids target = m.encode_target(pass.output);
        target.insert(target.begin(), m.network.start_token);
        target.pop_back();  // </s> is predicted, not read
        pass.tokens["source"] = shown_tokens(*m.source_tokenizer, source);
        pass.tokens[said] = shown_tokens(*m.target_tokenizer, target);
        pass.tokens[said][0] = "<start>";
        pass.sides = m.network.sides;
        for (AttentionSides& side : pass.sides)
            for (std::string* name : {&side.queries, &side.keys})
                if (*name == "target") *name = said;
        const TokenBatch from = pack({&source, 1}), to = pack({&target, 1});
        const PrecisionScope scope(m.precision);
        m.network.pass({from.tokens, to.tokens, {}, from.segments, to.segments});
        return pass;
    }

    const ParameterStore& parameters() const override { return *models_[0].store; }

    std::vector<std::string> figure_names() const override {
        if (models_[0].task == "summarise")
            return {"rouge1", "rouge2", "rougeL", "rougeLsum", "exact_match"};
        std::vector<std::string> names{"bleu", "chrf2", "multi_bleu_lc", "exact_match"};
        if (models_[0].network.wait_k > 0) names.emplace_back("average_lagging");
        return names;
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        PairFiles f = pair_files_of(files.paths[0]);
        f.more_paths.assign(files.paths.begin() + 1, files.paths.end());
        f.limit = files.limit;
        f.skip_bad = files.skip_bad;
        f.source_key = options_.source_key;
        f.target_key = options_.target_key;
        f.reverse = options_.reverse.value_or(models_[0].swapped_sides);
        Problems problems;
        const std::vector<TextPair> pairs = read_pairs(f, &problems);
        say_all(problems.notes, control);
        const SearchOptions search = options_.search.over(models_[0].search);
        TranslateOptions how{.search = search};
        how.rerank = options_.rerank == "r2l";
        how.progress = control.progress;
        const Seq2SeqScore s = evaluate_pairs(pointers_, pairs, how);
        EvalReport r;
        r.score = {s.name, s.value, true, s.signature, s.figures};
        r.how = json_of(search);
        if (how.rerank) r.how["rerank"] = "r2l";
        if (models_[0].network.wait_k > 0) r.how["wait_k"] = models_[0].network.wait_k;
        r.outputs = s.outputs;
        r.records = static_cast<std::int64_t>(pairs.size());
        r.tokens = s.tokens;
        r.seconds = s.seconds;
        return r;
    }

private:
    // A model that reads its source step by step may read more or less before it begins.
    ModelFolder as_wished(ModelFolder folder) const {
        if (!options_.wait_k) return folder;
        if (folder.config.value("wait_k", 0) == 0)
            fail_with(ErrorKind::usage, "train one with fovea train --wait-k K",
                      "--wait-k: ", folder.path, " reads its whole source, both ways");
        folder.config["wait_k"] = *options_.wait_k;
        return folder;
    }

    void lengthen(Seq2SeqModel& model) const {
        const int most = *options_.max_source;
        if (model.config.value("position_embedding_type", "") == "learned" &&
            most > model.network.max_source)
            fail_with(ErrorKind::usage, "use a model with sinusoidal, relative or rotary positions",
                      "--max-source ", most, ": the model has learned positions for ",
                      model.network.max_source, " tokens");
        model.max_source_length = most;
    }

    TranslateOptions translate_options(const PredictOptions& o, std::span<const Json> inputs,
                                       const PredictControl& control) const {
        TranslateOptions t;
        t.search = o.search.over(models_[0].search);
        t.batch_tokens = std::max<std::int64_t>(1, o.batch_tokens / t.search.beam);
        t.batch_texts = o.batch_texts;
        t.alignments = o.alignments;
        t.rerank = o.rerank == "r2l";
        t.tokens = !control.text_only;
        t.first_text = control.first;
        t.progress = control.progress;
        t.stop = control.stop;
        for (const Json& i : inputs) {
            if (i.contains("prefix")) t.prefixes.push_back(i["prefix"].get<std::string>());
            if (i.contains("constraints")) t.constraints.push_back(phrases_of(i["constraints"]));
        }
        return t;
    }

    std::vector<Answer> scored(std::span<const Json> inputs,
                               const std::vector<std::string>& texts) const {
        std::vector<std::string> targets;
        for (const Json& i : inputs) targets.push_back(i.at("target").get<std::string>());
        std::vector<Answer> out;
        for (const PairScore& p : score_pairs(models_[0], texts, targets)) {
            Answer a;
            a.text = fmt::format("{:.4f}", p.sum);
            a.cells = {targets[out.size()], a.text};
            a.json = {{"schema", "fovea.score"},
                      {"version", 1},
                      {"log_probability", p.sum},
                      {"token_scores", p.token_scores}};
            out.push_back(std::move(a));
        }
        return out;
    }

    // Text: the n-best form of Marian and Moses, index ||| text ||| F0= score ||| ranked score.
    static std::string line_of(const TranslatedText::Candidate& c, std::size_t index,
                               const PredictOptions& o, int n_best) {
        std::string line;
        if (n_best > 1) line = fmt::format("{} ||| ", index);
        line += c.text;
        if (o.alignments) line += " ||| " + pharaoh(c.alignment.words);
        if (o.scores) {
            line += " ||| WordScores=";
            for (const float s : c.hypothesis.token_scores) line += fmt::format(" {:.4f}", s);
        }
        if (n_best > 1 || o.scores)
            line += fmt::format(" ||| F0= {:.4f} ||| {:.4f}", c.hypothesis.sum, c.hypothesis.score);
        return line;
    }

    Answer written(const TranslatedText& t, const std::string& source, std::size_t index,
                   const PredictOptions& o, int n_best) const {
        Answer a;
        const std::string best = t.n_best.empty() ? "" : t.n_best[0].text;
        a.cells = {best,
                   t.n_best.empty() ? "" : fmt::format("{:.4f}", t.n_best[0].hypothesis.score)};
        a.json = {{"schema", "fovea.translation"},
                  {"version", 1},
                  {"source", source},
                  {"source_tokens", t.source_tokens},
                  {"text", best}};
        if (t.cut) {
            a.json["source_cut"] = true;
            a.notes.push_back(fmt::format("cut to the {} tokens that the model takes",
                                          models_[0].max_source_length));
        }
        for (const auto& c : t.n_best) {
            a.text +=
                (a.text.empty() && &c == &t.n_best[0] ? "" : "\n") + line_of(c, index, o, n_best);
            Json n{{"text", c.text},
                   {"score", c.hypothesis.score},
                   {"log_probability", c.hypothesis.sum},
                   {"finished", c.hypothesis.finished},
                   {"tokens", c.tokens},
                   {"token_scores", c.hypothesis.token_scores}};
            if (!c.alignment.tokens.empty()) {
                n["alignment"] = pharaoh(c.alignment.words);
                n["token_alignment"] = pharaoh(c.alignment.tokens);
            }
            if (!c.hypothesis.constraints_met) n["constraints_met"] = false;
            a.json["n_best"].push_back(std::move(n));
        }
        if (!t.n_best.empty() && !t.n_best[0].hypothesis.constraints_met)
            a.notes.push_back(
                "answered without a phrase of --constraints; a larger --beam or --max-length may "
                "help");
        return a;
    }

    PredictOptions options_;
    std::vector<Seq2SeqModel> models_;
    std::vector<const Seq2SeqModel*> pointers_;
};

}  // namespace

std::unique_ptr<Predictor> make_seq2seq_predictor() { return std::make_unique<Seq2SeqPredictor>(); }

}  // namespace fovea
