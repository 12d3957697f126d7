#include "fovea/bench/text_peer.h"

#include "fovea/base/threads.h"

namespace fovea::bench {

TextPeer::TextPeer(const ModelBenchOptions& options, const std::string& library,
                   const std::string& label, const Json& open) {
    const bool torch = library == "torch";
    name_ = (torch ? "PyTorch " : "ONNX Runtime ") + label;
    const std::string threads = std::to_string(thread_count());
    for (const std::string& python : peer_pythons(options.python)) {
        peer_ = std::make_unique<PythonPeer>(
            "text_models.py",
            ChildEnvironment{{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}}, python);
        const auto version = peer_->ask({{"do", "version"}});
        if (!version) continue;
        const std::string number = version->value(library, std::string());
        if (number.empty()) {
            trouble_ = library + " is not installed";
            continue;
        }
        name_ = (torch ? "PyTorch " : "ONNX Runtime ") + number + " " + label;
        Json question = open;
        question["threads"] = thread_count();
        ready_ = peer_->ask(question).has_value();
        return;
    }
}

std::optional<double> TextPeer::seconds(const Json& question) {
    if (!alive()) return std::nullopt;
    const auto answer = peer_->ask(question);
    if (!answer) return std::nullopt;
    return answer->at("seconds").get<double>();
}

std::optional<double> TextPeer::memory() {
    if (!alive()) return std::nullopt;
    const auto answer = peer_->ask({{"do", "memory"}});
    if (!answer) return std::nullopt;
    return answer->at("bytes").get<double>();
}

}  // namespace fovea::bench
