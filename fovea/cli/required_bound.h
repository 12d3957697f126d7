#pragma once
// --require NAME=VALUE: a figure that must be reached, else exit code 5. Understood before anything
// is computed: a typing error costs no run.
#include <string>
#include <vector>

namespace fovea {

struct RequiredBound {
    std::string name;
    double value = 0;
};

// `verb` is for the message; `names` are those that will be measured.
RequiredBound required_bound(const std::string& verb, const std::string& text,
                             const std::vector<std::string>& names);

// Throws where the figure is worse: lower, or (loss, perplexity) higher.
void expect_reached(const std::string& verb, const RequiredBound& bound, double value);

}  // namespace fovea
