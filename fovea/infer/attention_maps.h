#pragma once
// Attention maps for decoding (coverage, alignments), rebuilt from a Probe after the fact.
// Thread-safety: a Probe belongs to the thread that made it, and so do these.
#include <vector>

#include "fovea/ops/attention/probe.h"

namespace fovea {

// Row by row the mean over heads of one reported attention: [query][key of its list], 0 where the
// row does not see the key (windows).
std::vector<std::vector<float>> mean_map(const Probe& probe, std::size_t report);

}  // namespace fovea
