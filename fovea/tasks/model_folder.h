#pragma once
// A model as a folder: config.json, model.safetensors (or shards), tokenizer.json (or the older
// files), generation_config.json and fovea.json (task, data, metric, the format's version). Every
// task opens and saves its models through this type; Hugging Face folders are opened too.
//
// The promise: a folder written by this version of Fovea is read by every later one. fovea.json
// holds the version; a folder of a later version is refused with a word.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/io/dtype.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct ModelFolder {
    static constexpr int version = 1;

    std::string path;  // where it was opened; empty for a new model
    std::string task;  // "" where the folder does not say (a Hugging Face model)
    Json config = Json::object();
    Json generation = Json::object();  // generation_config.json, or the config where there is none
    Json about = Json::object();       // fovea.json
    Json preprocessor =
        Json::object();  // preprocessor_config.json: of models of sounds or pictures
    // Often the same. A folder with a preprocessor may have none.
    std::shared_ptr<const Tokenizer> tokenizer, target_tokenizer;
    std::vector<std::string> labels;  // id2label of the config
    // Of a model that is being trained: its parameters, whose body load_body() hands on as it is.
    std::shared_ptr<const ParameterStore> in_training;
    DType stored = DType::F32;  // what save() writes: F32, BF16, F16 or I8 (io/model_parameters.h)

    // Everything but the weights. A run's folder is taken for its model (RUN for RUN/model).
    static ModelFolder open(const std::string& path);

    // The parameters, in `format`: `build` makes the model once over the shapes of the files'
    // headers, so that whatever is missing, unused or misshapen is one error before any tensor is
    // read. The caller then makes it over the store that is returned.
    std::shared_ptr<ParameterStore> load(std::span<const NameRule> rules, Format format,
                                         const std::function<void(const Params&)>& build) const;

    // The body of a text encoder for another head: what the folder's own head has is left, and what
    // the new one lacks is made when the caller makes the model over the store. `own` are patterns
    // of the parameters that a task puts on top. The body itself must be complete.
    struct NewHead {
        std::vector<std::string> made, left;  // names
    };
    std::shared_ptr<ParameterStore> load_body(const TextEncoderEntry& entry,
                                              std::span<const std::string> own,
                                              const std::function<void(const Params&)>& build,
                                              NewHead& report) const;

    // Writes the folder, which must not hold a model unless `overwrite`. Each file is there whole
    // or not at all.
    void save(const std::string& folder, const ParameterStore& store,
              std::span<const NameRule> rules, bool overwrite) const;

    std::string config_path() const;

private:
    void save_tokenizers(const std::string& folder) const;
};

// The model's folder that a path names: itself, or RUN/model of a run. Errors say what to give.
std::string find_model_folder(const std::string& path);

// The task a folder was trained for, at a glance; "" where nothing says so. Never throws.
std::string task_of_folder(const std::string& path);

}  // namespace fovea
