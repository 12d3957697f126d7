// Language models for the command line: prompts in, texts out, and the perplexity of files.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/paint.h"
#include "fovea/tasks/paint_settings.h"
#include "fovea/tasks/search_settings.h"
#include "fovea/tasks/shown_tokens.h"
#include "fovea/tasks/with_given.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

struct GenerateSettings {
    SearchSettings search;
    std::vector<std::string> stop, bad_words;
    bool no_prompt = false;
    std::int64_t batch_tokens = 4096;
    std::int64_t batch_prompts = 16;
    int context = 0, stride = 0;
    bool keep_rows = false;
    PaintSettings pictures;  // of painters, whose folders are taken too

    void describe(Settings& s) {
        search.describe_generation(s);
        s.find("max-tokens")->help =
            "tokens produced at most; when the context is full, the oldest half of the text is "
            "dropped and the rest is read again";
        s.add("keep-rows", keep_rows,
              "xlnet: rows of the past stay as they were read (transformers' use_mems)",
              {.group = "search", .about_run = false});
        SettingOptions words{.group = "search", .common = true, .about_run = false};
        s.add("stop", stop, "a string that ends a text, again for more", words);
        words.common = false;
        s.add("bad-words", bad_words, "a word or phrase never written, again for more", words);
        SettingOptions out{.group = "output", .min = 1, .about_run = false};
        s.add("no-prompt", no_prompt, "text: write only what follows the prompt", out);
        s.add("batch-tokens", batch_tokens, "tokens read together", out);
        s.add("batch", batch_prompts, "texts written together at most", out);
        SettingOptions window{.group = "data", .min = 0, .max = 1 << 24, .about_run = false};
        s.add("context", context, "eval: tokens of a window; 0: the model's context", window);
        s.add("stride", stride, "eval: tokens a window moves on; 0: half of it", window);
        pictures.describe_pictures(s);
    }

    // As a painter's options; what it has not is an error.
    Json of_pictures() const {
        if (search.beam.value_or(1) > 1 || search.max_length || !stop.empty() || !bad_words.empty())
            throw Error("--beam, --max-tokens, --stop and --bad-words are for texts",
                        ErrorKind::usage, "leave them out: the model paints pictures");
        Json j{{"samples", search.n_best.value_or(1)},
               {"seed", search.seed},
               {"given", pictures.given},
               {"nearest", pictures.nearest},
               {"pictures", pictures.pictures},
               {"sheet", pictures.sheet},
               {"training", pictures.training},
               {"complete", pictures.complete}};
        if (search.temperature) j["temperature"] = *search.temperature;
        if (search.top_k) j["top-k"] = *search.top_k;
        if (search.top_p) j["top-p"] = *search.top_p;
        if (search.min_p) j["min-p"] = *search.min_p;
        return j;
    }
};

constexpr const char* between_samples = "\n---\n";

// Pieces of texts that are made side by side, handed on in order: samples of a prompt one after the
// other, prompts too.
class PieceQueue {
public:
    PieceQueue(std::vector<std::string> heads, int samples, const TextPieces& to)
        : heads_(std::move(heads)), samples_(samples), to_(to) {}

    void push(const TextPiece& piece) {
        const Place place{piece.prompt, piece.sample};
        Waiting& w = waiting_[place];
        w.text += piece.text;
        w.ended = w.ended || piece.last;
        while (at_.first < heads_.size() && give(waiting_[at_])) {
            waiting_.erase(at_);
            if (++at_.second == samples_) at_ = {at_.first + 1, 0};
        }
    }

private:
    using Place = std::pair<std::size_t, int>;  // prompt, sample
    struct Waiting {
        std::string text;
        bool begun = false, ended = false;
    };

    // Everything there is of the text whose turn it is; true where that is all.
    bool give(Waiting& w) {
        std::string text = std::exchange(w.text, {});
        if (!w.begun && (!text.empty() || w.ended)) {
            text = (at_.second > 0 ? between_samples : "") + heads_[at_.first] + text;
            w.begun = true;
        }
        const bool last = w.ended && at_.second + 1 == samples_;
        if (!text.empty() || last) to_(at_.first, text, last);
        return w.ended;
    }

    std::vector<std::string> heads_;  // what a text begins with: its prompt
    int samples_;
    const TextPieces& to_;
    Place at_{0, 0};
    std::map<Place, Waiting> waiting_;
};

// A whole file is one text: line ends are part of it.
std::string document_of(const std::string& path) {
    std::string text = read_file_or_gzip(path == "-" ? "/dev/stdin" : path);
    expect_input(is_utf8(text), path, ": is not UTF-8 text");
    return text;
}

class GeneratePredictor : public Predictor {
public:
    void describe(Settings& s) override { settings_.describe(s); }

    std::optional<InputFile> inline_input() const override {
        return InputFile{"prompt,--class", "text",
                         "a text to go on with (of a painter: a class), again for more"};
    }
    bool streams() const override { return !painter_; }

    void open(const std::vector<ModelFolder>& folders, const WeightChoice& weights) override {
        if (folders.size() > 1)
            throw Error("--ensemble: generate has no ensembles", ErrorKind::usage);
        if (folders[0].task == "paint") {
            painter_ = make_paint_predictor();
            painter_->open(folders, weights);
            return;
        }
        model_ = GenerateModel::open(folders[0], weights);
        search_of(settings_);  // wrong settings are told before the work
    }

    std::vector<std::string> columns() const override {
        return painter_ ? painter_->columns() : std::vector<std::string>{"text", "score", "end"};
    }

    std::vector<Answer> answer(std::span<const Json> inputs, const Json& given,
                               const PredictControl& control) const override {
        const GenerateSettings settings = with_given(settings_, given);
        if (painter_) return painter_->answer(inputs, settings.of_pictures(), control);
        GenerateOptions o;
        o.search = search_of(settings);
        o.keep_rows = settings.keep_rows;
        if (!settings.search.max_length) o.max_total = model_.max_total;
        o.stop = settings.stop.empty() ? model_.stop : settings.stop;
        o.bad_words = settings.bad_words;
        o.batch_tokens = settings.batch_tokens;
        o.batch_prompts = settings.batch_prompts;
        o.first_prompt = control.first;
        o.progress = control.progress;
        std::vector<std::string> prompts, heads;
        for (const Json& input : inputs) {
            prompts.push_back(input.at("text").get<std::string>());
            heads.push_back(settings.no_prompt ? "" : prompts.back());
        }
        // Of a beam's several results only the best is known before all are.
        const bool live = control.on_text && (o.search.sample || o.search.n_best == 1);
        PieceQueue queue(heads, o.search.n_best, control.on_text);
        GenerateHooks hooks{.stop = control.stop};
        if (live) hooks.on_text = [&](const TextPiece& piece) { queue.push(piece); };
        const auto found = generate(model_, prompts, o, hooks);
        std::vector<Answer> out;
        for (std::size_t i = 0; i < found.size(); ++i) {
            out.push_back(written(found[i], prompts[i], heads[i]));
            if (control.on_text && !live) control.on_text(i, out[i].text, true);
        }
        return out;
    }

    ForwardPass forward(const Json& input) const override {
        ForwardPass pass;
        pass.input = input.at("text").get<std::string>();
        Ids ids = pass.input.empty() ? model_.begin : model_.encode(pass.input);
        expect_input(!ids.empty(), "inspect: the text is empty");
        ids.resize(std::min(ids.size(), static_cast<std::size_t>(model_.network->max_length)));
        pass.tokens["text"] = shown_tokens(*model_.folder.tokenizer, ids);
        pass.sides = {{"", "text", "text"}};
        const PrecisionScope scope(model_.precision);
        const Tensor rows = model_.network->rows(pack({&ids, 1}));
        if (!model_.network->step) return pass;  // what follows would be another pass
        const Tensor logits = model_.network->words(rows);
        const float* last = logits.data() + (logits.rows() - 1) * logits.cols();
        const auto next = std::max_element(last, last + logits.cols()) - last;
        pass.output = shown_token(*model_.folder.tokenizer, static_cast<std::int32_t>(next));
        return pass;
    }

    const ParameterStore& parameters() const override { return *model_.store; }

    std::vector<std::string> figure_names() const override {
        return {"perplexity", "bits_per_byte", "loss"};
    }

    EvalReport evaluate(const RecordFiles& files, const PredictControl& control) const override {
        if (files.limit > 0 || files.skip_bad > 0)
            throw Error("--limit and --skip-bad count records, but a text is measured whole",
                        ErrorKind::usage, "leave them out");
        const WindowOptions window{.context = settings_.context,
                                   .stride = settings_.stride,
                                   .batch_tokens = settings_.batch_tokens};
        EvalReport r;
        const Stopwatch clock;
        ForetoldText all;
        for (const std::string& path : files.paths) {
            const std::string text = document_of(path);
            const Ids tokens = model_.encode(text);
            const ForetoldText one = foretell(model_, tokens, window, control);
            all.nats += one.nats;
            all.scored += one.scored;
            all.tokens += one.tokens;
            all.bytes += static_cast<std::int64_t>(text.size());
            all.context = one.context;
            all.stride = one.stride;
        }
        r.score = perplexity_score(all);
        r.how = {{"read", "each file as one text, line ends included"},
                 {"context", all.context},
                 {"stride", all.stride},
                 {"scored_tokens", all.scored},
                 {"bytes", all.bytes}};
        r.records = static_cast<std::int64_t>(files.paths.size());
        r.tokens = all.tokens;
        r.seconds = clock.seconds();
        return r;
    }

private:
    SearchOptions search_of(const GenerateSettings& given) const {
        SearchSettings s = given.search;
        // A folder may say that it samples; a beam asks for the opposite.
        if (model_.search.sample && s.beam.value_or(1) == 1) s.sample = true;
        if (s.n_best.value_or(1) > 1 && !s.sample &&
            *s.n_best > s.beam.value_or(model_.search.beam))
            throw Error(text_of("--samples is ", *s.n_best, ", but greedy search finds one text"),
                        ErrorKind::usage,
                        "add --sample to draw texts, or --beam to search for more");
        if (s.sample && s.beam.value_or(1) > 1)
            throw Error("--beam searches and --sample draws: give one of them", ErrorKind::usage);
        SearchOptions defaults = model_.search;
        if (s.sample) defaults.beam = 1;
        return s.over(defaults);
    }

    Answer written(const GeneratedText& t, const std::string& prompt,
                   const std::string& head) const {
        Answer a;
        a.json = {{"schema", "fovea.generation"},
                  {"version", 1},
                  {"prompt", prompt},
                  {"prompt_tokens", t.prompt_tokens},
                  {"samples", Json::array()}};
        for (const GeneratedText::Sample& s : t.samples) {
            a.text += (&s == &t.samples[0] ? "" : between_samples) + head + s.text;
            Json j{{"text", s.text},
                   {"end", name_of(s.end)},
                   {"log_probability", s.hypothesis.sum},
                   {"tokens", s.hypothesis.tokens},
                   {"token_scores", s.hypothesis.token_scores}};
            if (s.end == TextEnd::stop_string) j["stopped_by"] = s.stopped_by;
            a.json["samples"].push_back(std::move(j));
            if (s.slid)
                a.notes.push_back(fmt::format(
                    "longer than the context of {} tokens: the oldest half was dropped each time",
                    model_.network->max_length));
        }
        if (!t.samples.empty()) {
            const GeneratedText::Sample& s = t.samples[0];
            a.json["text"] = s.text;
            a.cells = {s.text, fmt::format("{:.4f}", s.hypothesis.sum), name_of(s.end)};
            a.keep_if_stopped = !s.hypothesis.tokens.empty() || s.end != TextEnd::interrupted;
        }
        return a;
    }

    GenerateSettings settings_;
    GenerateModel model_;
    std::unique_ptr<Predictor> painter_;  // where the folder is one's
};

}  // namespace

std::unique_ptr<Predictor> make_generate_predictor() {
    return std::make_unique<GeneratePredictor>();
}

}  // namespace fovea
