#include "fovea/io/model_parameters.h"

#include <algorithm>
#include <set>
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

constexpr const char* scale_suffix = "_scale";

// Written by save_parameters as I8: see the header.
bool has_own_layout(const ModelWeights& weights) {
    return std::any_of(weights.files().begin(), weights.files().end(), [](const TensorFile& f) {
        const auto layout = f.metadata().find("layout");
        return layout != f.metadata().end() && layout->second == "fovea";
    });
}

std::string scale_of(const ModelWeights& weights, const std::string& name) {
    const TensorInfo& info = weights.info(name);
    if (info.dtype != DType::I8 || !weights.has(name + scale_suffix)) return "";
    const TensorInfo& scale = weights.info(name + scale_suffix);
    expect_input(info.shape.size() == 2 && scale.dtype == DType::F32 && scale.shape.size() == 1 &&
                     scale.shape[0] == info.shape[0],
                 weights.path(), ": \"", scale.name, "\" is ", name_of(scale.dtype), " ",
                 text_of_shape(scale.shape), ", but \"", name, "\" ", text_of_shape(info.shape),
                 " wants one F32 for each row");
    return scale.name;
}

// The scales of int8 matrices are read with them.
void leave_out_scales(const ModelWeights& weights, std::vector<std::string>& names) {
    std::set<std::string> scales;
    for (const std::string& name : names) scales.insert(scale_of(weights, name));
    std::erase_if(names, [&](const std::string& name) { return scales.count(name) > 0; });
}

Tensor read_parameter(const ModelWeights& weights, const std::string& name, bool own_layout) {
    const std::string scale = own_layout ? scale_of(weights, name) : "";
    if (scale.empty()) return weights.read(name);
    const std::string bytes = weights.read_bytes(name);
    const TensorInfo& info = weights.info(name);
    return Tensor::of_int8({info.shape[0], info.shape[1]},
                           {reinterpret_cast<const std::int8_t*>(bytes.data()), bytes.size()},
                           weights.read(scale).span());
}

bool holds_weights(DType t) {
    return t == DType::F32 || t == DType::F16 || t == DType::BF16 || t == DType::F64;
}

}  // namespace

ParameterStore shapes_of(const ModelWeights& weights, std::span<const NameRule> rules) {
    ParameterStore store(ParameterStore::Mode::check);
    if (has_own_layout(weights)) rules = {};
    std::vector<std::string> names = wanted_names(weights, rules);
    if (has_own_layout(weights)) leave_out_scales(weights, names);
    for (const std::string& name : names)
        for (NamedTensor& t : apply_rules(rules, shape_of(weights, name)))
            store.put(t.name, std::move(t.tensor));
    return store;
}

void load_parameters(const ModelWeights& weights, std::span<const NameRule> rules,
                     ParameterStore& store, const ParameterStore* checked) {
    const bool own_layout = has_own_layout(weights);
    if (own_layout) rules = {};
    std::vector<std::string> names = wanted_names(weights, rules);
    if (own_layout) leave_out_scales(weights, names);
    if (checked)
        std::erase_if(names, [&](const std::string& name) {
            const auto parts = apply_rules(rules, shape_of(weights, name));
            return std::none_of(parts.begin(), parts.end(),
                                [&](const NamedTensor& t) { return checked->is_used(t.name); });
        });
    for (const std::string& name : names)
        if (const DType type = weights.info(name).dtype;
            !holds_weights(type) && (!own_layout || scale_of(weights, name).empty()))
            throw Error(text_of(weights.path(), ": tensor \"", name, "\" is ", name_of(type),
                                ", which cannot hold weights"),
                        ErrorKind::bad_input, "weights are F32, BF16, F16 or F64");
    // Read side by side: most of the time goes into the first touch of new memory.
    std::vector<Tensor> tensors(names.size());
    parallel_for(static_cast<std::int64_t>(names.size()), 1, [&](std::int64_t i, std::int64_t) {
        const auto at = static_cast<std::size_t>(i);
        tensors[at] = read_parameter(weights, names[at], own_layout);
    });
    for (std::size_t i = 0; i < names.size(); ++i)
        for (NamedTensor& t : apply_rules(rules, {names[i], std::move(tensors[i])}))
            store.put(t.name, std::move(t.tensor));
}

bool is_matrix(const ParameterStore& store, const std::string& name) {
    const Tensor& t = store.at(name);
    return t.shape().rank() == 2 && t.rows() > 1 && !store.is_exact(name);
}

namespace {

void save_int8(const std::string& path, const ParameterStore& store, Metadata metadata) {
    std::vector<TensorToWrite> out;
    for (const std::string& name : store.names()) {
        const Tensor& t = store.at(name);
        if (!is_matrix(store, name)) {
            out.push_back(TensorToWrite::of(name, t.to(Format::f32)));
            continue;
        }
        const Tensor rounded = t.to(Format::int8);
        const std::span<const float> scales = rounded.int8_scales();
        out.push_back(TensorToWrite::of(name, rounded));
        out.push_back(TensorToWrite::of(name + scale_suffix, Tensor::of({rounded.rows()}, scales)));
    }
    metadata["layout"] = "fovea";
    write_safetensors(path, std::move(out), metadata);
}

}  // namespace

void save_parameters(const std::string& path, const ParameterStore& store,
                     std::span<const NameRule> rules, const SaveOptions& options) {
    if (options.dtype == DType::I8) return save_int8(path, store, options.metadata);
    std::vector<NamedTensor> all;
    for (const std::string& name : store.names())
        all.push_back({name, store.at(name).to(Format::f32)});
    std::vector<TensorToWrite> out;
    for (const NamedTensor& t : undo_rules(rules, std::move(all)))
        out.push_back(TensorToWrite::of(t.name, t.tensor, options.dtype));
    write_safetensors(path, std::move(out), options.metadata);
}

}  // namespace fovea
