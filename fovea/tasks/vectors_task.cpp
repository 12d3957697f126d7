// Training word vectors, behind the interface of tasks. (Prediction: vectors_predict.cpp.)
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/data/split.h"
#include "fovea/tasks/training_data.h"
#include "fovea/tasks/vectors.h"
#include "fovea/tasks/vectors_text.h"

namespace fovea {
namespace {

constexpr std::uint32_t table_values = 0x766563u;
constexpr double usual_rate = 0.05;
constexpr std::int64_t words_per_update = 8192;  // so often the rate comes down

// Uniform in ± 1/dim, as word2vec and fastText begin; each number by its place, over threads.
void fill_uniform(Tensor& values, std::uint64_t seed) {
    float* to = values.write();
    const auto bound = 1.0f / static_cast<float>(values.cols());
    parallel_for(values.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
        Rng rng(seed, table_values);
        rng.seek(static_cast<std::uint64_t>(begin));
        for (std::int64_t i = begin; i < end; ++i)
            to[i] = static_cast<float>(rng.uniform(-1.0, 1.0)) * bound;
    });
}

class VectorsTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("model", objective_,
              "skipgram: a word tells those around it; cbow: they tell the word",
              {.group = "model", .common = true, .choices = {"skipgram", "cbow"}});
        const SettingOptions size{.group = "model", .common = true, .min = 1, .max = 1 << 14};
        s.add("dim", dim_, "numbers of a vector", size);
        s.add("window", windows_.window, "words on each side, at most",
              {.group = "model", .common = true, .min = 1, .max = 1000});
        s.add("negatives", negatives_, "words drawn for each that is told",
              {.group = "model", .min = 1, .max = 1000});
        s.add("min-count", corpus_options_.min_count, "words seen less often are passed over",
              {.group = "data", .common = true, .min = 1});
        s.add("min-n", subwords_.min, "shortest n-gram of characters",
              {.group = "model", .min = 1, .max = 64});
        s.add("max-n", subwords_.max, "longest n-gram of characters; 0: words alone",
              {.group = "model", .common = true, .min = 0, .max = 64});
        s.add("buckets", buckets_, "rows that n-grams share",
              {.group = "model",
               .min = 1,
               .max = 1 << 30,
               .otherwise = "four times as many as there are n-grams, at most 2^21"});
        s.add("sample", windows_.sample, "threshold of passing over frequent words; 0: none is",
              {.group = "data", .min = 0, .max = 1});
        s.add("lowercase", corpus_options_.lowercase, "texts in lower case", {.group = "data"});
        s.add("documents", documents_, "what a file's text is",
              {.group = "data", .choices = document_form_names()});
        s.add("step-windows", step_windows_,
              "windows computed together before any of them changes the tables",
              {.group = "batch",
               .min = 1,
               .max = 1 << 20,
               .otherwise = "as the words bear, at most 128"});
    }

    std::vector<std::string> metrics() const override { return {}; }

    void check(Settings& s, const RunSettings&) override {
        static constexpr const char* none[] = {
            "dev",         "limit",      "skip-bad",     "dev-limit", "adam-beta1",
            "adam-beta2",  "adam-eps",   "weight-decay", "clip",      "ema",
            "precision",   "eval-every", "patience",     "metric",    "max-tokens",
            "max-records", "accumulate", "vectors",      "from"};
        leave_out(s, none,
                  "on word vectors: they are trained by plain gradient descent, and not "
                  "measured meanwhile");
        if (subwords_.max == 0) {
            static constexpr const char* of_subwords[] = {"min-n", "buckets"};
            leave_out(s, of_subwords, "with --max-n 0: there are no n-grams");
        } else if (subwords_.min > subwords_.max) {
            throw Error(
                text_of("train: --min-n ", subwords_.min, " is above --max-n ", subwords_.max),
                ErrorKind::usage, "--max-n 0 trains words alone");
        }
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        std::vector<std::string> notes;
        DocumentFiles files{run.train, document_form_of(documents_), 0};
        for (const std::string& path : files.paths)
            if (path != "-" && !file_exists(path))
                throw Error(path + ": there is no such file", ErrorKind::not_found);
        corpus_ = read_word_corpus(files, corpus_options_, &notes);
        for (const std::string& note : notes) say("data: " + note);
        const auto words = static_cast<std::int64_t>(corpus_.words.size());
        if (words < 2)
            fail_with(ErrorKind::bad_input, "a lower --min-count, or more text", run.train[0],
                      ": only ", words, " of ", corpus_.different, " words ",
                      words == 1 ? "was" : "were", " seen ", corpus_options_.min_count,
                      " times or more");
        say(text_of("data: ", corpus_.read, " words, ", corpus_.different, " different ones; ",
                    words, " seen ", corpus_options_.min_count, " times or more have a vector"));
        make_model();
        run.settle({.rate = usual_rate, .warmup = 0, .epochs = 5, .d_model = dim_});
        run_ = run;
    }

    TrainSummary summary() const override {
        TrainSummary s;
        s.model = text_of(objective_, ", ", corpus_.words.size(), " words and ", subwords_.buckets,
                          " buckets of n-grams, d=", dim_);
        s.parameters = model_.vectors->input.size() + model_.vectors->output.size();
        s.records = corpus_.line_count();
        s.batches_per_epoch =
            (static_cast<std::int64_t>(corpus_.tokens.size()) + words_per_update - 1) /
            words_per_update;
        s.tokens_per_epoch = static_cast<std::int64_t>(corpus_.tokens.size());
        s.memory_bytes = 4.0 * static_cast<double>(s.parameters) +
                         4.0 * static_cast<double>(corpus_.tokens.size());
        return s;
    }

    TrainTask task() override {
        TrainTask t;
        t.store = model_.store.get();
        t.fingerprint = model_.folder.about["data"];
        t.guessing_loss = (1.0 + negatives_) * std::log(2.0);
        t.unit = "words";
        t.begin_epoch = [this](std::int64_t epoch) { return plan(epoch); };
        t.batch_weight = [this](std::int64_t b) {
            std::int64_t words = 0;
            for (const std::int64_t line : lines_of(b))
                words += corpus_.lines[static_cast<std::size_t>(line) + 1] -
                         corpus_.lines[static_cast<std::size_t>(line)];
            return words;
        };
        t.own_update = [this](std::int64_t b, double rate) {
            const NegativeSampling::Loss loss =
                text_->train(lines_of(b), epoch_, static_cast<float>(rate), *sampling_);
            return loss.sum / static_cast<double>(std::max<std::int64_t>(1, loss.pairs));
        };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        return t;
    }

private:
    // Enough rows that few n-grams share one.
    std::int64_t buckets_for_text() const {
        if (subwords_.max == 0) return 0;
        if (buckets_) return *buckets_;
        constexpr std::int64_t most = 1 << 21;
        const SubwordRule rule{subwords_.min, subwords_.max, most};
        std::unordered_set<std::int32_t> seen;
        Ids rows;
        for (const std::string& word : corpus_.words) {
            rows.clear();
            rule.append_rows(word, 0, rows);
            seen.insert(rows.begin(), rows.end());
        }
        std::int64_t buckets = 1 << 10;
        while (buckets < most && buckets < 4 * static_cast<std::int64_t>(seen.size())) buckets *= 2;
        return buckets;
    }

    void make_model() {
        subwords_.buckets = buckets_for_text();
        WordVectors v;
        v.words = corpus_.words;
        v.counts = corpus_.counts;
        v.subwords = subwords_;
        v.skip_gram = objective_ == "skipgram";
        const auto words = static_cast<std::int64_t>(v.words.size());
        v.input = Tensor({words + subwords_.buckets, dim_});
        fill_uniform(v.input, run_.options.seed);
        v.output = Tensor::zeros({words, dim_});
        const Json settings{{"window", windows_.window},
                            {"negatives", negatives_},
                            {"sample", windows_.sample},
                            {"min_count", corpus_options_.min_count},
                            {"lowercase", corpus_options_.lowercase}};
        model_ = WordVectorModel::of(std::move(v), settings);
        make_sampling();
        windows_.seed = run_.options.seed;
        text_.emplace(corpus_, windows_);
        windows_.step_windows = step_windows_.value_or(bearable_windows());
        text_.emplace(corpus_, windows_);
        std::vector<std::string> contents{std::to_string(corpus_.read)};
        contents.insert(contents.end(), corpus_.words.begin(), corpus_.words.end());
        for (const std::int64_t count : corpus_.counts) contents.push_back(std::to_string(count));
        model_.folder.about["data"] = {{"train", hash_text(record_hash(contents))},
                                       {"words", corpus_.read},
                                       {"seed", run_.options.seed}};
        model_.folder.about["train_file"] = base_name(run_.train[0]);
    }

    void make_sampling() {
        std::vector<std::int64_t> begin{0};
        Ids rows;
        for (const std::string& word : corpus_.words) {
            const Ids own = model_.vectors->rows_of(word);
            rows.insert(rows.end(), own.begin(), own.end());
            begin.push_back(static_cast<std::int64_t>(rows.size()));
        }
        sampling_.emplace(model_.vectors->input, model_.vectors->output, std::move(begin),
                          std::move(rows), corpus_.counts,
                          NegativeSamplingOptions{.skip_gram = model_.vectors->skip_gram,
                                                  .negatives = negatives_,
                                                  .seed = run_.options.seed});
    }

    // A row that many windows of a step add to moves by the sum of what each would have done alone:
    // too many, and it overshoots. So few windows that rate · (times a step meets the row met most)
    // stays below one, in the mean.
    int bearable_windows() const {
        const WordVectors& v = *model_.vectors;
        std::vector<double> shares(static_cast<std::size_t>(v.input.rows()));
        double drawn = 0, most_drawn = 0, kept = 0, most_kept = 0;
        for (std::size_t w = 0; w < v.words.size(); ++w) {
            const double weight = std::sqrt(static_cast<double>(v.counts[w]));
            const double here = std::min(1.0f, text_->keep(w)) * static_cast<double>(v.counts[w]);
            drawn += weight;
            kept += here;
            most_drawn = std::max(most_drawn, weight);
            most_kept = std::max(most_kept, here);
            for (const std::int32_t row : v.rows_of(v.words[w]))
                shares[static_cast<std::size_t>(row)] += here;
        }
        const double told = windows_.window + 1;  // words of a window, in the mean
        const double output = negatives_ * most_drawn / drawn + most_kept / kept;
        const double input = *std::max_element(shares.begin(), shares.end()) / kept;
        const double hits = told * std::max(input, output);
        return static_cast<int>(
            std::clamp(1 / (run_.rate.value_or(usual_rate) * hits), 1.0, 128.0));
    }

    // Lines in the file's order, as word2vec and fastText take them, cut into updates of about as
    // many words.
    std::int64_t plan(std::int64_t epoch) {
        epoch_ = epoch;
        order_.resize(static_cast<std::size_t>(corpus_.line_count()));
        for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<std::int64_t>(i);
        batch_begin_ = {0};
        std::int64_t words = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const auto line = static_cast<std::size_t>(order_[i]);
            words += corpus_.lines[line + 1] - corpus_.lines[line];
            if (words < words_per_update && i + 1 < order_.size()) continue;
            batch_begin_.push_back(i + 1);
            words = 0;
        }
        return static_cast<std::int64_t>(batch_begin_.size()) - 1;
    }

    std::span<const std::int64_t> lines_of(std::int64_t batch) const {
        const auto b = static_cast<std::size_t>(batch);
        return std::span(order_).subspan(batch_begin_[b], batch_begin_[b + 1] - batch_begin_[b]);
    }

    std::string objective_ = "skipgram", documents_ = "auto";
    int dim_ = 100, negatives_ = 5;
    std::optional<std::int64_t> buckets_;
    std::optional<int> step_windows_;
    SubwordRule subwords_;
    WordCorpusOptions corpus_options_;
    WordWindowOptions windows_;
    RunSettings run_;
    WordCorpus corpus_;
    WordVectorModel model_;
    std::optional<NegativeSampling> sampling_;
    std::optional<VectorsText> text_;
    std::int64_t epoch_ = 0;
    std::vector<std::int64_t> order_;
    std::vector<std::size_t> batch_begin_;
};

}  // namespace

std::unique_ptr<Trainer> make_vectors_trainer() { return std::make_unique<VectorsTrainer>(); }

}  // namespace fovea
