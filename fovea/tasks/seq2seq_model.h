#pragma once
// A sequence-to-sequence model as a folder: config.json, model.safetensors, tokenizer.json,
// tokenizer_config.json, generation_config.json and fovea.json (task, data, metric). What Fovea
// trained, or a Marian/OPUS-MT or BART folder of Hugging Face's.
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/base/precision.h"
#include "fovea/infer/search_options.h"
#include "fovea/models/transformer.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

struct Seq2SeqModel {
    std::string task = "translate";  // or "summarise"
    TransformerConfig config;
    std::shared_ptr<ParameterStore> store;
    std::unique_ptr<Transformer> network;
    std::shared_ptr<const Tokenizer> source_tokenizer, target_tokenizer;  // often the same
    Precision precision = Precision::f32;  // it is run in; the functions of tasks/ see to it
    SearchOptions search;                  // the defaults of generation_config.json
    int max_source_length = 1024;          // tokens; longer texts are cut (summarise) or refused
    bool swapped_sides = false;            // trained on the file's second column as source
    Json about = Json::object();           // fovea.json

    // Fresh parameters for these tokenizers, drawn from the seed.
    static Seq2SeqModel create(const TransformerConfig& config, std::uint64_t seed);

    // `weights`: how matrices are kept (f32, bf16, int8).
    static Seq2SeqModel load(const std::string& folder, Format weights = Format::f32);

    // Writes the folder (which must not hold a model unless `overwrite`); files are written whole
    // or not at all. Models that Marian's layout can express are written in it.
    void save(const std::string& folder, bool overwrite = false) const;

    // Ids with </s> at the end, none of the start.
    Ids encode_source(std::string_view text) const;
    Ids encode_target(std::string_view text) const;
    std::string decode_target(const Ids& tokens) const;
};

}  // namespace fovea
