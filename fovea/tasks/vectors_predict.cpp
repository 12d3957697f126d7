// Word vectors at work, behind the interface of tasks: neighbours, analogies, and how many of
// somebody's analogies come out right.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/word_corpus.h"
#include "fovea/tasks/vectors.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

struct VectorsOptions {
    int top = 10;
    bool values = false;

    void describe(Settings& s) {
        s.add("top", top, "words shown for each input, nearest first",
              {.group = "output", .common = true, .min = 1, .about_run = false});
        s.add("values", values, "show the numbers of the word's vector instead",
              {.group = "output", .common = true, .about_run = false});
    }
};

Answer nearest_answer(const std::string& text, const std::vector<WordAnswer>& found) {
    Answer a;
    a.json = {{"schema", "fovea.neighbours"}, {"version", 1}, {"text", text}};
    a.json["nearest"] = Json::array();
    a.rows.emplace();
    for (const WordAnswer& w : found) {
        const std::string cosine = fmt::format("{:.4f}", w.similarity);
        a.text += (a.text.empty() ? "" : "\t") + w.word + "\t" + cosine;
        a.rows->push_back({w.word, cosine});
        a.json["nearest"].push_back({{"word", w.word}, {"similarity", w.similarity}});
    }
    return a;
}

Answer vector_answer(const WordVectors& v, const std::string& word) {
    std::vector<float> values(static_cast<std::size_t>(v.dim()));
    Answer a;
    if (!v.vector_of(word, values.data())) a.notes.emplace_back("unknown: their vector is zero");
    for (const float x : values) a.text += (a.text.empty() ? "" : " ") + fmt::format("{}", x);
    a.rows = {{word, a.text}};
    a.json = {{"schema", "fovea.vector"}, {"version", 1}, {"text", word}, {"vector", values}};
    return a;
}

class VectorsPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice&) override {
        if (folders.size() > 1)
            throw Error("--ensemble: vectors has no ensembles", ErrorKind::usage);
        model_ = WordVectorModel::open(folders[0]);
    }

    std::vector<std::string> columns() const override {
        return options_.values ? std::vector<std::string>{"word", "vector"}
                               : std::vector<std::string>{"nearest", "similarity"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const VectorsOptions o = with_given(options_, given);
        std::vector<std::string> texts;
        for (const Json& input : inputs) texts.push_back(input.at("text").get<std::string>());
        std::vector<Answer> out;
        if (o.values) {
            for (const std::string& word : texts)
                out.push_back(vector_answer(*model_.vectors, word));
            return out;
        }
        const auto found = nearest_words(model_, texts, static_cast<std::size_t>(o.top));
        for (std::size_t i = 0; i < texts.size(); ++i)
            out.push_back(nearest_answer(texts[i], found[i]));
        if (control.progress)
            control.progress(static_cast<std::int64_t>(texts.size()),
                             static_cast<std::int64_t>(texts.size()));
        return out;
    }

    ForwardPass forward(const Json&) const override {
        throw Error("inspect: word vectors have no attention to be seen", ErrorKind::usage,
                    "fovea vectors MODEL shows neighbours");
    }
    const ParameterStore& parameters() const override { return *model_.store; }
    std::vector<std::string> figure_names() const override { return {"accuracy", "known"}; }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override;

private:
    VectorsOptions options_;
    WordVectorModel model_;
};

// Lines "a b c d": a is to b as c is to d, right where d is the word nearest to b − a + c. Lines
// that begin with ":" name a section (the form of word2vec's questions-words.txt).
EvalReport VectorsPredictor::evaluate(const RecordFiles& files,
                                      const PredictControl& control) const {
    std::vector<std::string> queries, wanted;
    std::int64_t unknown = 0;
    for (const std::string& path : files.paths) {
        LineReader lines(path);
        for (std::string line; lines.next(line);) {
            std::vector<std::string> words;
            for_each_word(line, [&](std::string_view w) { words.emplace_back(w); });
            if (words.empty() || words[0].starts_with(':')) continue;
            expect_input(words.size() == 4, path, ":", lines.line_number(),
                         ": an analogy has four words, but here are ", words.size());
            const bool known = std::all_of(words.begin(), words.end(), [&](const std::string& w) {
                return model_.vectors->find(w).has_value();
            });
            if (!known) {
                ++unknown;
                continue;
            }
            queries.push_back(words[1] + " - " + words[0] + " + " + words[2]);
            wanted.push_back(words[3]);
        }
    }
    expect_input(unknown > 0 || !queries.empty(), files.paths[0], ": there is no analogy in it");
    if (unknown > 0 && control.say)
        control.say(text_of(unknown,
                            " analogies have a word that the model does not know, and "
                            "are left out"));
    const Stopwatch clock;
    EvalReport r;
    double right = 0;
    const auto found = nearest_words(model_, queries, 1);
    for (std::size_t i = 0; i < found.size(); ++i) {
        r.outputs.push_back(found[i].empty() ? "" : found[i][0].word);
        right += r.outputs.back() == wanted[i] ? 1 : 0;
    }
    const auto asked = static_cast<double>(queries.size());
    const double accuracy = queries.empty() ? 0 : 100 * right / asked;
    r.score = {"accuracy", accuracy, true, "analogies|3CosAdd|known words",
               Json{{"accuracy", accuracy},
                    {"known", 100 * asked / (asked + static_cast<double>(unknown))}}};
    r.records = static_cast<std::int64_t>(queries.size());
    r.seconds = clock.seconds();
    return r;
}

}  // namespace

std::unique_ptr<Predictor> make_vectors_predictor() { return std::make_unique<VectorsPredictor>(); }

}  // namespace fovea
