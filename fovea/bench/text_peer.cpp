#include "fovea/bench/text_peer.h"

#include "fovea/base/error.h"
#include "fovea/base/threads.h"

namespace fovea::bench {

namespace {

struct PeerLibrary {
    const char *library, *name, *script;
};
constexpr PeerLibrary peer_libraries[] = {{"torch", "PyTorch ", "text_models.py"},
                                          {"torch-rnn", "PyTorch ", "rnn_torch.py"},
                                          {"onnxruntime", "ONNX Runtime ", "text_models.py"},
                                          {"llama_cpp", "llama.cpp ", "llama_models.py"},
                                          {"torch_vision", "PyTorch ", "vision_models.py"},
                                          {"pillow", "Pillow ", "vision_models.py"},
                                          {"transformers", "transformers ", "vision_models.py"}};

const PeerLibrary& peer_library(const std::string& library) {
    for (const PeerLibrary& l : peer_libraries)
        if (library == l.library) return l;
    fail("bench: no peer in ", library);
}

}  // namespace

TextPeer::TextPeer(const ModelBenchOptions& options, const std::string& library,
                   const std::string& label, const Json& open) {
    const PeerLibrary& known = peer_library(library);
    name_ = known.name + label;
    const std::string threads = std::to_string(thread_count());
    for (const std::string& python : peer_pythons(options.python)) {
        peer_ = std::make_unique<PythonPeer>(
            known.script,
            ChildEnvironment{{"OMP_NUM_THREADS", threads}, {"MKL_NUM_THREADS", threads}}, python);
        const auto version = peer_->ask({{"do", "version"}});
        if (!version) continue;
        const std::string number = version->value(library, std::string());
        if (number.empty()) {
            trouble_ = library + " is not installed";
            continue;
        }
        name_ = known.name + number + (label.empty() ? "" : " ") + label;
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
