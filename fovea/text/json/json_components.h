#pragma once
// The parts of tokenizer.json, each read on its own.
#include "fovea/text/json/json_reader.h"
#include "fovea/text/spec.h"

namespace fovea::text {

TokenizerSpec read_spec(const JsonValue& root);  // the whole of a tokenizer.json

AddedToken read_added_token(const JsonValue& v);
std::vector<NormalizerStep> read_normalizer(const JsonValue& v);  // null: none
std::vector<PreTokenizerStep> read_pre_tokenizer(const JsonValue& v);
std::vector<PostProcessorStep> read_post_processor(const JsonValue& v);
std::vector<DecoderStep> read_decoder(const JsonValue& v);
ModelSpec read_model(const JsonValue& v);
Truncation read_truncation(const JsonValue& v);
Padding read_padding(const JsonValue& v);

// Merges from their tokens, left and right by turns; `where` names the list in errors.
std::vector<Merge> find_merges(const std::vector<std::string_view>& pairs, const BpeSpec& spec,
                               const std::string& where);

// {"token": id, …}; refuses an id that is no id, naming the token.
Vocabulary read_vocab(const JsonValue& v);

}  // namespace fovea::text
