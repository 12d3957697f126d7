#pragma once
// The flags of decoding, the same for train, eval, translate and summarise.
#include <CLI/CLI.hpp>
#include <string>

#include "fovea/infer/search_options.h"

namespace fovea {

// Values a person gave; what was not given stays as the model's own default.
class SearchFlags {
public:
    void add_to(CLI::App& verb);
    SearchOptions over(SearchOptions defaults) const;

private:
    CLI::App* verb_ = nullptr;
    SearchOptions given_;
    std::string penalty_ = "fairseq";
};

}  // namespace fovea
