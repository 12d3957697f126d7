#include "fovea/bench/tokenizers.h"

#include <algorithm>
#include <memory>

#include "fovea/base/clock.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/bench/python_peer.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/bench/tokenizers_text.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea::bench {
namespace {

constexpr std::size_t chunk = 1000;  // lines per call, here and in the peer

// The number of threads of this run, given back at its end.
struct ThreadCountScope {
    int before = thread_count();
    explicit ThreadCountScope(int n) { set_thread_count(n); }
    ~ThreadCountScope() { set_thread_count(before); }
};

class TokenizerBench {
public:
    explicit TokenizerBench(const TokenizerBenchOptions& options) : options_(options) {
        bytes_ = (options.quick ? 4 : 20) * std::int64_t{1000000};
        rounds_ = options.quick ? 2 : 3;
        const BenchText text = tokenizer_bench_text(options.text, bytes_);
        note(text_of("text: ", text.text.size() / 1000000, " MB from ", text.source));
        text_file_ = folder_ / "text.txt";
        write_file_atomically(text_file_, text.text);
        bytes_ = static_cast<std::int64_t>(text.text.size());
        std::vector<std::string> lines;
        for (std::size_t at = 0; at < text.text.size();) {
            const std::size_t end = std::min(text.text.find('\n', at), text.text.size());
            lines.push_back(text.text.substr(at, end - at));
            at = end + 1;
        }
        for (std::size_t i = 0; i < lines.size(); i += chunk)
            chunks_.emplace_back(
                lines.begin() + static_cast<std::ptrdiff_t>(i),
                lines.begin() + static_cast<std::ptrdiff_t>(std::min(i + chunk, lines.size())));
        if (options.peers) start_peers();
    }

    std::vector<Row> run() {
        const std::string wordpiece = find_or_train("bert-base-uncased/vocab.txt", "bert-uncased");
        const std::string bpe = find_or_train("gpt2/tokenizer.json", "gpt2");
        const std::string unigram = find_or_train("albert-base-v2/spiece.model", "t5");
        encode("wordpiece", wordpiece, "tokenizers", true);
        encode("wordpiece", wordpiece, "tokenizers", false);
        encode("byte-level bpe", bpe, "tokenizers", true);
        encode("byte-level bpe", bpe, "tokenizers", false);
        encode("unigram", unigram, "sentencepiece", false);
        train(1);
        if (available_cores() > 1) train(available_cores());
        load(bpe);
        return std::move(rows_);
    }

private:
    void note(const std::string& text) const {
        if (options_.on_note) options_.on_note(text);
    }

    void start_peers() {
        one_thread_ = std::make_unique<PythonPeer>(
            "tokenizers_peer.py",
            std::vector<std::pair<std::string, std::string>>{{"RAYON_NUM_THREADS", "1"},
                                                             {"TOKENIZERS_PARALLELISM", "false"}});
        const auto version = one_thread_->ask({{"do", "version"}});
        if (!version || !one_thread_->ask({{"do", "text"}, {"file", text_file_}})) {
            note("no peers: " + one_thread_->trouble());
            one_thread_.reset();
            return;
        }
        versions_ = *version;
    }

    std::string peer_name(const std::string& library) const {
        return one_thread_ ? library + " " + versions_.at(library).get<std::string>() : "";
    }

    // A real model's file, or one of the same kind trained on the text.
    std::string find_or_train(const std::string& shared, const std::string& recipe) {
        const std::string folder = shared_folder();
        if (!folder.empty() && file_exists(folder + "/tokenizers/" + shared))
            return folder + "/tokenizers/" + shared;
        TokenizerTraining training = training_like(recipe);
        training.vocab_size = 8000;
        TokenizerSpec spec = train_tokenizer({text_file_}, training);
        const bool as_model = shared.ends_with(".model");
        const std::string path = folder_ / (recipe + (as_model ? ".model" : ".json"));
        if (as_model)
            write_file_atomically(path, write_sentencepiece(to_sentencepiece(spec)));
        else
            Tokenizer(std::move(spec)).save(path);
        return path;
    }

    bool wanted(const std::string& name) const {
        if (options_.stop()) return false;
        if (!options_.only.empty() && name.find(options_.only) == std::string::npos) return false;
        if (options_.on_case) options_.on_case(name);
        return true;
    }

    // Ours and the peer's seconds in turns; `peer` may be empty.
    void measure(Row row, double work, const std::function<double()>& ours,
                 const std::function<std::optional<double>()>& peer) {
        std::vector<double> mine, theirs;
        for (int round = 0; round < rounds_ && !options_.stop(); ++round) {
            mine.push_back(ours());
            if (!peer) continue;
            if (const auto s = peer()) theirs.push_back(*s);
        }
        if (mine.empty()) return;
        const auto figure = [&](std::vector<double>& seconds, double& best, double& median) {
            std::sort(seconds.begin(), seconds.end());
            const double middle = seconds[seconds.size() / 2];
            best = row.higher_is_better ? work / seconds.front() : seconds.front() * work;
            median = row.higher_is_better ? work / middle : middle * work;
        };
        figure(mine, row.value, row.median);
        if (theirs.empty()) {
            row.peer.clear();
        } else {
            double best = 0, median = 0;
            figure(theirs, best, median);
            row.peer_value = best;
            row.peer_median = median;
        }
        if (options_.on_row) options_.on_row(row);
        rows_.push_back(std::move(row));
    }

    std::function<std::optional<double>()> asks(PythonPeer* peer, const Json& question) const {
        if (!peer) return {};
        return [peer, question]() -> std::optional<double> {
            const auto answer = peer->ask(question);
            if (!answer) return std::nullopt;
            return answer->at("seconds").get<double>();
        };
    }

    void encode(const std::string& kind, const std::string& file, const std::string& library,
                bool with_offsets) {
        const std::string name = (with_offsets ? "encode " : "ids ") + kind;
        if (!wanted(name)) return;
        const ThreadCountScope one(1);
        const Tokenizer tokenizer = Tokenizer::load(file);
        const bool peer =
            one_thread_ && one_thread_->ask({{"do", "open"}, {"kind", library}, {"file", file}});
        const auto ours = [&] {
            double seconds = 0;
            for (const auto& lines : chunks_) {
                const Stopwatch watch;
                if (with_offsets)
                    tokenizer.encode_batch(lines);
                else
                    tokenizer.encode_ids_batch(lines, library != "sentencepiece");
                seconds += watch.seconds();
            }
            return seconds;
        };
        const char* task = with_offsets ? "encode" : "encode_fast";
        measure({.bench = "tokenizers",
                 .name = name,
                 .precision = {},
                 .unit = "MB/s",
                 .share = {},
                 .peer = peer_name(library),
                 .peer_value = {},
                 .peer_median = {}},
                static_cast<double>(bytes_) / 1e6, ours,
                asks(peer ? one_thread_.get() : nullptr, {{"do", task}}));
    }

    void train(int threads) {
        const std::string name = "train bpe 8000 merges";
        if (!wanted(name)) return;
        const ThreadCountScope scope(threads);
        const std::int64_t vocab = 8000 + 256 + 1;
        std::unique_ptr<PythonPeer> many;
        if (one_thread_ && threads > 1)
            many = std::make_unique<PythonPeer>("tokenizers_peer.py",
                                                std::vector<std::pair<std::string, std::string>>{
                                                    {"RAYON_NUM_THREADS", std::to_string(threads)},
                                                    {"TOKENIZERS_PARALLELISM", "true"}});
        const auto ours = [&] {
            TokenizerTraining training = training_like("gpt2");
            training.vocab_size = vocab;
            const Stopwatch watch;
            const Tokenizer trained(train_tokenizer({text_file_}, training));
            return watch.seconds();
        };
        measure({.bench = "tokenizers",
                 .name = name,
                 .precision = {},
                 .threads = threads,
                 .unit = "s",
                 .higher_is_better = false,
                 .share = {},
                 .peer = peer_name("tokenizers"),
                 .peer_value = {},
                 .peer_median = {}},
                1, ours,
                asks(many ? many.get() : one_thread_.get(),
                     {{"do", "train"}, {"vocab_size", vocab}, {"file", text_file_}}));
    }

    void load(const std::string& file) {
        const std::string name = "load gpt2 tokenizer.json";
        if (!wanted(name)) return;
        const ThreadCountScope one(1);
        rounds_ = options_.quick ? 5 : 9;
        const auto ours = [&] {
            const Stopwatch watch;
            const Tokenizer loaded = Tokenizer::load(file);
            return watch.seconds();
        };
        measure({.bench = "tokenizers",
                 .name = name,
                 .precision = {},
                 .unit = "ms",
                 .higher_is_better = false,
                 .share = {},
                 .peer = peer_name("tokenizers"),
                 .peer_value = {},
                 .peer_median = {}},
                1e3, ours, asks(one_thread_.get(), {{"do", "load"}, {"file", file}}));
    }

    const TokenizerBenchOptions& options_;
    ScratchFolder folder_;
    std::string text_file_;
    std::int64_t bytes_ = 0;
    int rounds_ = 3;
    std::vector<std::vector<std::string>> chunks_;
    std::unique_ptr<PythonPeer> one_thread_;
    Json versions_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> bench_tokenizers(const TokenizerBenchOptions& options) {
    return TokenizerBench(options).run();
}

}  // namespace fovea::bench
