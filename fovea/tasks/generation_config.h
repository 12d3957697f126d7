#pragma once
// generation_config.json: how a folder's model searches where nobody says otherwise.
#include <string>

#include "fovea/base/json.h"
#include "fovea/infer/search_options.h"

namespace fovea {

SearchOptions search_of(const Json& generation, const std::string& where);
Json generation_json(const SearchOptions& search);  // without the ids of special tokens

}  // namespace fovea
