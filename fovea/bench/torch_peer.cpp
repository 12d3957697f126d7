#include "fovea/base/threads.h"
#include "fovea/bench/train.h"

namespace fovea::bench {

TorchPeer::TorchPeer(const ModelBenchOptions& options, const TorchTraining& training) {
    const std::string threads = std::to_string(thread_count());
    std::optional<Json> version;
    for (const std::string& python : peer_pythons(options.python)) {
        peer_ = std::make_unique<PythonPeer>(
            "transformer_torch.py",
            std::vector<std::pair<std::string, std::string>>{{"OMP_NUM_THREADS", threads},
                                                             {"MKL_NUM_THREADS", threads}},
            python);
        version = peer_->ask({{"do", "version"}});
        if (version) break;
        trouble_ = python + ": " + peer_->trouble();
    }
    if (!version) {
        peer_.reset();
        return;
    }
    name_ = "PyTorch " + version->at("torch").get<std::string>() +
            (training.bf16 ? " bf16 autocast" : " f32");
    peer_->ask({{"do", "open"},
                {"folder", training.folder},
                {"threads", thread_count()},
                {"dropout", training.dropout},
                {"smoothing", training.smoothing},
                {"bf16", training.bf16}});
}

std::optional<double> TorchPeer::run(std::int64_t first, int updates) {
    if (!peer_) return std::nullopt;
    const auto answer = peer_->ask({{"do", "run"}, {"first", first}, {"steps", updates}});
    if (!answer) return std::nullopt;
    loss_ = answer->at("loss").get<double>();
    return answer->at("seconds").get<double>();
}

double TorchPeer::bf16_slowdown() {
    if (!peer_) return 0;
    const auto answer = peer_->ask({{"do", "probe"}});
    return answer ? answer->at("slowdown").get<double>() : 0;
}

std::optional<double> TorchPeer::memory() {
    if (!peer_) return std::nullopt;
    const auto answer = peer_->ask({{"do", "memory"}});
    if (!answer) return std::nullopt;
    return answer->at("bytes").get<double>();
}

}  // namespace fovea::bench
