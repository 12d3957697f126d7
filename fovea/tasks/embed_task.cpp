// Training sentence vectors on pairs of texts that belong together, behind the interface of tasks.
//
//   s_ij = cos(a_i, b_j) / τ    L = (CE(s, i) + CE(sᵀ, i)) / 2
//
// InfoNCE (van den Oord et al. 2018) with the other pairs of the batch as negatives, both ways.
#include <algorithm>
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/data/pairs.h"
#include "fovea/data/split.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/tasks/embed.h"
#include "fovea/tasks/encoder_training.h"
#include "fovea/tasks/start_vectors.h"

namespace fovea {
namespace {

// Rows of length one: x / √(mean(x²)) / √d.
Tensor unit_rows(const Tensor& x) {
    const auto d = static_cast<double>(x.cols());
    return rms_norm(x, Tensor::full({x.cols()}, static_cast<float>(1 / std::sqrt(d))), 1e-12f);
}

class EmbedTrainer : public Trainer {
public:
    void describe(Settings& s) override {
        s.add("source", source_key_, "column of the first text, by name or number",
              {.group = "data", .otherwise = "guessed"});
        s.add("target", target_key_, "column of the text that belongs to it",
              {.group = "data", .otherwise = "guessed"});
        making_.describe(s, {}, "what reads the texts");
        s.add("pool", pool_, "how the rows of a text become one vector",
              {.group = "model", .common = true, .choices = {"first", "mean", "max"}});
        s.add("temperature", temperature_, "cosines are divided by it",
              {.group = "model", .min = 1e-3, .max = 10});
        rates_.describe(s);
    }

    std::vector<std::string> metrics() const override { return {"accuracy", "mrr"}; }

    void check(Settings& s, const RunSettings& run) override {
        if (!run.from.empty()) making_.leave_out_with_from(s);
    }

    void prepare(RunSettings& run, const Say& say) override {
        run_ = run;
        read_data(say);
        make_model(say);
        const int width = model_.encoder->width;
        run.settle(run.from.empty() ? RunDefaults{.rate = new_rate(width),
                                                  .warmup = 500,
                                                  .epochs = 10,
                                                  .d_model = width}
                                    : RunDefaults{.rate = width <= 256 ? 2e-4 : 3e-5,
                                                  .warmup = 200,
                                                  .epochs = 3,
                                                  .d_model = width});
        run_ = run;
        std::vector<std::int64_t> lengths;
        for (std::size_t i = 0; i < train_.size(); ++i) {
            left_.push_back(model_.encode(train_[i].source)[0]);
            right_.push_back(model_.encode(train_[i].target)[0]);
            lengths.push_back(
                static_cast<std::int64_t>(left_.back().size() + right_.back().size()));
        }
        batches_.emplace(lengths, run.batches);
    }

    TrainSummary summary() const override {
        const TextEncoder& e = *model_.encoder;
        return summary_of(text_of(model_type_of(model_.folder.config), ", ", e.layers,
                                  " layers, d=", e.width, ", pooling ", name_of(model_.pool)),
                          *model_.store, *batches_, values_per_token(e));
    }

    TrainTask task() override {
        TrainTask t = task_over(*batches_, *model_.store, model_.folder);
        t.unit = "pairs";
        t.loss = [this](std::int64_t b) { return loss((*batches_)[b]); };
        t.guessing_loss = std::log(static_cast<double>(std::max<std::size_t>(2, train_.size())));
        if (!dev_.empty()) t.evaluate = [this] { return evaluate(); };
        t.save_model = [this](const std::string& path) { model_.save(path, true); };
        t.parameter_rules = rates_.rules(*model_.encoder, *model_.store);
        return t;
    }

private:
    Tensor loss(std::span<const std::int64_t> chosen) const {
        std::vector<Ids> texts;
        std::vector<std::uint64_t> names;  // of their dropout
        Ids own;
        for (const std::int64_t i : chosen) {
            texts.push_back(left_[static_cast<std::size_t>(i)]);
            names.push_back(2 * static_cast<std::uint64_t>(i));
            own.push_back(static_cast<std::int32_t>(own.size()));
        }
        for (const std::int64_t i : chosen) {
            texts.push_back(right_[static_cast<std::size_t>(i)]);
            names.push_back(2 * static_cast<std::uint64_t>(i) + 1);
        }
        const auto n = static_cast<std::int64_t>(chosen.size());
        const Tensor v = unit_rows(model_.pooled(pack(texts, names)));
        const Tensor a = slice_rows(v, 0, n), b = slice_rows(v, n, 2 * n);
        const float scale = 1 / temperature_;
        return 0.5f * cross_entropy(scale * matmul(a, b, Trans::no, Trans::yes), own) +
               0.5f * cross_entropy(scale * matmul(b, a, Trans::no, Trans::yes), own);
    }

    void read_data(const Say& say) {
        PairFiles files = pair_files_of(run_.train[0]);
        files.more_paths.assign(run_.train.begin() + 1, run_.train.end());
        files.source_key = source_key_;
        files.target_key = target_key_;
        files.skip_bad = run_.skip_bad;
        Problems problems;
        train_ = read_pairs(files, &problems);
        for (const std::string& note : problems.notes) say("data: " + note);
        keep_drawn(train_, run_.limit, run_.options.seed);
        if (run_.has_dev_file()) {
            PairFiles dev = pair_files_of(run_.dev);
            dev.source_key = source_key_;
            dev.target_key = target_key_;
            dev.limit = run_.dev_limit;
            dev_ = read_pairs(dev);
        } else if (run_.measures()) {
            std::vector<std::uint64_t> hashes;
            for (const TextPair& p : train_) hashes.push_back(record_hash({p.source, p.target}));
            dev_ = take_out(train_, dev_split(hashes));
        }
        expect_input(train_.size() >= 2, run_.train[0], ": there are ", train_.size(),
                     " pairs, but at least two are wanted: each is told from the others");
        say(text_of("data: ", train_.size(), " training pairs, ", dev_.size(), " to measure on"));
    }

    void make_model(const Say& say) {
        if (!run_.from.empty()) {
            model_ = EmbedModel::open(folder_to_go_on_from(run_, making_.choice.dropout),
                                      pool_of(pool_));
            if (!model_.encoder)
                fail_with(ErrorKind::usage, "leave out --from, or give a text encoder's folder",
                          run_.from, ": holds word vectors, which are not trained on pairs");
            model_.folder.task = "embed";
            model_.folder.config["embedding_pooling"] = pool_;
            name_architecture(model_.folder.config, Head::none);
            say("model: goes on from " + run_.from);
        } else {
            model_ = EmbedModel::create(making_.new_folder(texts_of_data(), say), pool_of(pool_),
                                        run_.options.seed);
            start_from_vectors(run_.vectors, *model_.store, *model_.folder.tokenizer, say);
        }
        model_.precision = precision_of(run_.precision);
        note_data(model_.folder, texts_of_data(), train_.size(), run_);
    }

    std::vector<std::string> texts_of_data() const {
        std::vector<std::string> texts;
        for (const TextPair& p : train_) {
            texts.push_back(p.source);
            texts.push_back(p.target);
        }
        return texts;
    }

    Evaluation evaluate() {
        std::vector<std::string> left, right;
        for (const TextPair& p : dev_) {
            left.push_back(p.source);
            right.push_back(p.target);
        }
        const MetricScore s =
            score_pairs(sentence_vectors(model_, left), sentence_vectors(model_, right));
        Evaluation e{s.name, s.value, true, 1 - s.figures.at("mrr").get<double>() / 100, s.figures};
        if (run_.metric == "mrr") {
            e.name = "mrr";
            e.value = s.figures.at("mrr");
        }
        note_score(model_.folder, e, s.signature);
        return e;
    }

    std::string source_key_, target_key_, pool_ = "mean";
    float temperature_ = 0.05f;
    EncoderMaking making_;
    LayerRates rates_;
    RunSettings run_;
    std::vector<TextPair> train_, dev_;
    EmbedModel model_;
    std::vector<Ids> left_, right_;
    std::optional<EpochBatches> batches_;
};

}  // namespace

std::unique_ptr<Trainer> make_embed_trainer() { return std::make_unique<EmbedTrainer>(); }

}  // namespace fovea
