#pragma once
// A path into a parameter store: `Params p; Linear fc1(512, 2048, p / "fc1")` reads or makes
// "fc1.weight" and "fc1.bias". The path literals are the Hugging Face names: grep finds them.
// Not thread-safe: a model is built by one thread.
#include <string>
#include <utility>

#include "fovea/base/rng.h"
#include "fovea/nn/init.h"
#include "fovea/tensor/parameter_store.h"

namespace fovea {

class Params {
public:
    // New parameters are drawn from `rng`, in the order of construction.
    Params(ParameterStore& store, Rng& rng) : store_(&store), rng_(&rng) {}

    Params operator/(const std::string& name) const {
        Params p = *this;
        p.path_ = path_.empty() ? name : path_ + "." + name;
        return p;
    }
    Params operator/(int index) const { return *this / std::to_string(index); }

    Tensor get(const std::string& name, const Shape& shape, const Init& init) const {
        return store_->get(full(name), shape, [&](Tensor& t) { init(t, *rng_); });
    }

    // The same for a table that is looked up by rows: an update costs what a batch looks up, not
    // what the table holds, by the rule of train/adamw.h.
    Tensor rows(const std::string& name, const Shape& shape, const Init& init) const {
        Tensor table = get(name, shape, init);
        if (table.trainable()) table.set_row_sparse(true);
        return table;
    }

    // The same for a table that stays f32 whatever format the weights are stored in.
    Tensor exact(const std::string& name, const Shape& shape, const Init& init) const {
        store_->keep_exact(full(name));
        return get(name, shape, init);
    }

    // The same for numbers that belong to the model but are not trained.
    Tensor constant(const std::string& name, const Shape& shape, const Init& init) const {
        return store_->get(
            full(name), shape, [&](Tensor& t) { init(t, *rng_); }, false);
    }

    // This path's `name` is the same tensor as `target` (an absolute name): tied weights.
    void tie(const std::string& name, const std::string& target) const {
        store_->tie(full(name), target);
    }

    std::string full(const std::string& name) const {
        return path_.empty() ? name : path_ + "." + name;
    }
    const std::string& path() const { return path_; }
    ParameterStore& store() const { return *store_; }

private:
    ParameterStore* store_;
    Rng* rng_;
    std::string path_;
};

}  // namespace fovea
