#pragma once
// All parameters of a model by name, in the order they were made. One code path serves training
// from scratch (get() makes and initialises what is missing) and loading: first over shapes alone
// (Mode::check, filled from a file's header; finish() reports everything missing, left over or of
// another shape at once), then over the tensors that the check has found in order.
// Not thread-safe while a model is built; read-only afterwards.
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

class ParameterStore {
public:
    using Init = std::function<void(Tensor&)>;
    enum class Mode { create, check, load };

    explicit ParameterStore(Mode mode = Mode::create) : mode_(mode) {}
    Mode mode() const { return mode_; }
    void set_mode(Mode mode) { mode_ = mode; }

    // For loaders: what a file holds. Twice the same name is an error.
    void put(const std::string& name, Tensor value);

    // For models: the stored tensor (its shape must agree), or a new one filled by `init`. In load
    // mode a missing name is remembered for finish(). In check mode a shape without data is handed
    // out, and whatever does not fit is remembered for finish().
    Tensor get(const std::string& name, const Shape& shape, const Init& init,
               bool trainable = true);

    // The same parameter under a second name (tied weights); a file may hold it or not.
    void tie(const std::string& alias, const std::string& name);

    // Names that may stand in a file without being used (buffers such as position_ids).
    void ignore(const std::string& name) { ignored_.insert(name); }

    // Names that fit the pattern (name_rules.h) may be missing from a file, and are then made anew,
    // or stand in it without being used: heads, where only the body of a model is taken over.
    void allow_new(std::string pattern) { new_.push_back(std::move(pattern)); }
    std::vector<std::string> missing_names() const;

    // A parameter that stays f32 whatever format the weights are stored in (tables of positions).
    void keep_exact(const std::string& name) { exact_.insert(name); }
    bool is_exact(const std::string& name) const { return exact_.count(name) > 0; }
    bool is_used(const std::string& name) const { return used_.count(name) > 0; }

    // After construction: one error that lists all missing, unused and misshapen names.
    void finish(const std::string& where) const;

    bool has(const std::string& name) const { return index_.count(name) > 0; }
    const Tensor& at(const std::string& name) const;
    void replace(const std::string& name, Tensor value);  // e.g. by its bf16 form
    const std::vector<std::string>& names() const { return names_; }
    std::int64_t count() const;  // numbers, not tensors

private:
    bool may_be_new(const std::string& name) const;

    Mode mode_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, Tensor> index_;
    std::unordered_map<std::string, std::string> aliases_;
    std::set<std::string> used_, ignored_, exact_;
    std::vector<std::string> new_;  // patterns
    std::vector<std::pair<std::string, Shape>> missing_;
    struct Misfit {
        std::string name;
        Shape found, wanted;
    };
    std::vector<Misfit> misfits_;
};

}  // namespace fovea
