#pragma once
// What the command line (and later the server) asks of a task. A task is a row in tasks(): nothing
// outside this room names one. Beside the table stand the typed functions of the library
// (translate(), classify()); here everything is Settings, records and JSON.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/base/settings.h"
#include "fovea/data/record_shape.h"
#include "fovea/data/records.h"
#include "fovea/metrics/score.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/run_settings.h"
#include "fovea/tasks/weight_choice.h"
#include "fovea/train/autotune.h"
#include "fovea/train/loop.h"

namespace fovea {

using Say = std::function<void(const std::string&)>;  // notes for people

// What is known before the first update: for --dry-run and the opening lines of a run.
struct TrainSummary {
    std::string model;  // "4 layers, d=128, …"
    std::int64_t parameters = 0;
    std::int64_t records = 0, dropped = 0;  // of the training data
    std::int64_t batches_per_epoch = 0;
    std::int64_t tokens_per_epoch = 0;  // that count in the loss
    double memory_bytes = 0;            // estimate at the peak
};

// What a task that trains a text encoder can share with others (multi.h), once it is prepared.
struct TrainedEncoder {
    ModelFolder folder;                    // config and tokenizer; in_training has the parameters
    const TextEncoder* encoder = nullptr;  // lives as long as the trainer
    std::vector<std::string> texts;        // that the task learns from
};

// One training run of a task. Not thread-safe: it belongs to one thread.
class Trainer {
public:
    virtual ~Trainer() = default;

    // The task's own settings (data columns, vocabulary, model); those of every run are in
    // RunSettings.
    virtual void describe(Settings& settings) = 0;
    virtual std::vector<std::string> metrics() const = 0;  // that may choose the model that is kept
    // What --autotune may try where nobody said otherwise, the most telling first.
    virtual std::vector<Knob> knobs() const;
    // Checks the settings together, before anything is read: wrong ones are usage errors. Those
    // that do not count for this run are marked as not worth writing down.
    virtual void check(Settings& settings, const RunSettings& run) = 0;
    // Reads the data, trains or loads the vocabulary, makes the model, and settles what `run`
    // leaves open.
    virtual void prepare(RunSettings& run, const Say& say) = 0;
    virtual TrainSummary summary() const = 0;
    virtual TrainTask task() = 0;
    virtual std::optional<TrainedEncoder> trained_encoder() const { return {}; }
    // Does a run need files? (Not where other settings name the data.)
    virtual bool needs_files() const { return true; }
    // For peers and debugging: initial weights, examples and the batch order of so many epochs.
    virtual void dump(const std::string& folder, std::int64_t epochs) const;
};

// A part of an answer's text that stands out on a terminal: parts of a kind in one colour.
struct TextMark {
    std::size_t begin = 0, end = 0;  // bytes
    int kind = 0;
};

// One answer, ready to be written: as text (several lines for several results), as cells of a
// table, as JSON.
struct Answer {
    std::string text;
    std::vector<std::string> cells;  // in the order of Predictor::columns()
    Json json = Json::object();
    // Of a task whose answer may be none or several rows of a table: these instead of `cells`.
    std::optional<std::vector<std::vector<std::string>>> rows{};
    std::vector<TextMark> marks{};  // of `text`, in order
    // For people, as they follow "3 texts were": "cut to the 256 tokens that the model takes".
    std::vector<std::string> notes{};
    bool keep_if_stopped = false;  // worth writing though the work was interrupted
};

// Pieces of answers' texts as soon as they are certain, in order: those of input i before those of
// i + 1 (counted from the first of the call), `last` with the end of its text.
using TextPieces = std::function<void(std::size_t input, const std::string& piece, bool last)>;

struct PredictControl {
    std::size_t first = 0;  // the number of the first input: names its random draws
    std::function<void(std::int64_t done, std::int64_t total)> progress{};
    bool text_only = false;                   // cells and JSON of answers are not looked at
    const std::atomic<bool>* stop = nullptr;  // once true: end soon, with what is there
    Say say{};                                // what was guessed about the data
    TextPieces on_text{};                     // of a predictor that streams()
};

inline void say_all(const std::vector<std::string>& notes, const PredictControl& control) {
    for (const std::string& note : notes)
        if (control.say) control.say(note);
}

// A file with one line for each input, which becomes a field of it: `--prefixes FILE` → "prefix".
struct InputFile {
    std::string flag, field, help;
};

struct EvalReport {
    MetricScore score;
    Json how = Json::object();         // how answers were found: beam, length, …
    std::vector<std::string> outputs;  // one per record
    std::string details = {};          // further lines for people
    std::int64_t records = 0, tokens = 0;
    double seconds = 0;
};

// Whose tokens the rows of an attention are, by a part of its name; the first that fits counts.
struct AttentionSides {
    std::string part;           // "" fits every name
    std::string queries, keys;  // names of ForwardPass::tokens
};

// Where the input is a picture (or a sound, drawn as its spectrogram): tokens of one side lie on it
// as a grid, tokens of another may have a box each.
struct SeenPicture {
    std::string png;  // a file's bytes
    std::string side;
    int first = 0, height = 0, width = 0;  // the grid, from token `first` on, line by line
    // Sides whose tokens lie on the grid in another order: the token of each cell.
    std::map<std::string, std::vector<int>> places{};
    std::string box_side{};
    std::vector<std::array<float, 4>> boxes{};  // left, top, width, height as shares
    struct Track {
        std::string name;
        std::vector<float> values;  // 0 … 1, one for each column of the grid
    };
    std::vector<Track> tracks{};  // curves below the picture
};

// One pass of a model over one input, run for whoever watches (a Probe).
struct ForwardPass {
    std::map<std::string, std::vector<std::string>> tokens;  // by side, as a person reads them
    std::vector<AttentionSides> sides;
    std::string input, output;  // as text
    std::optional<SeenPicture> seen{};
};

// A model at work. After open(), const calls are thread-safe.
class Predictor {
public:
    virtual ~Predictor() = default;

    virtual void describe(Settings& settings) = 0;  // what may be asked of a prediction
    virtual std::vector<InputFile> input_files() const { return {}; }
    // A flag that holds an input itself, instead of a file of them: `--prompt "Once"` → "text".
    virtual std::optional<InputFile> inline_input() const { return {}; }
    // Does it hand out pieces of its texts while they are made?
    virtual bool streams() const { return false; }
    // Several folders form an ensemble, where the task has them. Settings not given take the
    // model's own defaults.
    virtual void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) = 0;

    virtual std::vector<std::string> columns() const = 0;  // of a table of answers
    // Inputs are objects: {"text": …} and what else the task knows (prefix, constraints, …).
    // `options` overrides settings for this call alone.
    virtual std::vector<Answer> answer(std::span<const Json> inputs, const Json& options,
                                       const PredictControl& control) const = 0;

    // One pass over an input, as the reports to a Probe of the caller's. {"text": …}; a task whose
    // model reads its own output takes a "target" too, which is then the name of that side.
    virtual ForwardPass forward(const Json& input) const = 0;
    virtual const ParameterStore& parameters() const = 0;

    virtual std::vector<std::string> figure_names() const = 0;  // that evaluate() gives
    virtual EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const = 0;
};

// Does a folder without fovea.json (a Hugging Face model) fit a task? By its config.json.
std::string task_of_config(const ModelFolder& folder);

struct TaskEntry {
    const char* name;                           // --task NAME, and the verb
    const char* sentence;                       // of the verb
    const char* input;                          // what an input file holds
    RecordShape records;                        // what it learns from, and is guessed by
    std::vector<std::string> examples;          // of the verb
    std::unique_ptr<Trainer> (*trainer)();      // null: only a verb (its models come from another)
    std::unique_ptr<Predictor> (*predictor)();  // null: only trained (its models have other tasks)
    // Parameters as a checkpoint holds them, written as a model folder like `model` (which it was
    // trained with).
    void (*save)(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                 bool overwrite);
    std::vector<std::string> model_types{};  // config.json's, of folders that do not name a task
    std::vector<Head> heads{};  // the same by config.json's architecture: those with these heads
    bool common = true;         // its verb stands in the short help
    bool opens_all = false;     // its verb takes folders of other tasks too: it uses their encoder
    std::string also = "";  // a task whose folders its verb takes, too: its predictor hands them on
};

std::span<const TaskEntry> tasks();  // the one table
const TaskEntry* find_task(const std::string& name);
std::vector<std::string> trained_tasks();  // names, for --task
// The task that learns from records of a shape; nullptr where there is none.
const TaskEntry* task_for(RecordShape shape);

}  // namespace fovea
