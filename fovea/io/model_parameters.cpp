#include "fovea/io/model_parameters.h"

#include <algorithm>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/threads.h"

namespace fovea {
namespace {

// Names that no rule throws away. (A tensor that is thrown away need not be readable: a mask of
// booleans of rank 5, say.)
std::vector<std::string> wanted_names(const ModelWeights& weights,
                                      std::span<const NameRule> rules) {
    std::vector<std::string> names = weights.names();
    std::erase_if(names, [&](const std::string& name) {
        return std::any_of(rules.begin(), rules.end(), [&](const NameRule& r) {
            std::vector<std::string> captures;
            return r.in_model.empty() && matches_pattern(r.on_disk, name, captures);
        });
    });
    return names;
}

NamedTensor shape_of(const ModelWeights& weights, const std::string& name) {
    const TensorInfo& info = weights.info(name);
    Shape shape;
    if (info.shape.size() <= Shape::max_rank)  // no model has more: it will be called unused
        for (const std::int64_t n : info.shape) shape.push(n);
    if (info.shape.empty()) shape.push(1);
    return {name, Tensor::shape_only(shape)};
}

bool holds_weights(DType t) {
    return t == DType::F32 || t == DType::F16 || t == DType::BF16 || t == DType::F64;
}

}  // namespace

ParameterStore shapes_of(const ModelWeights& weights, std::span<const NameRule> rules) {
    ParameterStore store(ParameterStore::Mode::check);
    for (const std::string& name : wanted_names(weights, rules))
        for (NamedTensor& t : apply_rules(rules, shape_of(weights, name)))
            store.put(t.name, std::move(t.tensor));
    return store;
}

void load_parameters(const ModelWeights& weights, std::span<const NameRule> rules,
                     ParameterStore& store, const ParameterStore* checked) {
    std::vector<std::string> names = wanted_names(weights, rules);
    if (checked)
        std::erase_if(names, [&](const std::string& name) {
            const auto parts = apply_rules(rules, shape_of(weights, name));
            return std::none_of(parts.begin(), parts.end(),
                                [&](const NamedTensor& t) { return checked->is_used(t.name); });
        });
    for (const std::string& name : names)
        if (const DType type = weights.info(name).dtype; !holds_weights(type))
            throw Error(text_of(weights.path(), ": tensor \"", name, "\" is ", name_of(type),
                                ", which cannot hold weights"),
                        ErrorKind::bad_input, "weights are F32, BF16, F16 or F64");
    // Read side by side: most of the time goes into the first touch of new memory.
    std::vector<Tensor> tensors(names.size());
    parallel_for(static_cast<std::int64_t>(names.size()), 1, [&](std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        tensors[at] = weights.read(names[at]);
    });
    for (std::size_t i = 0; i < names.size(); ++i)
        for (NamedTensor& t : apply_rules(rules, {names[i], std::move(tensors[i])}))
            store.put(t.name, std::move(t.tensor));
}

void save_parameters(const std::string& path, const ParameterStore& store,
                     std::span<const NameRule> rules, const SaveOptions& options) {
    std::vector<NamedTensor> all;
    for (const std::string& name : store.names()) all.push_back({name, store.at(name)});
    std::vector<TensorToWrite> out;
    for (const NamedTensor& t : undo_rules(rules, std::move(all)))
        out.push_back(TensorToWrite::of(t.name, t.tensor, options.dtype));
    write_safetensors(path, std::move(out), options.metadata);
}

}  // namespace fovea
