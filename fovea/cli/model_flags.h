#pragma once
// Which sequence-to-sequence model (or ensemble) a verb uses, and how its weights are kept.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "fovea/tasks/seq2seq_model.h"

namespace fovea {

class ModelFlags {
public:
    void add_to(CLI::App& verb);
    // One model, or several that form an ensemble; all must be of this task ("" takes any).
    std::vector<Seq2SeqModel> load(const std::string& task) const;

private:
    std::string folder_, precision_ = "f32", weights_;
    std::vector<std::string> others_;
};

}  // namespace fovea
