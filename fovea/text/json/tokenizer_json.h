#pragma once
// tokenizer.json <-> TokenizerSpec. Reading is strict where it matters: a component that Fovea does
// not have is an error that names it, never a silent change of the text.
#include <string>
#include <string_view>

#include "fovea/text/spec.h"

namespace fovea {

// `where` names the file in errors.
TokenizerSpec read_tokenizer_json(std::string_view json, const std::string& where);

std::string write_tokenizer_json(const TokenizerSpec& spec);

}  // namespace fovea
