#pragma once
// From the rows of a sequence to one vector, as a value of its own: whatever turns tokens into rows
// can be pooled in any of these ways. x [total, d] and its segments give [sequences, d] (queries:
// [sequences · classes, d], a vector for each class).
//
//   first, last, mean, max    of the sequence's rows
//   attention                 Σᵢ aᵢ xᵢ,  a = softmax(q·xᵢ / √d), q learned: the weights move with x
//   positions                 Σᵢ aᵢ xᵢ,  a = softmax(wᵢ), one learned w for each position: a fixed
//                             weighted sum, which cannot move (what attention is compared with)
//   queries                   attention with a learned query for each class
//
// A sequence's vector does not depend on its neighbours.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>

#include "fovea/nn/params.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

enum class Pool { first, last, mean, max, attention, positions, queries };
const char* name_of(Pool pool);
Pool pool_of(const std::string& name);  // an unknown name is a usage error
std::vector<std::string> pool_names();

struct PoolingOptions {
    Pool pool = Pool::mean;
    int classes = 1;          // queries: how many
    int max_positions = 512;  // positions: later ones share the last weight
};

struct Pooling {
    Pooling(int width, const PoolingOptions& options, const Params& p);
    Tensor operator()(const Tensor& rows, const Segments& segments) const;

    PoolingOptions options;
    std::string name;  // under which a Probe finds the weights
    Tensor query;      // attention [1, d], queries [classes, d]
    Tensor weights;    // positions [max_positions, 1]
};

}  // namespace fovea
