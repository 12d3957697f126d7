#pragma once
// BERT-base and GPT-2 in PyTorch and ONNX Runtime (bench/peers/text_models.py), GPT-2 in llama.cpp
// (llama_models.py), recurrent stacks in PyTorch (rnn_torch.py), models of pictures, Pillow and
// log-mel frames (vision_models.py).
#include <memory>
#include <optional>
#include <string>

#include "fovea/bench/model_bench.h"
#include "fovea/bench/python_peer.h"

namespace fovea::bench {

// Each peer is a process of its own, so that none holds the threads or the memory of another.
class TextPeer {
public:
    // `open` is the question that prepares it ({"do": "open_encoder", …}); `library` is a row
    // of peer_libraries ("torch", "pillow", …), `label` what its name says besides ("f32", "int8").
    TextPeer(const ModelBenchOptions& options, const std::string& library, const std::string& label,
             const Json& open);

    bool alive() const { return ready_ && peer_->alive(); }
    const std::string& name() const { return name_; }
    std::string trouble() const { return trouble_.empty() && peer_ ? peer_->trouble() : trouble_; }
    std::optional<double> seconds(const Json& question);  // of its work
    std::optional<double> memory();                       // bytes

private:
    std::unique_ptr<PythonPeer> peer_;
    std::string name_, trouble_;
    bool ready_ = false;
};

}  // namespace fovea::bench
