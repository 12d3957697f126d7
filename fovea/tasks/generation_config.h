#pragma once
// generation_config.json: how a folder's model searches where nobody says otherwise.
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/infer/search_options.h"

namespace fovea {

SearchOptions search_of(const Json& generation, const std::string& where);
// What language models' files say beside that: sampling, lengths without the prompt, strings that
// end a text.
void read_sampling(const Json& generation, const std::string& where, SearchOptions& search,
                   std::vector<std::string>& stop);
Json generation_json(const SearchOptions& search);  // without the ids of special tokens

}  // namespace fovea
