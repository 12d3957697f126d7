// One verb for every task: inputs in, answers out. The verbs of the tasks are aliases that check
// what the model was trained for.
#include "fovea/cli/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/answer_writer.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_flags.h"
#include "fovea/cli/options.h"
#include "fovea/cli/predict_inputs.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/tasks/task.h"

namespace fovea {
namespace {

struct PredictVerb {
    std::unique_ptr<ModelFlags> model;
    InputFlags inputs;
    std::string format = "text", out;
    bool stream = false;
};

// Pieces of texts, seen as soon as they are there.
class StreamedText {
public:
    StreamedText(const PredictVerb& v, const Predictor& predictor)
        : on_(predictor.streams() && v.format == "text" && v.out.empty() &&
              (v.stream || is_terminal(stdout))) {
        if (v.stream && !on_)
            throw Error("--stream: only text to standard output can be streamed", ErrorKind::usage,
                        "leave out --format and --out, or --stream");
    }

    bool on() const { return on_; }
    TextPieces pieces() {
        if (!on_) return {};
        return [this](std::size_t, const std::string& piece, bool last) {
            fmt::print("{}{}", piece, last ? "\n" : "");
            std::fflush(stdout);
            open_ = !last && (open_ || !piece.empty());
        };
    }
    void end_line() {  // of a text that was interrupted
        if (std::exchange(open_, false)) fmt::print("\n");
    }

private:
    bool on_, open_ = false;
};

void say_notes(const std::map<std::string, std::int64_t>& notes, Progress& progress) {
    for (const auto& [note, count] : notes)
        progress.say(
            fmt::format("note: {} {} {}", count, count == 1 ? "text was" : "texts were", note));
}

// Each line as soon as it is typed.
void answer_typed_lines(const Predictor& predictor, AnswerWriter& writer, StreamedText& streamed) {
    Progress progress("", 0, "", {.quiet = global_options().quiet});
    progress.say("type a text and press Enter; Ctrl-D ends");
    LineReader reader("-");
    PredictControl control;
    control.on_text = streamed.pieces();
    for (std::string line; reader.next(line); ++control.first) {
        const Json input{{"text", line}};
        std::map<std::string, std::int64_t> notes;
        for (const Answer& a : predictor.answer({&input, 1}, Json::object(), control)) {
            if (!streamed.on()) writer.write(a, {});
            for (const std::string& note : a.notes) ++notes[note];
        }
        writer.flush();
        say_notes(notes, progress);
    }
}

void run(PredictVerb& v, const std::string& name) {
    const Predictor& predictor = v.model->open();
    AnswerWriter writer(v.format, v.out, predictor.columns());
    StreamedText streamed(v, predictor);
    if (v.inputs.are_typed()) return answer_typed_lines(predictor, writer, streamed);

    const PredictInputs inputs = v.inputs.read();
    writer.keep_columns(inputs.columns);
    Progress progress(name, static_cast<std::int64_t>(inputs.objects.size()), "lines",
                      {.quiet = global_options().quiet || streamed.on()});
    const InterruptScope interrupt;
    PredictControl control{.text_only = v.format == "text", .stop = &interrupt_flag()};
    control.on_text = streamed.pieces();
    control.progress = [&](std::int64_t done, std::int64_t) {
        progress.update(static_cast<std::int64_t>(control.first) + done);
    };
    // What is done is printed: whoever stops a long run keeps it.
    constexpr std::size_t portion = 2048;
    const std::span<const Json> all(inputs.objects);
    std::map<std::string, std::int64_t> notes;
    for (; control.first < all.size(); control.first += portion) {
        const auto part = all.subspan(control.first, std::min(portion, all.size() - control.first));
        const std::vector<Answer> answers = predictor.answer(part, Json::object(), control);
        streamed.end_line();
        progress.hide();
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (interrupted() && !answers[i].keep_if_stopped) continue;
            if (!streamed.on()) writer.write(answers[i], inputs.fields(control.first + i));
            for (const std::string& note : answers[i].notes) ++notes[note];
        }
        writer.flush();
        if (interrupted()) break;
    }
    say_notes(notes, progress);
    progress.finish();
    writer.close();
    throw_if_interrupted();
}

void add(CLI::App& app, const std::string& name, const std::string& task,
         const std::string& sentence, const std::string& input,
         const std::vector<std::string>& examples) {
    CLI::App* v = app.add_subcommand(name, sentence);
    auto verb = std::make_shared<PredictVerb>();
    verb->model = std::make_unique<ModelFlags>(*v, task);
    verb->inputs.add_to(*v, input, verb->model->input_files());
    if (const Predictor* known = verb->model->predictor()) {
        if (const auto flag = known->inline_input()) verb->inputs.add_inline(*v, *flag);
        if (known->streams())
            v->add_flag("--stream", verb->stream,
                        "show texts while they are made (as a terminal always does)");
    }
    add_format_options(*v, verb->format, {"text", "jsonl", "tsv"});
    v->add_option("--out", verb->out, "write the answers to this file")->group(more_group);
    set_examples(*v, examples);
    v->callback([verb, name] { run(*verb, name); });
}

}  // namespace

void add_predict_commands(CLI::App& app, const std::string& task) {
    for (const TaskEntry& t : tasks())
        if (t.predictor) {
            add(app, t.name, t.name, t.sentence, t.input, t.examples);
            if (!t.common) app.get_subcommand(t.name)->group(more_group);
        }
    add(app, "predict", task, "Answer with a model of any task.", "inputs, one per line",
        {"fovea predict run/model < texts.txt", "fovea predict run/model table.tsv --format tsv",
         "fovea predict run/model --format jsonl < texts.txt"});
    app.get_subcommand("predict")->group(more_group);
}

}  // namespace fovea
