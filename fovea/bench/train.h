#pragma once
// `fovea bench train`: real target tokens per second while training the encoder-decoder, beside
// PyTorch with the same weights on the same batches, in turns in one run; and the memory it takes.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/bench/model_bench.h"
#include "fovea/bench/python_peer.h"
#include "fovea/bench/training_work.h"

namespace fovea::bench {

struct TrainBenchOptions : ModelBenchOptions {
    std::vector<std::string> presets = {"small", "base"};
    std::vector<std::string> precisions = {"f32", "bf16"};
    std::int64_t batch_tokens = 0;  // 0: 4096, quick 1024
    int vocabulary = 0;             // 0: 8000, from `base` on 32000
    float dropout = 0.1f;
    std::string data;    // pairs to take instead of random ones; a vocabulary is trained on them
    bool memory = true;  // the rows of peak memory (not in quick runs)
};

std::vector<Row> bench_train(const TrainBenchOptions& options);

// `fovea bench scaling`: the same against the length of sentences (32 … 2048, tokens of a batch
// fixed) and against the number of layers, at the sizes of `small` otherwise.
std::vector<Row> bench_scaling(const TrainBenchOptions& options);

// What one preset trains on.
TrainingWork training_work(const TrainBenchOptions& options, const std::string& preset);

// The largest resident size of a fresh process, in bytes, after `updates` updates: said by that
// process itself (`fovea bench training-memory`, which is not for people).
double training_memory(const TrainBenchOptions& options, const std::string& preset,
                       const std::string& precision, int updates);

double largest_resident_size();  // of this process so far, in bytes

// A PyTorch that trains the work dumped in `folder`.
struct TorchTraining {
    std::string folder;
    float dropout = 0.1f, smoothing = 0.1f;
    bool bf16 = false;
};

class TorchPeer {
public:
    // Starts a Python that has PyTorch; where there is none, alive() is false and trouble() says
    // why.
    TorchPeer(const ModelBenchOptions& options, const TorchTraining& training);

    bool alive() const { return peer_ && peer_->alive(); }
    const std::string& name() const { return name_; }  // "PyTorch 2.9.0 bf16"
    std::string trouble() const { return peer_ ? peer_->trouble() : trouble_; }
    double loss() const { return loss_; }  // of the last update
    std::optional<double> run(std::int64_t first, int updates);
    std::optional<double> memory();  // bytes
    double bf16_slowdown();          // of its matrix products against f32; 0: unknown

private:
    std::unique_ptr<PythonPeer> peer_;
    std::string name_, trouble_;
    double loss_ = 0;
};

}  // namespace fovea::bench
