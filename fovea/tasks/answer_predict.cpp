// Models that answer questions at work, behind the interface of tasks.
#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"
#include "fovea/tasks/answer.h"
#include "fovea/tasks/answer_slots.h"
#include "fovea/tasks/answer_texts.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

constexpr std::int64_t longest_file = std::int64_t{64} << 20;  // of --context

class AnswerPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    std::optional<InputFile> inline_input() const override {
        return InputFile{"question", "question", "a question (again for several)"};
    }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: answer has no ensembles", ErrorKind::usage);
        model_ = AnswerModel::open(folders[0], weights);
    }

    std::vector<std::string> columns() const override {
        if (!options_.ask.empty()) return {"line", "start", "end", "label", "text", "score"};
        return {"answer", "start", "end", "probability"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        if (!o.ask.empty()) return answer_slots(inputs, o, control);
        std::string common;
        if (!o.context.empty()) common = read_file_or_gzip(o.context, longest_file);
        std::vector<AskedQuestion> questions;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            questions.push_back(asked(inputs[i], o, common, control.first + i + 1));
        const auto found = fovea::answer(model_, questions, o.answering(), control);
        std::vector<Answer> out;
        for (std::size_t i = 0; i < found.size(); ++i)
            out.push_back(written(found[i], inputs[i], questions[i], o));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        std::string common;
        if (!options_.context.empty()) common = read_file_or_gzip(options_.context, longest_file);
        const AskedQuestion q = asked(input, options_, common, 1);
        AnswerTexts texts(model_);
        texts.add(repair_utf8(q.question),
                  std::make_shared<const std::string>(repair_utf8(q.context)));
        ForwardPass pass;
        pass.input = q.question;
        expect_input(!texts.windows().empty(), "answer: the context is empty");
        const std::int64_t first = 0;
        const ReadingBatch batch = texts.pack({&first, 1});
        const std::vector<std::string> shown =
            shown_tokens(*model_.folder.tokenizer, batch.tokens.tokens);
        pass.tokens["text"] = shown;
        const auto context = shown.end() - 1 - texts.windows()[0].count;
        if (model_.network->reads_words) {
            pass.tokens["question"] = {shown.begin(), context};
            pass.tokens["context"] = {context, shown.end()};
            pass.sides = {{"between.from_question", "question", "context"},
                          {"between.from_context", "context", "question"},
                          {"layer", "context", "context"}};
        }
        pass.sides.push_back({"", "text", "text"});
        const PrecisionScope scope(model_.precision);
        model_.network->scores(batch);
        const AskedQuestion one[] = {q};
        pass.output = fovea::answer(model_, one, options_.answering())[0].text();
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        std::vector<std::string> names{"f1", "exact", "loss"};
        if (model_.may_be_none)
            names.insert(names.end(), {"best_f1", "best_exact", "answered_f1", "answered_exact",
                                       "unanswered_exact"});
        return names;
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        QuestionFiles f;
        f.paths = files.paths;
        f.skip_bad = files.skip_bad;
        f.limit = files.limit;
        const QuestionData data = read_questions(f);
        if (data.problems.skipped > 0 && control.say)
            control.say(
                text_of("data: ", data.problems.skipped, " bad questions were passed over"));
        EvalReport r;
        const Stopwatch clock;
        std::vector<AnsweredQuestion> found;
        r.score = score_answers(model_, data.questions, options_.answering(), &found, control);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(data.questions.size());
        for (const AnsweredQuestion& a : found) r.outputs.push_back(one_line(a.text()));
        if (model_.may_be_none)
            r.how["no_answer_bound"] = options_.none_bound.value_or(model_.none_bound);
        return r;
    }

private:
    struct Options {
        std::string context, ask;
        double least = 0.5;
        int top = 1, longest = 30;
        std::optional<double> none_bound;
        std::int64_t batch_tokens = 4096;

        void describe(Settings& s) {
            s.add("context", context, "file with the text that answers are taken from",
                  {.group = "data", .common = true, .is_path = true, .about_run = false});
            s.add("ask", ask, "file of slots and questions: what each text fills the slots with",
                  {.group = "data", .is_path = true, .about_run = false});
            s.add("least", least, "with --ask: probability from which an answer fills a slot",
                  {.group = "output", .min = 0, .max = 1, .about_run = false});
            s.add("top", top, "answers shown for each question, most probable first",
                  {.group = "output", .common = true, .min = 1, .about_run = false});
            s.add("longest", longest, "tokens of an answer at most",
                  {.group = "output", .min = 1, .about_run = false});
            s.add("none-bound", none_bound,
                  "say that there is no answer where that exceeds the best one by more",
                  {.group = "output", .otherwise = "the model's own", .about_run = false});
            s.add("batch-tokens", batch_tokens, "tokens computed together",
                  {.group = "output", .min = 1, .about_run = false});
        }
        AnswerOptions answering() const { return {top, longest, none_bound, batch_tokens}; }
    };

    static std::string text_field(const Json& input, const char* name, std::size_t number) {
        if (!input.contains(name)) return "";
        expect_input(input[name].is_string(), "input ", number, ": \"", name, "\" is no text");
        return input[name].get<std::string>();
    }

    // "question" and "context" of a table; a line is a question about --context.
    static AskedQuestion asked(const Json& input, const Options& o, const std::string& common,
                               std::size_t number) {
        AskedQuestion q{text_field(input, "question", number), ""};
        if (!input.contains("question")) q.question = text_field(input, "text", number);
        const bool own = input.contains("context");
        q.context = own ? text_field(input, "context", number) : common;
        if (!own && o.context.empty())
            fail_with(ErrorKind::usage,
                      "--context FILE, or a table with the columns question and context",
                      "answer: input ", number, " has no context");
        if (q.question.find_first_not_of(" \t\r\n") == std::string::npos)
            fail_with(ErrorKind::bad_input, "lines are questions; leave out empty ones",
                      "answer: the question of input ", number, " is empty");
        return q;
    }

    static std::string one_line(std::string text) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; },
            ' ');
        return text;
    }

    // --ask: the inputs are texts, the questions come from a file.
    std::vector<Answer> answer_slots(std::span<const Json> inputs, const Options& o,
                                     const PredictControl& control) const {
        if (!o.context.empty())
            throw Error("answer: --ask and --context do not go together", ErrorKind::usage,
                        "with --ask the inputs are the texts");
        const std::vector<SlotQuestion> questions = read_slot_questions(o.ask);
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            texts.push_back(repair_utf8(text_field(inputs[i], "text", control.first + i + 1)));
        std::vector<Answer> out;
        const auto found = ask_slots(model_, texts, questions, {o.least, o.answering()}, control);
        for (std::size_t i = 0; i < found.size(); ++i) {
            Answer& a = out.emplace_back();
            a.json = {{"schema", "fovea.slots"},
                      {"version", 1},
                      {"text", texts[i]},
                      {"slots", Json::array()}};
            a.rows.emplace();
            for (const AskedSlot& s : found[i]) {
                a.json["slots"].push_back({{"start", s.answer.start},
                                           {"end", s.answer.end},
                                           {"label", s.slot},
                                           {"text", s.answer.text},
                                           {"score", s.answer.probability}});
                a.rows->push_back({std::to_string(control.first + i + 1),
                                   std::to_string(s.answer.start), std::to_string(s.answer.end),
                                   s.slot, one_line(s.answer.text),
                                   fmt::format("{:.4f}", s.answer.probability)});
                a.text += (a.text.empty() ? "" : "\t") + s.slot + "=" + one_line(s.answer.text);
            }
        }
        return out;
    }

    Answer written(const AnsweredQuestion& found, const Json& input, const AskedQuestion& q,
                   const Options& o) const {
        Answer a;
        a.json = {{"schema", "fovea.answers"}, {"version", 1}, {"question", q.question}};
        if (input.contains("id")) a.json["id"] = input["id"];
        a.json["answer"] = found.none ? Json(nullptr) : Json(found.text());
        if (model_.may_be_none) {
            a.json["none_probability"] = found.none_probability;
            a.json["none_score"] = found.none_score;
        }
        a.json["answers"] = Json::array();
        for (const TextAnswer& t : found.best)
            a.json["answers"].push_back({{"text", t.text},
                                         {"start", t.start},
                                         {"end", t.end},
                                         {"score", t.score},
                                         {"probability", t.probability}});
        if (found.none) {
            a.text = "(no answer)";
            a.cells = {
                "", "", "",
                model_.may_be_none ? fmt::format("{:.4f}", found.none_probability) : std::string()};
        } else {
            const TextAnswer& t = found.best[0];
            a.cells = {one_line(t.text), std::to_string(t.start), std::to_string(t.end),
                       fmt::format("{:.4f}", t.probability)};
            a.text = o.top == 1 ? one_line(t.text) : ranked(found);
        }
        if (found.windows > 1)
            a.notes.push_back(fmt::format(
                "longer than the {} tokens that the model takes, and read in parts that overlap",
                model_.network->max_length));
        return a;
    }

    static std::string ranked(const AnsweredQuestion& found) {
        std::string text;
        for (const TextAnswer& t : found.best)
            text += fmt::format("{}{:.4f}\t{}", text.empty() ? "" : "\n", t.probability,
                                one_line(t.text));
        return text;
    }

    Options options_;
    AnswerModel model_;
};

}  // namespace

std::unique_ptr<Predictor> make_answer_predictor() { return std::make_unique<AnswerPredictor>(); }

}  // namespace fovea
