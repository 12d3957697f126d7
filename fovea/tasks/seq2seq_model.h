#pragma once
// A sequence-to-sequence model: what Fovea trained, or a Marian/OPUS-MT or BART folder of Hugging
// Face's. The folder's files are in model_folder.h, the networks in seq2seq_network.h.
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <string>
#include <string_view>

#include "fovea/base/json.h"
#include "fovea/base/precision.h"
#include "fovea/infer/search_options.h"
#include "fovea/models/transformer_config.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/seq2seq_copy.h"
#include "fovea/tasks/seq2seq_network.h"
#include "fovea/tasks/weight_choice.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

using SharedTokenizer = std::shared_ptr<const Tokenizer>;

struct Seq2SeqModel {
    std::string task = "translate";  // or "summarise"
    Json config;                     // config.json of the network as it runs
    std::shared_ptr<ParameterStore> store;
    Seq2SeqNetwork network;
    SharedTokenizer source_tokenizer, target_tokenizer;  // often the same
    Precision precision = Precision::f32;  // it is run in; the functions of tasks/ see to it
    SearchOptions search;                  // the defaults of generation_config.json
    int max_source_length = 1024;          // tokens; longer texts are cut (summarise) or refused
    bool swapped_sides = false;            // trained on the file's second column as source
    Json about = Json::object();           // fovea.json

    // Fresh parameters, drawn from the seed. The config's vocabularies must hold the tokenizers'.
    static Seq2SeqModel create(const Json& config, SharedTokenizer source, SharedTokenizer target,
                               std::uint64_t seed);
    static Seq2SeqModel create(const TransformerConfig& config, SharedTokenizer source,
                               SharedTokenizer target, std::uint64_t seed) {
        return create(config.to_json(), std::move(source), std::move(target), seed);
    }

    static Seq2SeqModel open(const ModelFolder& folder, const WeightChoice& weights = {});
    static Seq2SeqModel load(const std::string& folder, const WeightChoice& weights = {}) {
        return open(ModelFolder::open(folder), weights);
    }

    // Writes the folder (which must not hold a model unless `overwrite`); files are written whole
    // or not at all. Models that Marian's layout can express are written in it.
    void save(const std::string& folder, bool overwrite = false) const;

    // Ids with </s> at the end, none of the start.
    Ids encode_source(std::string_view text) const;
    Ids encode_target(std::string_view text) const;
    // The same for many texts, on all threads.
    std::vector<Ids> encode_sources(std::span<const std::string> texts) const;
    std::vector<Ids> encode_targets(std::span<const std::string> texts) const;
    std::string decode_target(const Ids& tokens) const;
    // Words that a network which copies may take from a source (seq2seq_copy.h).
    CopyVocabulary copy_vocabulary() const {
        return {*source_tokenizer, *target_tokenizer, network.target_vocabulary, network.end_token};
    }
};

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_seq2seq(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                  bool overwrite);

}  // namespace fovea
