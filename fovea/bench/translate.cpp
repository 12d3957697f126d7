#include "fovea/bench/translate.h"

#include <algorithm>
#include <list>
#include <memory>

#include "fovea/base/clock.h"
#include "fovea/base/precision.h"
#include "fovea/base/threads.h"
#include "fovea/bench/child_program.h"
#include "fovea/bench/python_peer.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/bench/training_work.h"
#include "fovea/infer/beam_search.h"
#include "fovea/kernels/isa.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea::bench {
namespace {

struct Search {
    int beam = 1, length = 32, batch = 32;
};

// Our side: a model whose weights are kept in one of the formats.
class Translator {
public:
    Translator(const std::string& folder, const std::string& precision,
               const std::vector<Ids>& sources)
        : model_(Seq2SeqModel::load(folder, WeightChoice::named(precision))), sources_(sources) {}

    // Seconds to translate sources [first, first + count).
    double run(std::int64_t first, int count, const Search& s) {
        const PrecisionScope scope(model_.precision);
        SearchOptions options;
        options.beam = s.beam;
        options.min_length = options.max_length = s.length;
        const Stopwatch clock;
        for (int done = 0; done < count; done += s.batch) {
            Ids packed;
            std::vector<std::int64_t> sizes;
            for (int i = done; i < std::min(done + s.batch, count); ++i) {
                const Ids& ids = sources_[static_cast<std::size_t>(first + i) % sources_.size()];
                packed.insert(packed.end(), ids.begin(), ids.end());
                sizes.push_back(static_cast<std::int64_t>(ids.size()));
            }
            const auto stepper =
                model_.network.stepper({packed, {}, Segments::of_lengths(sizes)}, {});
            const auto found = search(*stepper, options, std::vector<DecodeRequest>(sizes.size()));
            if (done == 0) first_result_ = found[0][0].tokens;
        }
        return clock.seconds();
    }
    const Ids& first_result() const { return first_result_; }

private:
    Seq2SeqModel model_;
    const std::vector<Ids>& sources_;
    Ids first_result_;
};

// CTranslate2 at one compute type, in the ways of sharing out the threads that it knows.
class Ct2Peer {
public:
    Ct2Peer(const ModelBenchOptions& options, const std::string& compute_type)
        : compute_type_(compute_type) {
        for (const std::string& python : peer_pythons(options.python)) {
            peer_ = std::make_unique<PythonPeer>(
                "translate_ct2.py", std::vector<std::pair<std::string, std::string>>{}, python);
            if (const auto version = peer_->ask({{"do", "version"}})) {
                name_ = "CTranslate2 " + version->at("ctranslate2").get<std::string>();
                break;
            }
        }
        const int threads = thread_count();
        layouts_ = {{1, threads}};
        if (threads > 1) layouts_.push_back({threads, 1});
    }

    bool alive() const { return !name_.empty() && peer_->alive(); }
    std::string trouble() const { return peer_->trouble(); }
    bool convert(const std::string& model, const std::string& out) {
        return peer_->ask({{"do", "convert"}, {"model", model}, {"out", out}}).has_value();
    }
    bool open(const std::string& folder, const std::string& sources) {
        return peer_
            ->ask({{"do", "open"},
                   {"folder", folder},
                   {"compute_type", compute_type_},
                   {"layouts", layouts_},
                   {"sources", sources}})
            .has_value();
    }
    std::optional<double> run(std::size_t layout, std::int64_t first, int count, const Search& s) {
        const auto answer = peer_->ask({{"do", "run"},
                                        {"layout", layout},
                                        {"first", first},
                                        {"count", count},
                                        {"beam", s.beam},
                                        {"length", s.length},
                                        {"batch", s.batch}});
        if (!answer) return std::nullopt;
        tokens_ = answer->at("tokens").get<std::int64_t>();
        first_result_ = answer->at("ids").get<Ids>();
        return answer->at("seconds").get<double>();
    }
    std::size_t layouts() const { return layouts_.size(); }
    std::string name(std::size_t layout) const {
        return text_of(name_, " ", compute_type_ == "int8" ? "int8" : "f32", " ",
                       layouts_[layout].first, "x", layouts_[layout].second);
    }
    const std::string& name() const { return name_; }
    std::int64_t tokens() const { return tokens_; }  // of the last run
    const Ids& first_result() const { return first_result_; }

private:
    std::string compute_type_, name_;
    std::unique_ptr<PythonPeer> peer_;
    std::vector<std::pair<int, int>> layouts_;
    std::int64_t tokens_ = 0;
    Ids first_result_;
};

class TranslateBench {
public:
    explicit TranslateBench(const TranslateBenchOptions& o) : options_(o) {
        length_ = o.length > 0 ? o.length : o.quick ? 16 : 32;
        TransformerConfig config;
        config.apply_preset(o.preset);
        config.vocab_size = o.vocabulary;
        config.positions = PositionCode::sinusoidal;
        const std::vector<std::string> texts = {"hello"};
        const auto tokenizer =
            std::make_shared<const Tokenizer>(train_vocabulary(texts, {.size = 300}));
        const Seq2SeqModel model = Seq2SeqModel::create(config, tokenizer, tokenizer, o.seed);
        model_folder_ = folder_ / "model";
        model.save(model_folder_);
        sources_ =
            random_pairs(
                {.count = 4 * o.batch * thread_count(), .vocabulary = o.vocabulary, .seed = o.seed})
                .source;
        std::string lines;
        for (const Ids& s : sources_) lines += to_text(Json(s)) + "\n";
        write_file_atomically(folder_ / "sources.jsonl", lines);
    }

    std::vector<Row> run() {
        std::vector<std::string> precisions;
        for (const std::string& p : options_.precisions)
            for (const int beam : options_.beams)
                if (options_.wants("translate " + case_name(beam) + " " + p)) {
                    precisions.push_back(p);
                    break;
                }
        if (!precisions.empty()) {
            if (options_.peers) start_peers(precisions);
            for (const std::string& p : precisions) ours_.emplace_back(model_folder_, p, sources_);
            for (const int beam : options_.beams)
                if (!options_.stop()) speed(beam, precisions);
        }
        if (options_.starts > 0 && options_.wants("start-up " + options_.preset + " f32") &&
            !options_.stop())
            start_up();
        return std::move(rows_);
    }

private:
    std::string case_name(int beam) const { return text_of(options_.preset, " beam ", beam); }

    void start_peers(const std::vector<std::string>& precisions) {
        const std::string converted = folder_ / "ct2";
        bool is_converted = false;
        for (const std::string type : {"float32", "int8"}) {
            const bool int8 = type == "int8";
            if (std::none_of(precisions.begin(), precisions.end(),
                             [&](const std::string& p) { return p.starts_with("int") == int8; }))
                continue;
            auto peer = std::make_unique<Ct2Peer>(options_, type);
            if (peer->alive() && !is_converted)
                is_converted = peer->convert(model_folder_, converted);
            if (peer->alive() && is_converted && peer->open(converted, folder_ / "sources.jsonl"))
                (int8 ? int8_peer_ : f32_peer_) = std::move(peer);
            else
                options_.note("no CTranslate2 " + type + " beside us: " + peer->trouble());
        }
    }

    void speed(int beam, const std::vector<std::string>& precisions) {
        const std::string name = case_name(beam);
        if (options_.on_case) options_.on_case("translate " + name);
        const Search search{.beam = beam, .length = length_, .batch = options_.batch};
        // A piece of work keeps every thread of either side busy with a batch of its own.
        const int piece = options_.batch * thread_count();
        const auto sentences = [&](std::int64_t first) { return first * piece; };
        std::vector<Racer> racers;
        for (Translator& t : ours_)
            racers.push_back({"", [&, piece](std::int64_t first, int n) {
                                  return t.run(sentences(first), n * piece, search);
                              }});
        std::vector<std::pair<Ct2Peer*, std::size_t>> peers;
        for (Ct2Peer* peer : {f32_peer_.get(), int8_peer_.get()})
            for (std::size_t k = 0; peer && k < peer->layouts(); ++k) {
                peers.emplace_back(peer, k);
                racers.push_back({peer->name(k), [&, peer, k](std::int64_t first, int n) {
                                      return peer->run(k, sentences(first), n * piece, search);
                                  }});
            }
        const std::vector<RaceFigure> figures = race(
            racers, [&](std::int64_t, int n) { return double(n) * piece * length_; },
            {.seconds = options_.seconds > 0 ? options_.seconds
                        : options_.quick     ? 15.0
                                             : 90.0,
             .sample_seconds = options_.quick ? 0.2 : 0.5,
             .least_rounds = options_.quick ? 1 : 4},
            options_.stop);
        if (options_.stop()) return;
        auto translator = ours_.begin();
        for (std::size_t i = 0; i < precisions.size(); ++i, ++translator) {
            const std::string& p = precisions[i];
            if (!options_.wants("translate " + name + " " + p)) continue;
            Row row{.bench = "translate",
                    .name = name,
                    .precision = p,
                    .threads = thread_count(),
                    .value = figures[i].best,
                    .median = figures[i].median,
                    .unit = "tokens/s"};
            const bool amx = kernels::active_isa() == kernels::Isa::amx;
            if (p == "bf16" && !amx) row.note = "no AMX here: bf16 by f32 arithmetic";
            const Ct2Peer* rival = p.starts_with("int") ? int8_peer_.get() : f32_peer_.get();
            for (std::size_t k = 0; k < peers.size(); ++k) {
                const RaceFigure& f = figures[precisions.size() + k];
                if (peers[k].first != rival || f.best <= row.peer_value.value_or(0)) continue;
                row.peer = rival->name(peers[k].second);  // its best way
                row.peer_value = f.best;
                row.peer_median = f.median;
            }
            if (rival && !row.peer_value) row.note = rival->name() + ": " + rival->trouble();
            if (rival && row.peer_value && p == "f32" &&
                rival->first_result() != translator->first_result())
                row.note += "the results differ";
            add(row);
        }
    }

    // From nothing to the first token of one line.
    void start_up() {
        if (options_.on_case) options_.on_case("start-up " + options_.preset);
        write_file_atomically(folder_ / "line.txt", "hello\n");
        std::vector<double> seconds;
        for (int i = 0; i < options_.starts && !options_.stop(); ++i) {
            const Stopwatch clock;
            output_of_fovea({"translate", model_folder_, folder_ / "line.txt", "--max-length", "1",
                             "--beam", "1", "--threads", std::to_string(thread_count()), "-q"});
            seconds.push_back(clock.seconds());
        }
        if (options_.stop()) return;
        std::sort(seconds.begin(), seconds.end());
        add({.bench = "start-up",
             .name = options_.preset,
             .precision = "f32",
             .threads = thread_count(),
             .value = 1e3 * seconds.front(),
             .median = 1e3 * seconds[seconds.size() / 2],
             .unit = "ms",
             .higher_is_better = false});
    }

    void add(const Row& row) {
        if (options_.on_row) options_.on_row(row);
        rows_.push_back(row);
    }

    const TranslateBenchOptions& options_;
    ScratchFolder folder_;
    std::string model_folder_;
    std::vector<Ids> sources_;
    int length_;
    std::list<Translator> ours_;
    std::unique_ptr<Ct2Peer> f32_peer_, int8_peer_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> bench_translate(const TranslateBenchOptions& options) {
    return TranslateBench(options).run();
}

}  // namespace fovea::bench
