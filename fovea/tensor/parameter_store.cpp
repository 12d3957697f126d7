#include "fovea/tensor/parameter_store.h"

#include <algorithm>

#include "fovea/tensor/name_rules.h"

namespace fovea {

void ParameterStore::put(const std::string& name, Tensor value) {
    expect_input(index_.emplace(name, std::move(value)).second, "parameters: ", name,
                 " appears twice");
    names_.push_back(name);
}

Tensor ParameterStore::get(const std::string& name, const Shape& shape, const Init& init,
                           bool trainable) {
    used_.insert(name);
    const auto it = index_.find(name);
    if (mode_ == Mode::check) {
        if (it == index_.end())
            missing_.emplace_back(name, shape);
        else if (it->second.shape() != shape)
            misfits_.push_back({name, it->second.shape(), shape});
        return Tensor::shape_only(shape);
    }
    if (it != index_.end()) {
        if (it->second.shape() != shape)
            throw Error(text_of("parameters: ", name, " is ", it->second.shape(),
                                " but the model wants ", shape),
                        ErrorKind::bad_input);
        if (it->second.format() == Format::f32) it->second.set_trainable(trainable);
        return it->second;
    }
    if (mode_ == Mode::load) missing_.emplace_back(name, shape);
    Tensor t(shape);
    init(t);
    t.set_trainable(trainable);
    index_.emplace(name, t);
    names_.push_back(name);
    return t;
}

void ParameterStore::tie(const std::string& alias, const std::string& name) {
    aliases_[alias] = name;
    if (!has(alias)) return;
    used_.insert(alias);
    const Tensor& a = at(alias);
    if (mode_ == Mode::check) {
        if (has(name) && at(name).shape() != a.shape())
            misfits_.push_back({alias, a.shape(), at(name).shape()});
        return;
    }
    const Tensor& b = at(name);
    const bool same = a.id() == b.id() || (a.shape() == b.shape() && a.values() == b.values());
    expect_input(same, "parameters: ", alias, " should be tied to ", name, " but differs from it");
    index_.erase(alias);
    names_.erase(std::find(names_.begin(), names_.end(), alias));
}

bool ParameterStore::may_be_new(const std::string& name) const {
    return std::any_of(new_.begin(), new_.end(), [&](const std::string& pattern) {
        std::vector<std::string> captures;
        return matches_pattern(pattern, name, captures);
    });
}

std::vector<std::string> ParameterStore::missing_names() const {
    std::vector<std::string> names;
    for (const auto& [name, shape] : missing_) names.push_back(name);
    return names;
}

void ParameterStore::finish(const std::string& where) const {
    std::string problem;
    for (const auto& [name, shape] : missing_)
        if (!may_be_new(name)) problem += text_of("\n  missing: ", name, " ", shape);
    for (const Misfit& m : misfits_)
        problem +=
            text_of("\n  shape: ", m.name, " is ", m.found, " but the model wants ", m.wanted);
    for (const std::string& name : names_)
        if (!used_.count(name) && !ignored_.count(name) && !aliases_.count(name) &&
            !may_be_new(name))
            problem += text_of("\n  not used: ", name, " ", index_.at(name).shape());
    if (!problem.empty())
        throw Error(where + ": the parameters do not fit the model:" + problem,
                    ErrorKind::bad_input,
                    "the config and the weights are probably of different models");
}

const Tensor& ParameterStore::at(const std::string& name) const {
    auto it = index_.find(name);
    if (it == index_.end())
        if (const auto alias = aliases_.find(name); alias != aliases_.end())
            it = index_.find(alias->second);
    expect(it != index_.end(), "parameters: there is no ", name);
    return it->second;
}

void ParameterStore::replace(const std::string& name, Tensor value) {
    const Tensor& old = at(name);
    expect(old.shape() == value.shape(), "parameters: ", name, " is ", old.shape(),
           " and cannot be replaced by ", value.shape());
    index_[name] = std::move(value);
}

std::int64_t ParameterStore::count() const {
    std::int64_t n = 0;
    for (const auto& [name, t] : index_) n += t.shape().size();
    return n;
}

}  // namespace fovea
