#pragma once
// Between the tensors of a model's files and the parameters of a model.
// Not thread-safe for one store; different stores may be filled at once.
#include <span>
#include <string>

#include "fovea/io/model_weights.h"
#include "fovea/io/safetensors_writer.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/parameter_store.h"

namespace fovea {

// What the files' headers promise, as shapes without data (Mode::check): a model is built over it
// before a single tensor is read.
ParameterStore shapes_of(const ModelWeights& weights, std::span<const NameRule> rules);

// The tensors of the weights, put into the store: all of them, or those that `checked` (a store a
// model has been built over) uses. A type of number that cannot hold weights is an error.
void load_parameters(const ModelWeights& weights, std::span<const NameRule> rules,
                     ParameterStore& store, const ParameterStore* checked = nullptr);

// What a weight format applies to: matrices, but no vectors and no tables that must stay exact.
bool is_matrix(const ParameterStore& store, const std::string& name);

// All parameters of the store, to a file.
//
// I8 is Fovea's own layout: matrices as I8 with an F32 tensor NAME_scale beside each (value = int8
// · scale of its row), the rest as F32, all under the model's own names, whatever the rules are
// (the rows of a matrix that a rule transposes or joins would not be those of its scales). The
// file's metadata says so ("layout": "fovea").
struct SaveOptions {
    DType dtype = DType::F32;  // or BF16, F16, I8
    Metadata metadata = {{"format", "pt"}};
};
void save_parameters(const std::string& path, const ParameterStore& store,
                     std::span<const NameRule> rules = {}, const SaveOptions& options = {});

}  // namespace fovea
