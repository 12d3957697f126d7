#pragma once
// What may be asked of a painter: how pixels are drawn, what pictures begin with, where they go.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/infer/search_options.h"

namespace fovea {

struct PaintSettings {
    int samples = 1, top_k = 0, nearest = 5;
    double temperature = 1, top_p = 1, min_p = 0, given = 0.5;
    std::uint64_t seed = 1;
    std::int64_t batch = 64;
    std::vector<std::string> complete, picture_keys;
    std::string pictures, sheet, training, baseline = "none", label_key, unknown = "error";

    void describe(Settings& settings);
    // The part that `fovea generate` has too, beside settings of its own that mean the same.
    void describe_pictures(Settings& settings);
    SearchOptions search() const;

private:
    void describe_eval(Settings& settings);
};

}  // namespace fovea
