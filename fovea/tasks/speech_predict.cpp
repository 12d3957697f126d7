// Transcribing behind the interface of tasks.
#include <fmt/format.h>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/precision.h"
#include "fovea/io/png.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/softmax.h"
#include "fovea/tasks/classify_score.h"
#include "fovea/tasks/speech.h"
#include "fovea/tasks/speech_view.h"
#include "fovea/tasks/with_given.h"

namespace fovea {
namespace {

class SpeechPredictor : public Predictor {
public:
    void describe(Settings& s) override { options_.describe(s); }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() != 1)
            throw Error(
                "transcribe: one model is wanted, but there are " + std::to_string(folders.size()),
                ErrorKind::usage);
        model_ = Transcriber::open(folders[0], weights);
        if (model_.classifies() && (options_.times || options_.beam > 1))
            throw Error(
                "--times and --beam belong to models that transcribe, and this one tells "
                "classes",
                ErrorKind::usage, "leave them out");
        if (model_.is_whisper() && options_.times)
            throw Error("--times: Whisper's checkpoints tell no times of words here",
                        ErrorKind::usage, "a model with a CTC head does (fovea train)");
        if (!model_.is_whisper() && (!options_.language.empty() || options_.translate))
            throw Error("--language and --translate belong to Whisper's checkpoints",
                        ErrorKind::usage, "leave them out");
    }

    std::vector<std::string> columns() const override {
        if (options_.times) return {"path", "start", "end", "word", "probability"};
        if (model_.classifies()) return {"path", "label", "probability"};
        return {"path", "text"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const Options o = with_given(options_, given);
        std::vector<std::string> paths;
        for (const Json& input : inputs) paths.push_back(path_of(input));
        const auto said = transcribe(model_, paths, o.search(), control);
        std::vector<Answer> out;
        for (std::size_t i = 0; i < said.size(); ++i) out.push_back(written(said[i], paths[i], o));
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = path_of(input);
        const std::string paths[] = {pass.input};
        const PrecisionScope scope(model_.precision);
        const Tensor rows = (*model_.features)(model_.load(pass.input));
        const SoundBatch batch = pack_sounds({&rows, 1});
        const SoundRows sound = model_.network->encoder()(batch.features, batch.frames);
        for (std::int64_t r = 0; r < sound.rows.rows(); ++r)
            pass.tokens["sound"].push_back(fmt::format(
                "{:.2f}s", 2 * static_cast<double>(r) * model_.features->seconds_per_frame()));
        pass.sides = {{"", "sound", "sound"}};
        pass.seen = {.png = encode_png(spectrogram(rows)),
                     .side = "sound",
                     .height = 1,
                     .width = static_cast<int>(sound.rows.rows())};
        if (model_.network->recogniser)
            pass.seen->tracks = posteriors(softmax(model_.network->recogniser->unit_logits(sound)),
                                           model_.folder.labels);
        const Probe unseen;  // the search reads the sound again
        pass.output = transcribe(model_, paths)[0].text;
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        if (model_.classifies()) return {"accuracy", "macro_f1", "micro_f1"};
        return {"wer", "cer", "exact"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        Problems problems;
        ClipFiles f{files.paths, options_.path_key, options_.text_key, files.skip_bad, files.limit};
        const ClipSet set = read_clips(f, &problems);
        say_all(problems.notes, control);
        std::vector<std::string> paths, wanted;
        for (const SpokenClip& c : set.clips) {
            paths.push_back(c.path);
            wanted.push_back(c.text);
        }
        EvalReport r;
        const Stopwatch clock;
        const auto said = transcribe(model_, paths, options_.search(), control);
        r.score = speech_score(model_, wanted, said);
        r.seconds = clock.seconds();
        r.records = static_cast<std::int64_t>(paths.size());
        for (const Transcript& t : said) r.outputs.push_back(t.text);
        if (model_.classifies()) {
            if (options_.confusion) r.details = confusion_table(r.score.figures);
        } else {
            r.how = {{"beam", options_.beam}};
        }
        return r;
    }

private:
    struct Options {
        int beam = 1;
        bool times = false, confusion = false;
        std::optional<double> ctc_weight;
        std::string language, path_key, text_key;
        bool translate = false;
        std::int64_t batch_rows = 3000;

        TranscribeOptions search() const {
            return {.beam = beam,
                    .times = times,
                    .ctc_weight = ctc_weight,
                    .language = language,
                    .translate = translate,
                    .batch_rows = batch_rows};
        }

        void describe(Settings& s) {
            s.add("beam", beam, "hypotheses kept while reading a sound; 1: the best path",
                  {.group = "search", .common = true, .min = 1, .max = 1000, .about_run = false});
            s.add("times", times, "when each word was said",
                  {.group = "output", .common = true, .about_run = false});
            s.add("ctc-weight", ctc_weight,
                  "with --beam and a decoder: how much CTC counts beside it",
                  {.group = "search",
                   .min = 0,
                   .max = 1,
                   .otherwise = "as in training",
                   .about_run = false});
            s.add("language", language, "Whisper's checkpoints: the language spoken, such as en",
                  {.group = "search", .otherwise = "as it is heard", .about_run = false});
            s.add("translate", translate, "Whisper's checkpoints: into English",
                  {.group = "search", .about_run = false});
            s.add("confusion", confusion, "eval of classes: which were taken for which",
                  {.group = "output", .about_run = false});
            s.add("path", path_key, "eval: column of the sounds' paths",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
            s.add("text", text_key, "eval: column of the transcripts or labels",
                  {.group = "data", .otherwise = "guessed", .about_run = false});
            s.add("batch-rows", batch_rows, "rows of 20 ms computed together",
                  {.group = "output", .min = 1, .about_run = false});
        }
    };

    static std::string path_of(const Json& input) {
        return input.at(input.contains("path") ? "path" : "text").get<std::string>();
    }

    Answer written(const Transcript& t, const std::string& path, const Options& o) const {
        Answer a;
        a.json = {{"schema", "fovea.transcript"}, {"version", 1}, {"path", path}};
        if (model_.classifies()) {
            const std::string p = fmt::format("{:.4f}", t.score);
            a.text = t.text + "\t" + p;
            a.cells = {path, t.text, p};
            a.json["label"] = t.text;
            a.json["probabilities"] = Json::object();
            for (std::size_t i = 0; i < t.probabilities.size(); ++i)
                a.json["probabilities"][model_.folder.labels[i]] = t.probabilities[i];
            return a;
        }
        a.text = t.text;
        a.cells = {path, t.text};
        a.json["text"] = t.text;
        a.json["score"] = t.score;
        if (!o.times) return a;
        a.text.clear();
        a.rows.emplace();
        a.json["words"] = Json::array();
        for (const SpokenWord& w : t.words) {
            const std::string start = fmt::format("{:.2f}", w.start),
                              end = fmt::format("{:.2f}", w.end),
                              p = fmt::format("{:.4f}", w.probability);
            a.text += (a.text.empty() ? "" : "\n") + start + "\t" + end + "\t" + w.word;
            a.rows->push_back({path, start, end, w.word, p});
            a.json["words"].push_back({{"word", w.word},
                                       {"start", w.start},
                                       {"end", w.end},
                                       {"probability", w.probability}});
        }
        return a;
    }

    Options options_;
    Transcriber model_;
};

}  // namespace

std::unique_ptr<Predictor> make_speech_predictor() { return std::make_unique<SpeechPredictor>(); }

}  // namespace fovea
