// Sentence vectors at work, behind the interface of tasks: vectors, similarities, nearest lines.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/pairs.h"
#include "fovea/tasks/embed.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

struct EmbedChoices {
    std::string nearest, pool = "model";
    int top = 5;
    bool similarity = false, raw = false;
    std::int64_t batch_tokens = 4096;

    void describe(Settings& s) {
        s.add("nearest", nearest, "show the lines of this file that are most like each text",
              {.group = "output", .common = true, .is_path = true, .about_run = false});
        s.add("top", top, "lines shown with --nearest",
              {.group = "output", .common = true, .min = 1, .about_run = false});
        s.add("similarity", similarity, "show the cosine of two texts (two columns) instead",
              {.group = "output", .common = true, .about_run = false});
        s.add(
            "pool", pool, "how the rows of a text become one vector (model: as it was trained)",
            {.group = "output", .choices = {"model", "first", "mean", "max"}, .about_run = false});
        s.add("raw", raw, "vectors as long as they come, not of length one",
              {.group = "output", .about_run = false});
        s.add("batch-tokens", batch_tokens, "tokens computed together",
              {.group = "output", .min = 1, .about_run = false});
    }
};

// {"text": A, "text_pair": B}, or one text with a tab between the two.
std::pair<std::string, std::string> both_texts(const Json& input) {
    const std::string text = input.at("text").get<std::string>();
    if (input.contains("text_pair")) return {text, input["text_pair"].get<std::string>()};
    const std::size_t tab = text.find('\t');
    if (tab == std::string::npos)
        fail_with(ErrorKind::bad_input, "two columns with a tab between them",
                  "embed --similarity: there is only one text in \"", text.substr(0, 60), "\"");
    return {text.substr(0, tab), text.substr(tab + 1)};
}

Answer vector_of_text(const std::string& text, const float* v, std::int64_t width) {
    Answer a;
    a.json = {{"schema", "fovea.embedding"},
              {"version", 1},
              {"text", text},
              {"vector", std::vector<float>(v, v + width)}};
    for (std::int64_t j = 0; j < width; ++j) a.text += (j ? " " : "") + fmt::format("{}", v[j]);
    a.rows = {{"", "", a.text}};
    return a;
}

class EmbedPredictor : public Predictor {
public:
    void describe(Settings& s) override { choices_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1) throw Error("--ensemble: embed has no ensembles", ErrorKind::usage);
        if (choices_.similarity && !choices_.nearest.empty())
            throw Error("embed: --similarity and --nearest are two questions", ErrorKind::usage,
                        "leave one of them out");
        std::optional<Pool> pool;
        if (choices_.pool != "model") pool = pool_of(choices_.pool);
        model_ = EmbedModel::open(folders[0], pool, weights);
        if (choices_.nearest.empty()) return;
        LineReader lines(choices_.nearest);
        for (std::string line; lines.next(line);)
            if (!line.empty()) candidates_.push_back(line);
        expect_input(!candidates_.empty(), choices_.nearest, ": there is no line in it");
        candidate_vectors_ =
            sentence_vectors(model_, candidates_, {.batch_tokens = choices_.batch_tokens});
    }

    std::vector<std::string> columns() const override { return {"similarity", "line", "vector"}; }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const EmbedChoices o = with_given(choices_, given);
        if (o.similarity) return similarities(inputs, o, control);
        std::vector<std::string> texts, notes;
        for (const Json& input : inputs) texts.push_back(input.at("text").get<std::string>());
        const Tensor v = sentence_vectors(
            model_, texts, {.normalised = !o.raw, .batch_tokens = o.batch_tokens, .notes = &notes},
            control);
        std::vector<Answer> out;
        if (!candidates_.empty()) {
            const auto found =
                nearest_texts(v, candidate_vectors_, static_cast<std::size_t>(o.top));
            for (std::size_t i = 0; i < texts.size(); ++i)
                out.push_back(nearest_lines(texts[i], found[i]));
        } else {
            for (std::size_t i = 0; i < texts.size(); ++i)
                out.push_back(vector_of_text(
                    texts[i], v.data() + static_cast<std::int64_t>(i) * v.cols(), v.cols()));
        }
        for (std::size_t i = 0; i < texts.size(); ++i)
            if (!notes[i].empty()) out[i].notes.push_back(notes[i]);
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        if (!model_.encoder)
            throw Error("inspect: word vectors have no attention to be seen", ErrorKind::usage);
        const Ids ids = model_.encode(pass.input)[0];
        pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, ids);
        pass.sides = {{"", "text", "text"}};
        const PrecisionScope scope(model_.precision);
        const std::vector<Ids> one{ids};
        model_.pooled(pack(one));
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }
    std::vector<std::string> figure_names() const override { return {"accuracy", "mrr"}; }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        PairFiles pairs = pair_files_of(files.paths[0]);
        pairs.more_paths.assign(files.paths.begin() + 1, files.paths.end());
        pairs.skip_bad = files.skip_bad;
        pairs.limit = files.limit;
        Problems problems;
        std::vector<std::string> left, right;
        for (const TextPair& p : read_pairs(pairs, &problems)) {
            left.push_back(p.source);
            right.push_back(p.target);
        }
        say_all(problems.notes, control);
        expect_input(!left.empty(), files.paths[0], ": there is no pair in it");
        const Stopwatch clock;
        EvalReport r;
        const Tensor candidates = sentence_vectors(model_, right, {}, control);
        const Tensor queries = sentence_vectors(model_, left, {}, control);
        r.score = score_pairs(queries, candidates);
        for (const auto& found : nearest_texts(queries, candidates, 1))
            r.outputs.push_back(right[static_cast<std::size_t>(found[0].text)]);
        r.how = {{"pool", name_of(model_.pool)}};
        r.records = static_cast<std::int64_t>(left.size());
        r.seconds = clock.seconds();
        return r;
    }

private:
    std::vector<Answer> similarities(std::span<const Json> inputs, const EmbedChoices& o,
                                     const PredictControl& control) const {
        std::vector<std::string> left, right;
        for (const Json& input : inputs) {
            auto [a, b] = both_texts(input);
            left.push_back(std::move(a));
            right.push_back(std::move(b));
        }
        const EmbedOptions options{.batch_tokens = o.batch_tokens};
        const Tensor a = sentence_vectors(model_, left, options, control),
                     b = sentence_vectors(model_, right, options, control);
        std::vector<Answer> out;
        for (std::int64_t i = 0; i < a.rows(); ++i) {
            double cosine = 0;
            for (std::int64_t j = 0; j < a.cols(); ++j)
                cosine += static_cast<double>(a.at(i, j)) * b.at(i, j);
            Answer& answer = out.emplace_back();
            answer.text = fmt::format("{:.4f}", cosine);
            answer.rows = {{answer.text, "", ""}};
            answer.json = {{"schema", "fovea.similarity"},
                           {"version", 1},
                           {"text", left[static_cast<std::size_t>(i)]},
                           {"text_pair", right[static_cast<std::size_t>(i)]},
                           {"similarity", cosine}};
        }
        return out;
    }

    Answer nearest_lines(const std::string& text, const std::vector<TextNeighbour>& found) const {
        Answer a;
        a.json = {{"schema", "fovea.nearest"}, {"version", 1}, {"text", text}};
        a.json["nearest"] = Json::array();
        a.rows.emplace();
        for (const TextNeighbour& n : found) {
            const std::string& line = candidates_[static_cast<std::size_t>(n.text)];
            const std::string cosine = fmt::format("{:.4f}", n.similarity);
            a.text += (a.text.empty() ? "" : "\n") + cosine + "\t" + line;
            a.rows->push_back({cosine, line, ""});
            a.json["nearest"].push_back(
                {{"line", line}, {"number", n.text + 1}, {"similarity", n.similarity}});
        }
        return a;
    }

    EmbedChoices choices_;
    EmbedModel model_;
    std::vector<std::string> candidates_;
    Tensor candidate_vectors_;
};

}  // namespace

std::unique_ptr<Predictor> make_embed_predictor() { return std::make_unique<EmbedPredictor>(); }

}  // namespace fovea
